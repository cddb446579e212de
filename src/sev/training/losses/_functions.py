"""The losses as functions of scores that are known already."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def all_opt_plus(neighbour_logits: Tensor, *, threshold: float = 0.5, margin: float = 0.0) -> Tensor:
    """All-Opt+ of rows predicted positive: how far the best neighbour of the reference is from being positive.

    Parameters
    ----------
    neighbour_logits : Tensor of shape (n_positives, n_neighbours)
        Logits of the reference with one feature of the row.
    threshold : float, default=0.5
        Probability from which a row is positive.
    margin : float, default=0.0
        How far past the threshold a neighbour should be; 0 is the paper's loss.

    Examples
    --------
    >>> import torch
    >>> from sev import losses
    >>> probabilities = torch.tensor([[0.3, 0.4], [0.2, 0.9]])
    >>> round(float(losses.all_opt_plus(torch.logit(probabilities))), 3)  # -(0.4 + 0.5) / 2
    -0.45
    """
    if not neighbour_logits.numel():
        return neighbour_logits.sum()
    best = torch.sigmoid(neighbour_logits.max(dim=1).values)
    return -best.clamp(max=threshold + margin).mean()


def all_opt_minus(neighbour_logits: Tensor, *, threshold: float = 0.5, margin: float = 0.0) -> Tensor:
    """All-Opt- of rows predicted positive: how far the best neighbour of the row is from being negative.

    Parameters
    ----------
    neighbour_logits : Tensor of shape (n_positives, n_neighbours)
        Logits of the row with one feature of the reference; leave out restricted features for All-Opt(R).
    threshold : float, default=0.5
        Probability from which a row is positive.
    margin : float, default=0.0
        How far below the threshold a neighbour should be; 0 is the paper's loss.

    Examples
    --------
    >>> import torch
    >>> from sev import losses
    >>> probabilities = torch.tensor([[0.6, 0.8], [0.2, 0.9]])
    >>> round(float(losses.all_opt_minus(torch.logit(probabilities))), 3)  # (0.6 + 0.5) / 2
    0.55
    """
    if not neighbour_logits.numel():
        return neighbour_logits.sum()
    best = torch.sigmoid(neighbour_logits.min(dim=1).values)
    return best.clamp(min=threshold - margin).mean()


def vol_opt(coefficients: Tensor, reference_logit: Tensor, *, epsilon: float = 1e-6) -> Tensor:
    """Vol-Opt of a linear model: mean log side of the box that holds the points with SEV+ of two or more.

    Parameters
    ----------
    coefficients : Tensor of shape (n_columns,)
        Coefficients of the columns that vary.
    reference_logit : Tensor of shape ()
        Logit of the reference.
    epsilon : float, default=1e-6
        Keeps the logarithm finite: a side is at least this long, a coefficient at least this large.

    Examples
    --------
    >>> import math, torch
    >>> from sev import losses
    >>> value = losses.vol_opt(torch.tensor([2.0, -4.0]), torch.tensor(-1.0))
    >>> round(float(value), 4) == round((math.log(1 / 2) + math.log(1 / 4)) / 2, 4)
    True
    """
    sides = reference_logit.abs() / coefficients.abs().clamp(min=epsilon)
    return sides.clamp(min=epsilon).log().mean()


def reference_term(reference_logit: Tensor, *, threshold: float = 0.5, margin: float = 0.05) -> Tensor:
    """Probability of the reference, where it is not at least ``margin`` below the threshold.

    Examples
    --------
    >>> import torch
    >>> from sev import losses
    >>> [round(float(losses.reference_term(torch.logit(torch.tensor(p)))), 2) for p in (0.2, 0.6)]
    [0.45, 0.6]
    """
    return torch.sigmoid(reference_logit).clamp(min=threshold - margin).mean()


def rate_guard(logits: Tensor, rate: float | Tensor, *, threshold: float = 0.5, sharpness: float = 10.0) -> Tensor:
    """Square of how far the share of positive predictions is from ``rate``; a steep logistic stands for the step.

    Parameters
    ----------
    logits : Tensor of shape (n_rows,)
        Of all rows, positive or not.
    rate : float
        The share to keep, as a rule that of the model before.
    threshold : float, default=0.5
        Probability from which a row is positive.
    sharpness : float, default=10.0
        Slope of the logistic.

    Examples
    --------
    >>> import torch
    >>> from sev import losses
    >>> round(float(losses.rate_guard(torch.tensor([-9.0, -9.0, -9.0, 9.0]), rate=0.5)), 4)
    0.0625
    """
    share = torch.sigmoid(sharpness * (logits - logit(threshold))).mean()
    return (share - rate) ** 2


def logit(probability: float) -> float:
    """The logit at which a probability is reached."""
    return math.log(probability / (1.0 - probability))
