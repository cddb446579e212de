"""Losses that are small when decisions need few reasons, as parts for anyone's own training loop.

Each comes twice: as a function of scores that are known already, and as a small module over a function
``scores(rows)`` that gives the logit of each row, a reference row and a grouping of columns into features. A module
works out the one-step neighbours of the rows by itself:

- for SEV+ the reference with one feature of the row, of which the best should be positive (:class:`AllOptPlus`);
- for SEV- the row with one feature of the reference, of which the best should be negative (:class:`AllOptMinus`; with
  ``restricted`` features it is the paper's All-Opt(R)).

:class:`VolOpt` is for linear models, :class:`ReferenceTerm` keeps the reference negative, :class:`RateGuard` keeps the
share of positive predictions, and :class:`SEVLoss` is the weighted sum.

The formulas follow section 4 of "Sparse and Faithful Explanations Without Sparse Models" with two corrections: the
clamp in the logarithm of Vol-Opt is a maximum, and the minimum of All-Opt(R) runs over the features *outside* the
restricted set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from sev._optional import require
from sev.exceptions import InputError

require("torch", extra="train", feature="sev.losses")

import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402

__all__ = [
    "AllOptMinus",
    "AllOptPlus",
    "LossParts",
    "RateGuard",
    "ReferenceTerm",
    "SEVLoss",
    "VolOpt",
    "all_opt_minus",
    "all_opt_plus",
    "neighbours",
    "rate_guard",
    "reference_term",
    "vol_opt",
]

#: Rows in, one logit for each row out.
Scores = Callable[[Tensor], Tensor]

_ELEMENTS_AT_ONCE = 2**23


# -- functions of known scores -----------------------------------------------------------------------------------------


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
    share = torch.sigmoid(sharpness * (logits - _logit(threshold))).mean()
    return (share - rate) ** 2


def neighbours(rows: Tensor, reference: Tensor, column_feature: Tensor, feature: Tensor, *, plus: bool) -> Tensor:
    """One-step neighbours: row i changed, or kept, in the columns of feature ``feature[i]`` only.

    Parameters
    ----------
    rows : Tensor of shape (n_rows, n_columns)
        Queries.
    reference : Tensor of shape (n_columns,)
        The reference row.
    column_feature : Tensor of int, shape (n_columns,)
        The feature of each column.
    feature : Tensor of int, shape (n_rows,)
        The feature of each row that is changed to the reference, or for ``plus`` alone kept from the row.
    plus : bool
        Neighbours of the reference rather than of the row.
    """
    chosen = column_feature == feature[:, None]
    return torch.where(chosen, rows, reference) if plus else torch.where(chosen, reference, rows)


# -- modules over a score function -------------------------------------------------------------------------------------


class _OneStep(nn.Module):
    """What All-Opt+ and All-Opt- share: finding the best one-step neighbour of each positive row."""

    reference: Tensor
    column_feature: Tensor
    allowed: Tensor
    _plus: bool

    def __init__(
        self,
        reference: Any,
        column_feature: Any = None,
        *,
        restricted: Iterable[int] = (),
        threshold: float = 0.5,
        margin: float = 0.05,
    ) -> None:
        super().__init__()
        row = torch.as_tensor(reference)
        row = row if row.is_floating_point() else row.to(torch.get_default_dtype())
        if row.ndim != 1:
            raise InputError(f"reference must be one row, a tensor of shape (n_columns,); got {tuple(row.shape)}.")
        features = torch.arange(len(row)) if column_feature is None else torch.as_tensor(column_feature).long()
        if features.shape != row.shape:
            raise InputError(
                f"column_feature names the feature of {tuple(features.shape)} columns, the reference has "
                f"{tuple(row.shape)}: one number a column is needed."
            )
        off_limits = {int(one) for one in restricted}
        known = torch.unique(features).tolist()
        strange = sorted(off_limits - set(known))
        if strange:
            raise InputError(f"restricted names the features {strange}; the features are numbered {known}.")
        allowed = [feature for feature in known if feature not in off_limits]
        if not allowed:
            raise InputError("Every feature is restricted: leave at least one that an explanation may use.")
        self.register_buffer("reference", row)
        self.register_buffer("column_feature", features)
        self.register_buffer("allowed", torch.tensor(allowed))
        self.threshold = threshold
        self.margin = margin

    def forward(
        self,
        scores: Scores,
        rows: Tensor,
        *,
        logits: Tensor | None = None,
        hint: Tensor | None = None,
        sweep: bool = True,
    ) -> Tensor:
        """Loss of a batch.

        Parameters
        ----------
        scores : callable
            Rows to logits.
        rows : Tensor of shape (n_rows, n_columns)
            A batch; only the rows that are predicted positive count.
        logits : Tensor of shape (n_rows,), default=None
            ``scores(rows)`` if known already.
        hint : Tensor of int, shape (n_rows,), default=None
            The best feature of each row when it was last seen, -1 for none; updated in place. A row whose old best
            neighbour is still past the margin adds a constant whatever the others do, so they are not scored.
        sweep : bool, default=True
            False: keep to the hinted neighbour also where it is not past the margin, which bounds the loss from above.
        """
        with torch.no_grad():
            known = scores(rows) if logits is None else logits
            positive = torch.nonzero(known >= _logit(self.threshold))[:, 0]
            chosen = rows[positive]
            best, best_logit = self._best(scores, chosen, None if hint is None else hint[positive], sweep)
            if hint is not None:
                hint[positive] = best
            open_ = torch.nonzero(~self._is_past(best_logit))[:, 0]
        # where the best neighbour is past the margin the term is constant: only the others need a graph
        if len(open_):
            changed = neighbours(chosen[open_], self.reference, self.column_feature, best[open_], plus=self._plus)
            best_logit = best_logit.index_copy(0, open_, scores(changed))
        function = all_opt_plus if self._plus else all_opt_minus
        return function(best_logit[:, None], threshold=self.threshold, margin=self.margin)

    def _best(self, scores: Scores, rows: Tensor, hint: Tensor | None, sweep: bool) -> tuple[Tensor, Tensor]:
        """Feature and logit of each row's best neighbour; of the hinted one where it is good enough."""
        best = torch.full((len(rows),), int(self.allowed[0]), device=rows.device)
        logits = rows.new_zeros(len(rows))
        todo = torch.arange(len(rows), device=rows.device)
        if hint is not None and len(rows):
            best = torch.where(hint >= 0, hint, best)
            logits = scores(neighbours(rows, self.reference, self.column_feature, best, plus=self._plus))
            todo = torch.nonzero(~self._is_past(logits) if sweep else hint < 0)[:, 0]
        width = len(self.allowed) * max(1, rows.shape[1])
        at_once = max(1, _ELEMENTS_AT_ONCE // width)
        for first in range(0, len(todo), at_once):
            part = todo[first : first + at_once]
            repeated = rows[part].repeat_interleave(len(self.allowed), dim=0)
            feature = self.allowed.repeat(len(part))
            found = scores(neighbours(repeated, self.reference, self.column_feature, feature, plus=self._plus))
            table = found.reshape(len(part), len(self.allowed))
            top = table.max(dim=1) if self._plus else table.min(dim=1)
            best[part], logits[part] = self.allowed[top.indices], top.values
        return best, logits

    def _is_past(self, logits: Tensor) -> Tensor:
        if self._plus:
            return logits >= _logit(self.threshold + self.margin)
        return logits <= _logit(self.threshold - self.margin)


class AllOptPlus(_OneStep):
    """All-Opt+: for each positive row, one feature of it alone should make the reference positive.

    Gradients flow through the best neighbour of each row, as they do through a maximum; the others are scored
    without a graph.

    Parameters
    ----------
    reference : array-like of shape (n_columns,)
        The reference row.
    column_feature : array-like of int, shape (n_columns,), default=None
        The feature of each column; None: each column is one.
    restricted : iterable of int, default=()
        Features that no explanation may use.
    threshold : float, default=0.5
        Probability from which a row is positive.
    margin : float, default=0.05
        How far past the threshold the best neighbour should be; 0 is the paper's loss.

    Examples
    --------
    >>> import torch
    >>> from sev import losses
    >>> term = losses.AllOptPlus(reference=[0.0, 0.0], margin=0.0)
    >>> model = torch.nn.Linear(2, 1)
    >>> value = term(lambda rows: model(rows)[:, 0], torch.rand(8, 2))
    >>> value.shape
    torch.Size([])
    """

    _plus = True


class AllOptMinus(_OneStep):
    """All-Opt-: for each positive row, setting one feature to the reference should make it negative.

    With ``restricted`` features, All-Opt(R): the one feature must be outside the restricted set.

    Parameters
    ----------
    reference : array-like of shape (n_columns,)
        The reference row.
    column_feature : array-like of int, shape (n_columns,), default=None
        The feature of each column; None: each column is one.
    restricted : iterable of int, default=()
        Features that no explanation may use.
    threshold : float, default=0.5
        Probability from which a row is positive.
    margin : float, default=0.05
        How far below the threshold the best neighbour should be; 0 is the paper's loss.
    """

    _plus = False


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
        row = torch.as_tensor(reference)
        self.register_buffer("reference", row if row.is_floating_point() else row.to(torch.get_default_dtype()))
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
        row = torch.as_tensor(reference)
        self.register_buffer("reference", row if row.is_floating_point() else row.to(torch.get_default_dtype()))
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


class LossParts(NamedTuple):
    """A loss and the terms, without their weights, that it is the sum of."""

    total: Tensor
    fit: Tensor
    sev: Tensor
    reference: Tensor
    rate: Tensor


class SEVLoss(nn.Module):
    """Cross-entropy plus the SEV term, the reference term and the rate guard, each with its weight.

    Parameters
    ----------
    reference : array-like of shape (n_columns,)
        The reference row.
    column_feature : array-like of int, shape (n_columns,), default=None
        The feature of each column; None: each column is one.
    objective : {"plus", "minus", "both"}, default="minus"
        Which explanations should be short.
    restricted : iterable of int, default=()
        Features that no explanation may use; with "minus" it is All-Opt(R).
    rate : float, default=None
        Share of positive predictions to keep; None: no rate guard.
    sev_penalty, reference_penalty, rate_penalty : float
        Weights of the terms.
    threshold : float, default=0.5
        Probability from which a row is positive.
    margin, reference_margin : float, default=0.05
        How far past the threshold the best neighbour, and below it the reference, should be.

    Examples
    --------
    >>> import torch
    >>> from sev import losses
    >>> model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1), torch.nn.Flatten(0))
    >>> loss = losses.SEVLoss(reference=[0.0, 0.0, 0.0], column_feature=[0, 1, 1], rate=0.3)
    >>> parts = loss(model, torch.rand(16, 3), torch.rand(16))
    >>> parts.total.backward()
    """

    def __init__(
        self,
        reference: Any,
        column_feature: Any = None,
        *,
        objective: str = "minus",
        restricted: Iterable[int] = (),
        rate: float | None = None,
        sev_penalty: float = 1.0,
        reference_penalty: float = 10.0,
        rate_penalty: float = 10.0,
        threshold: float = 0.5,
        margin: float = 0.05,
        reference_margin: float = 0.05,
    ) -> None:
        super().__init__()
        kinds: dict[str, list[type[_OneStep]]] = {
            "plus": [AllOptPlus],
            "minus": [AllOptMinus],
            "both": [AllOptPlus, AllOptMinus],
        }
        if objective not in kinds:
            raise InputError(f"objective={objective!r} is not known: use one of {sorted(kinds)}.")
        options: dict[str, Any] = {"restricted": tuple(restricted), "threshold": threshold, "margin": margin}
        self.sev_terms = nn.ModuleList(kind(reference, column_feature, **options) for kind in kinds[objective])
        self.reference_term = ReferenceTerm(reference, threshold=threshold, margin=reference_margin)
        self.rate_guard = None if rate is None else RateGuard(rate, threshold=threshold)
        self.sev_penalty = sev_penalty
        self.reference_penalty = reference_penalty
        self.rate_penalty = rate_penalty

    def forward(
        self,
        scores: Scores,
        rows: Tensor,
        targets: Tensor,
        *,
        hints: tuple[Tensor, ...] | None = None,
        sweep: bool = True,
    ) -> LossParts:
        """Loss of a batch.

        Parameters
        ----------
        scores : callable
            Rows to logits.
        rows : Tensor of shape (n_rows, n_columns)
            A batch.
        targets : Tensor of shape (n_rows,)
            Labels, or better the probabilities of the model to start from.
        hints : tuple of int tensors, default=None
            One for each SEV term; see ``AllOptMinus.forward``.
        sweep : bool, default=True
            See ``AllOptMinus.forward``.
        """
        logits = scores(rows)
        fit = functional.binary_cross_entropy_with_logits(logits, targets)
        sev = logits.new_zeros(())
        for number, term in enumerate(self.sev_terms):
            hint = None if hints is None else hints[number]
            sev = sev + term(scores, rows, logits=logits.detach(), hint=hint, sweep=sweep)
        reference = self.reference_term(scores)
        rate = logits.new_zeros(()) if self.rate_guard is None else self.rate_guard(logits)
        total = fit + self.sev_penalty * sev + self.reference_penalty * reference + self.rate_penalty * rate
        return LossParts(total, fit, sev, reference, rate)


def _logit(probability: float) -> float:
    return math.log(probability / (1.0 - probability))
