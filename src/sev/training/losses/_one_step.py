"""All-Opt+ and All-Opt- over a score function: finding the best one-step neighbour of each positive row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from sev.exceptions import InputError
from sev.training.losses._functions import all_opt_minus, all_opt_plus, logit
from sev.training.losses._rows import Scores, as_row

_ELEMENTS_AT_ONCE = 2**23


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


class OneStep(nn.Module):
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
        row = as_row(reference)
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
        weights: Tensor | None = None,
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
        weights : Tensor of shape (n_rows,), default=None
            Weight of each row; None: all the same.
        hint : Tensor of int, shape (n_rows,), default=None
            The best feature of each row when it was last seen, -1 for none; updated in place. A row whose old best
            neighbour is still past the margin adds a constant whatever the others do, so they are not scored.
        sweep : bool, default=True
            False: keep to the hinted neighbour also where it is not past the margin, which bounds the loss from above.
        """
        with torch.no_grad():
            known = scores(rows) if logits is None else logits
            positive = torch.nonzero(known >= logit(self.threshold))[:, 0]
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
        chosen_weights = None if weights is None else weights[positive]
        return function(best_logit[:, None], weights=chosen_weights, threshold=self.threshold, margin=self.margin)

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
            return logits >= logit(self.threshold + self.margin)
        return logits <= logit(self.threshold - self.margin)


class AllOptPlus(OneStep):
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


class AllOptMinus(OneStep):
    """All-Opt-: for each positive row, setting one feature to the reference should make it negative.

    With ``restricted`` features, All-Opt(R): the one feature must be outside the restricted set.

    Parameters
    ----------
    reference, column_feature, restricted, threshold
        As for :class:`AllOptPlus`.
    margin : float, default=0.05
        How far below the threshold the best neighbour should be; 0 is the paper's loss.
    """

    _plus = False
