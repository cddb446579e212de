"""Vol-Opt, the reference term and the rate guard as modules."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from sev.training.losses._functions import rate_guard, reference_term, vol_opt
from sev.training.losses._rows import Scores, as_row


class VolOpt(nn.Module):
    """Vol-Opt, for linear models: shrink the region of points with SEV+ of two or more (Theorem 4.1).

    Parameters
    ----------
    reference : array-like of shape (n_columns,)
        The reference row.
    columns : array-like of int, default=None
        The columns that vary; None: all. The coefficient of a constant column would grow without cost.
    epsilon : float, default=1e-6
        Keeps the logarithm finite.

    Examples
    --------
    >>> import torch
    >>> from sev import losses
    >>> model = torch.nn.Linear(3, 1)
    >>> losses.VolOpt(reference=[0.0, 0.0, 0.0])(model.weight[0], model.bias).shape
    torch.Size([])
    """

    reference: Tensor

    def __init__(self, reference: Any, columns: Any = None, *, epsilon: float = 1e-6) -> None:
        super().__init__()
        self.register_buffer("reference", as_row(reference))
        self.columns = None if columns is None else torch.as_tensor(columns)
        self.epsilon = epsilon

    def forward(self, coefficients: Tensor, intercept: Tensor) -> Tensor:
        """Loss of a linear model with these coefficients, shape (n_columns,), and this intercept."""
        logit = intercept.reshape(()) + coefficients @ self.reference.to(coefficients.dtype)
        chosen = coefficients if self.columns is None else coefficients[self.columns]
        return vol_opt(chosen, logit, epsilon=self.epsilon)


class ReferenceTerm(nn.Module):
    """Keeps the reference negative: without that SEV+ is 0 and SEV- may not exist.

    Parameters
    ----------
    reference : array-like of shape (n_columns,)
        The reference row.
    threshold : float, default=0.5
        Probability from which a row is positive.
    margin : float, default=0.05
        How far below the threshold the reference should be.
    """

    reference: Tensor

    def __init__(self, reference: Any, *, threshold: float = 0.5, margin: float = 0.05) -> None:
        super().__init__()
        self.register_buffer("reference", as_row(reference))
        self.threshold = threshold
        self.margin = margin

    def forward(self, scores: Scores) -> Tensor:
        """The probability of the reference, where it is not far enough below the threshold."""
        return reference_term(scores(self.reference[None]), threshold=self.threshold, margin=self.margin)


class RateGuard(nn.Module):
    """Keeps the share of positive predictions: otherwise fewer positives is the cheapest way to fewer reasons.

    Parameters
    ----------
    rate : float
        The share to keep.
    threshold : float, default=0.5
        Probability from which a row is positive.
    sharpness : float, default=10.0
        Slope of the logistic that stands for the step.
    """

    def __init__(self, rate: float, *, threshold: float = 0.5, sharpness: float = 10.0) -> None:
        super().__init__()
        self.rate = float(rate)
        self.threshold = threshold
        self.sharpness = sharpness

    def forward(self, logits: Tensor) -> Tensor:
        """Squared distance of the share of positives among these rows."""
        return rate_guard(logits, self.rate, threshold=self.threshold, sharpness=self.sharpness)
