"""All-Opt+ and All-Opt- over a score function: finding the best one-step neighbour of each positive row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from sev.exceptions import InputError
from sev.training.losses._functions import all_opt_minus, all_opt_plus, logit
from sev.training.losses._rows import Numbers, Rows, Scores, as_references, check_assigned

_ELEMENTS_AT_ONCE = 2**23


def neighbours(rows: Tensor, reference: Tensor, column_feature: Tensor, feature: Tensor, *, plus: bool) -> Tensor:
    """One-step neighbours: row i changed, or kept, in the columns of feature ``feature[i]`` only.

    Parameters
    ----------
    rows : Tensor of shape (n_rows, n_columns)
        Queries.
    reference : Tensor of shape (n_columns,) or (n_rows, n_columns)
        The reference row, or that of each row.
    column_feature : Tensor of int, shape (n_columns,)
        The feature of each column.
    feature : Tensor of int, shape (n_rows,)
        The feature of each row that is changed to the reference, or for ``plus`` alone kept from the row.
    plus : bool
        Neighbours of the reference rather than of the row.

    Returns
    -------
    Tensor of shape (n_rows, n_columns)
        The neighbours, one for each row.
    """
    chosen = column_feature == feature[:, None]
    return torch.where(chosen, rows, reference) if plus else torch.where(chosen, reference, rows)


class _Queries(NamedTuple):
    """Rows, and the numbers of the references of each; None where there is one for all."""

    rows: Tensor
    assigned: Tensor | None

    @property
    def n_candidates(self) -> int:
        return 1 if self.assigned is None else self.assigned.shape[1]

    def take(self, rows: Tensor) -> _Queries:
        return _Queries(self.rows[rows], None if self.assigned is None else self.assigned[rows])


class OneStep(nn.Module):
    """What All-Opt+ and All-Opt- share: finding the best one-step neighbour of each positive row."""

    reference: Tensor
    column_feature: Tensor
    allowed: Tensor
    _plus: bool

    def __init__(
        self,
        reference: Rows,
        column_feature: Numbers | None = None,
        *,
        restricted: Iterable[int] = (),
        threshold: float = 0.5,
        margin: float = 0.05,
    ) -> None:
        super().__init__()
        rows = as_references(reference)
        features = torch.arange(rows.shape[-1]) if column_feature is None else torch.as_tensor(column_feature).long()
        if features.shape != rows.shape[-1:]:
            raise InputError(
                f"column_feature has shape {tuple(features.shape)}, but the reference has {rows.shape[-1]} columns: "
                "pass one feature number for each column."
            )
        off_limits = {int(one) for one in restricted}
        known = torch.unique(features).tolist()
        strange = sorted(off_limits - set(known))
        if strange:
            raise InputError(f"restricted holds {strange}, but column_feature has the features {known} only.")
        allowed = [feature for feature in known if feature not in off_limits]
        if not allowed:
            raise InputError("Every feature is restricted: leave at least one that an explanation may use.")
        self.register_buffer("reference", rows)
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
        assigned: Tensor | None = None,
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
        assigned : Tensor of int, shape (n_rows,) or (n_rows, n_candidates), default=None
            With several references, the numbers of those of each row; with several for a row, its best neighbour is
            the best over all of them.
        hint : Tensor of int, shape (n_rows,), default=None
            The best neighbour of each row when it was last seen, -1 for none; updated in place. A row whose old best
            neighbour is still past the margin adds a constant whatever the others do, so they are not scored.
        sweep : bool, default=True
            False: keep to the hinted neighbour also where it is not past the margin, which bounds the loss from above.

        Returns
        -------
        Tensor
            A scalar.
        """
        with torch.no_grad():
            known = scores(rows) if logits is None else logits
            positive = torch.nonzero(known >= logit(self.threshold))[:, 0]
            checked = check_assigned(self.reference, assigned, len(rows))
            chosen = _Queries(rows[positive], None if checked is None else checked[positive])
            best, best_logit = self._find_best(scores, chosen, None if hint is None else hint[positive], sweep)
            if hint is not None:
                hint[positive] = best
            open_ = torch.nonzero(~self._is_past(best_logit))[:, 0]
        # where the best neighbour is past the margin the term is constant: only the others need a graph
        if len(open_):
            best_logit = best_logit.index_copy(0, open_, scores(self._make_neighbours(chosen.take(open_), best[open_])))
        function = all_opt_plus if self._plus else all_opt_minus
        chosen_weights = None if weights is None else weights[positive]
        return function(best_logit[:, None], weights=chosen_weights, threshold=self.threshold, margin=self.margin)

    def _find_best(self, scores: Scores, queries: _Queries, hint: Tensor | None, sweep: bool) -> tuple[Tensor, Tensor]:
        """Number and logit of each row's best neighbour; of the hinted one where it is good enough."""
        rows = queries.rows
        best = torch.full((len(rows),), int(self.allowed[0]), device=rows.device)
        logits = rows.new_zeros(len(rows))
        todo = torch.arange(len(rows), device=rows.device)
        if hint is not None and len(rows):
            best = torch.where(hint >= 0, hint, best)
            logits = scores(self._make_neighbours(queries, best))
            todo = torch.nonzero(~self._is_past(logits) if sweep else hint < 0)[:, 0]
        starts = torch.arange(queries.n_candidates, device=rows.device) * self._stride
        every = (starts[:, None] + self.allowed).reshape(-1)
        at_once = max(1, _ELEMENTS_AT_ONCE // (len(every) * max(1, rows.shape[1])))
        for first in range(0, len(todo), at_once):
            part = todo[first : first + at_once]
            repeated = queries.take(part.repeat_interleave(len(every)))
            found = scores(self._make_neighbours(repeated, every.repeat(len(part))))
            table = found.reshape(len(part), len(every))
            top = table.max(dim=1) if self._plus else table.min(dim=1)
            best[part], logits[part] = every[top.indices], top.values
        return best, logits

    @property
    def _stride(self) -> int:
        """A neighbour's number is its feature plus so many for each candidate reference before its own."""
        return int(self.column_feature.max()) + 1

    def _make_neighbours(self, queries: _Queries, numbers: Tensor) -> Tensor:
        reference = self.reference
        if queries.assigned is not None:
            reference = reference[queries.assigned.gather(1, (numbers // self._stride)[:, None])[:, 0]]
        return neighbours(queries.rows, reference, self.column_feature, numbers % self._stride, plus=self._plus)

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
    reference : array-like of shape (n_columns,) or (n_references, n_columns)
        The reference row, or several, of which ``forward`` is told those of each row.
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

    Examples
    --------
    >>> import torch
    >>> from sev import losses
    >>> loss = losses.AllOptMinus(reference=[0.0, 0.0])
    >>> rows = torch.tensor([[2.0, 0.0], [3.0, 1.0]])
    >>> float(loss(lambda some: some.sum(dim=1) - 1.5, rows)) >= 0
    True
    """

    _plus = False
