"""The losses as functions of scores that are known already."""

from __future__ import annotations

import math

import torch
from torch import Tensor

#: Share of positive predictions below which the rate guard counts relative to the share: a tenth of a small share
#: would otherwise cost next to nothing.
SMALL_RATE = 0.3


def all_opt_plus(
    neighbour_logits: Tensor, *, weights: Tensor | None = None, threshold: float = 0.5, margin: float = 0.0
) -> Tensor:
    """All-Opt+ of rows predicted positive: how far the best neighbour of the reference is from being positive.

    Parameters
    ----------
    neighbour_logits : Tensor of shape (n_positives, n_neighbours)
        Logits of the reference with one feature of the row.
    weights : Tensor of shape (n_positives,), default=None
        Weight of each row in the mean; None: all the same.
    threshold : float, default=0.5
        Probability from which a row is positive.
    margin : float, default=0.0
        How far past the threshold a neighbour should be; 0 is the paper's loss.

    Returns
    -------
    Tensor
        A scalar.

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
    return -weighted_mean(best.clamp(max=threshold + margin), weights)


def all_opt_minus(
    neighbour_logits: Tensor, *, weights: Tensor | None = None, threshold: float = 0.5, margin: float = 0.0
) -> Tensor:
    """All-Opt- of rows predicted positive: how far the best neighbour of the row is from being negative.

    Parameters
    ----------
    neighbour_logits : Tensor of shape (n_positives, n_neighbours)
        Logits of the row with one feature of the reference; leave out restricted features for All-Opt(R).
    weights : Tensor of shape (n_positives,), default=None
        Weight of each row in the mean; None: all the same.
    threshold : float, default=0.5
        Probability from which a row is positive.
    margin : float, default=0.0
        How far below the threshold a neighbour should be; 0 is the paper's loss.

    Returns
    -------
    Tensor
        A scalar.

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
    return weighted_mean(best.clamp(min=threshold - margin), weights)


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

    Returns
    -------
    Tensor
        A scalar.

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


def reference_term(
    reference_logit: Tensor, *, weights: Tensor | None = None, threshold: float = 0.5, margin: float = 0.05
) -> Tensor:
    """Probability of the reference, where it is not at least ``margin`` below the threshold.

    Parameters
    ----------
    reference_logit : Tensor
        Logit of the reference, or with several references those of each row, shape (n_rows, n_candidates): their mean.
    weights : Tensor of shape (n_rows,), default=None
        Weight of each row, where each has its own references; None: all the same.
    threshold : float, default=0.5
        Probability from which a row is positive.
    margin : float, default=0.05
        How far below the threshold a reference should be.

    Returns
    -------
    Tensor
        A scalar.

    Examples
    --------
    >>> import torch
    >>> from sev import losses
    >>> [round(float(losses.reference_term(torch.logit(torch.tensor(p)))), 2) for p in (0.2, 0.6)]
    [0.45, 0.6]
    """
    held = torch.sigmoid(reference_logit).clamp(min=threshold - margin)
    return weighted_mean(held if weights is None else held.mean(dim=1), weights)


def rate_guard(
    logits: Tensor,
    rate: float | Tensor,
    *,
    weights: Tensor | None = None,
    overall_rate: float | None = None,
    threshold: float = 0.5,
    sharpness: float = 10.0,
) -> Tensor:
    """Square of how far the share of positive predictions is from ``rate``; a steep logistic stands for the step.

    Below an overall rate of 0.3 the distance is multiplied by 0.3 over that rate, so that a change by a tenth of the
    share costs as much for rare decisions as for frequent ones.

    Parameters
    ----------
    logits : Tensor of shape (n_rows,)
        Of all rows, positive or not.
    rate : float
        The share to keep among these rows, as a rule that of the model before.
    weights : Tensor of shape (n_rows,), default=None
        Weight of each row in the share; None: all the same.
    overall_rate : float, default=None
        The share to keep among all rows, where these are a batch of them; None: ``rate``.
    threshold : float, default=0.5
        Probability from which a row is positive.
    sharpness : float, default=10.0
        Slope of the logistic.

    Returns
    -------
    Tensor
        A scalar.

    Examples
    --------
    >>> import torch
    >>> from sev import losses
    >>> round(float(losses.rate_guard(torch.tensor([-9.0, -9.0, -9.0, 9.0]), rate=0.5)), 4)
    0.0625
    """
    share = weighted_mean(torch.sigmoid(sharpness * (logits - logit(threshold))), weights)
    whole = float(rate) if overall_rate is None else overall_rate
    scale = max(1.0, SMALL_RATE / whole) if whole > 0.0 else 1.0
    return (scale * (share - rate)) ** 2


def weighted_mean(values: Tensor, weights: Tensor | None) -> Tensor:
    """Mean of some values, each with its weight; without weights the plain mean.

    Parameters
    ----------
    values : Tensor
        Values.
    weights : Tensor or None
        Their weights.

    Returns
    -------
    Tensor
        A scalar.
    """
    if weights is None:
        return values.mean()
    # where all weights are 0 there is nothing to count, and no gradient
    return (values * weights).sum() / weights.sum().clamp(min=torch.finfo(weights.dtype).tiny)


def logit(probability: float) -> float:
    """The logit at which a probability is reached."""
    return math.log(probability / (1.0 - probability))
