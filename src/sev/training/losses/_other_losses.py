"""Vol-Opt, the reference term and the rate guard as modules."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sev.training.losses._functions import rate_guard, reference_term, vol_opt
from sev.training.losses._rows import Numbers, Rows, Scores, as_references, as_row, check_assigned


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

    def __init__(self, reference: Rows, columns: Numbers | None = None, *, epsilon: float = 1e-6) -> None:
        super().__init__()
        self.register_buffer("reference", as_row(reference))
        self.columns = None if columns is None else torch.as_tensor(columns)
        self.epsilon = epsilon

    def forward(self, coefficients: Tensor, intercept: Tensor) -> Tensor:
        """Loss of a linear model with these coefficients, shape (n_columns,), and this intercept.

        Parameters
        ----------
        coefficients : Tensor
            Of the model.
        intercept : Tensor
            Of the model.

        Returns
        -------
        Tensor
            A scalar.
        """
        logit = intercept.reshape(()) + coefficients @ self.reference.to(coefficients.dtype)
        chosen = coefficients if self.columns is None else coefficients[self.columns]
        return vol_opt(chosen, logit, epsilon=self.epsilon)


class ReferenceTerm(nn.Module):
    """Keeps the reference negative: without that SEV+ is 0 and SEV- may not exist.

    Parameters
    ----------
    reference : array-like of shape (n_columns,) or (n_references, n_columns)
        The reference row, or several.
    threshold : float, default=0.5
        Probability from which a row is positive.
    margin : float, default=0.05
        How far below the threshold the reference should be.

    Examples
    --------
    >>> from sev import losses
    >>> term = losses.ReferenceTerm([0.0, 0.0])
    >>> float(term(lambda some: some.sum(dim=1) + 3.0)) > 0  # the reference is predicted positive
    True
    """

    reference: Tensor

    def __init__(self, reference: Rows, *, threshold: float = 0.5, margin: float = 0.05) -> None:
        super().__init__()
        self.register_buffer("reference", as_references(reference))
        self.threshold = threshold
        self.margin = margin

    def forward(self, scores: Scores, assigned: Tensor | None = None) -> Tensor:
        """The probability of the reference, where it is not far enough below the threshold.

        Parameters
        ----------
        scores : callable
            Rows to logits.
        assigned : Tensor of int, shape (n_rows,) or (n_rows, n_candidates), default=None
            The references of each row of a batch, over which the mean is taken; None: each reference counts once.

        Returns
        -------
        Tensor
            A scalar.
        """
        return reference_term(self.logits(scores, assigned), threshold=self.threshold, margin=self.margin)

    def logits(self, scores: Scores, assigned: Tensor | None = None) -> Tensor:
        """Logits of the references: of each once, shape (n_references,), or of those of each row.

        Parameters
        ----------
        scores : callable
            From rows to logits.
        assigned : Tensor, default=None
            The reference of each row; None is each reference once.

        Returns
        -------
        Tensor
            The logits.
        """
        if assigned is None:
            return scores(self.reference[None] if self.reference.ndim == 1 else self.reference)
        checked = check_assigned(self.reference, assigned, len(assigned))
        # rows share references: each is scored once
        used, place = torch.unique(checked, return_inverse=True)
        return scores(self.reference[used])[place]


class RateGuard(nn.Module):
    """Keeps the share of positive predictions: otherwise fewer positives would be the easiest way to fewer reasons.

    Parameters
    ----------
    rate : float
        The share to keep.
    threshold : float, default=0.5
        Probability from which a row is positive.
    sharpness : float, default=10.0
        Slope of the logistic that stands for the step.

    Examples
    --------
    >>> import torch
    >>> from sev import losses
    >>> guard = losses.RateGuard(rate=0.5)
    >>> round(float(guard(torch.tensor([-9.0, 9.0]))), 4)
    0.0
    """

    def __init__(self, rate: float, *, threshold: float = 0.5, sharpness: float = 10.0) -> None:
        super().__init__()
        self.rate = float(rate)
        self.threshold = threshold
        self.sharpness = sharpness

    def forward(self, logits: Tensor) -> Tensor:
        """Squared distance of the share of positives among these rows.

        Parameters
        ----------
        logits : Tensor
            Of some rows.

        Returns
        -------
        Tensor
            A scalar.
        """
        return rate_guard(logits, self.rate, threshold=self.threshold, sharpness=self.sharpness)
