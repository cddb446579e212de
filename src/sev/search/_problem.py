"""The one problem that every solver solves, and the form of its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sev.explanations._status import Status
from sev.search._ragged import ragged_take
from sev.typing import BoolArray, FloatArray, IntArray, Kind, MaskArray


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Where a search may stop early; it then says honestly what it knows.

    Parameters
    ----------
    max_size : int or None
        Look no further than sets of this many features.
    max_sets : int
        How many minimum sets to list for a row.
    time_limit : float or None
        Seconds for one row.
    max_predictions : int or None
        Rows that a black box may be asked to score for one query.
    first_only : bool
        Only the first minimum set is wanted now; a solver that can list the others later leaves them out.
    """

    max_size: int | None = None
    max_sets: int = 100
    time_limit: float | None = None
    max_predictions: int | None = None
    first_only: bool = False


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Take each row across the decision by changing the fewest features.

    For a set S of features, the *vertex* of a row is, for ``kind="minus"``, the query with the features in S taken
    from the reference; for ``kind="plus"``, the reference with the features in S taken from the query. S *crosses*
    when its vertex is on the other side of the decision than the vertex of the empty set. All rows here are known
    to start on the near side.

    Solvers that know the model's form work on ``queries``, ``reference`` and margins. A vertex with a margin below
    ``low`` is certainly on the lower side, one above ``high`` certainly on the upper side; in between (a tie, or
    closer than rounding can tell) only the model itself decides: ask :meth:`crosses`.

    Parameters
    ----------
    kind : {"minus", "plus"}
        Which end of the path moves.
    direction : {-1, 1}
        -1: a set crosses when the margin falls below the decision; 1: when it rises above.
    low, high : float
        The band of margins in which the model itself must be asked. It covers the model's link and threshold; a
        solver widens it by the rounding of its own sums.
    queries : ndarray of shape (n_rows, n_columns)
        Encoded queries, contiguous and writable. Empty (no columns) for a black box.
    reference : ndarray of shape (n_columns,)
        The encoded reference.
    column_feature : ndarray of shape (n_columns,)
        The feature that each encoded column belongs to.
    active : ndarray of bool, shape (n_rows, n_features)
        Features that may be in S: allowed, and not the same in query and reference.
    evaluate : callable
        ``evaluate(rows, sets)`` gives the model's own scores of vertices: ``rows`` are row numbers of this problem,
        ``sets`` a bool array (len(rows), n_features) of the S of each.
    is_across : callable
        Which scores are across the decision.
    across_sign : {-1, 1}
        Whether scores across the decision are smaller (-1) or larger (1).
    limits : Limits
        Where to stop early.
    """

    kind: Kind
    direction: int
    low: float
    high: float
    queries: FloatArray
    reference: FloatArray
    column_feature: IntArray
    active: BoolArray
    evaluate: Callable[[IntArray, BoolArray], FloatArray]
    is_across: Callable[[FloatArray], BoolArray]
    across_sign: int
    limits: Limits = field(default_factory=Limits)

    @property
    def n_rows(self) -> int:
        """Number of queries."""
        return self.active.shape[0]

    @property
    def n_features(self) -> int:
        """Number of features, active or not."""
        return self.active.shape[1]

    def crosses(self, rows: IntArray, sets: BoolArray) -> BoolArray:
        """Ask the model itself which sets cross."""
        return self.is_across(self.evaluate(rows, sets))


@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """What a solver found, column-wise over the rows of a problem.

    Parameters
    ----------
    status : ndarray of int8, shape (n_rows,)
        ``Status.code`` of each row.
    lower_bound : ndarray of int64, shape (n_rows,)
        No set with fewer features crosses: proven. For an unexplainable row, the number of active features plus one.
    offsets : ndarray of int64, shape (n_rows + 1,)
        The sets of row i are ``masks[offsets[i]:offsets[i + 1]]``, all of the same size, furthest across first.
    masks : ndarray of uint64, shape (n_sets, n_words)
        The sets, packed (see :mod:`sev.search`).
    complete : ndarray of bool, shape (n_rows,)
        Whether these are all the sets of that size.
    reasons : dict of int to str
        For rows of status "error": what the model raised.
    """

    status: np.ndarray[tuple[int], np.dtype[np.int8]]
    lower_bound: IntArray
    offsets: IntArray
    masks: MaskArray
    complete: BoolArray
    reasons: dict[int, str] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows answered."""
        return self.status.shape[0]

    @property
    def has_set(self) -> BoolArray:
        """Rows for which at least one set was found."""
        return self.offsets[1:] > self.offsets[:-1]

    def sizes(self) -> IntArray:
        """Size of each row's sets, -1 where there is none."""
        sizes = np.full(self.n_rows, -1, dtype=np.int64)
        found = self.has_set
        first = self.masks[self.offsets[:-1][found]]
        sizes[found] = np.bitwise_count(first).sum(axis=1)
        return sizes

    def take(self, rows: IntArray) -> Solution:
        """The solution of some rows, in the given order; rows may repeat."""
        offsets, items = ragged_take(self.offsets, rows)
        old = rows.tolist() if self.reasons else []
        return Solution(
            status=self.status[rows],
            lower_bound=self.lower_bound[rows],
            offsets=offsets,
            masks=self.masks[items],
            complete=self.complete[rows],
            reasons={new: self.reasons[row] for new, row in enumerate(old) if row in self.reasons},
        )

    def with_errors(self, reasons: Mapping[int, str]) -> Solution:
        """The same solution, with rows on which the model failed marked so."""
        if not reasons:
            return self
        bad = np.zeros(self.n_rows, dtype=np.bool_)
        bad[list(reasons)] = True
        counts = np.where(bad, 0, np.diff(self.offsets))
        _, kept = ragged_take(self.offsets, np.flatnonzero(~bad))
        return replace(
            self,
            status=np.where(bad, Status.ERROR.code, self.status).astype(np.int8),
            lower_bound=np.where(bad, 0, self.lower_bound),
            offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            masks=self.masks[kept],
            complete=self.complete & ~bad,
            reasons={**self.reasons, **reasons},
        )

    def with_proofs(self) -> Solution:
        """The same solution, with a set that is as small as the proven bound called optimal: it is."""
        feasible = self.status == Status.FEASIBLE.code
        if not feasible.any():
            return self
        proven = feasible & (self.sizes() == self.lower_bound)
        return replace(self, status=np.where(proven, Status.OPTIMAL.code, self.status).astype(np.int8))

    @staticmethod
    def merge(parts: Sequence[tuple[IntArray, Solution]]) -> Solution:
        """Put solutions of disjoint rows together; each part says which rows it is about."""
        places = np.concatenate([rows for rows, _ in parts]).astype(np.int64)
        shifts = np.cumsum([0, *(len(rows) for rows, _ in parts)])
        solutions = [solution for _, solution in parts]
        counts = np.concatenate([np.diff(solution.offsets) for solution in solutions])
        stacked = Solution(
            status=np.concatenate([solution.status for solution in solutions]),
            lower_bound=np.concatenate([solution.lower_bound for solution in solutions]),
            offsets=np.concatenate([[0], np.cumsum(counts)]),
            masks=np.concatenate([solution.masks for solution in solutions]),
            complete=np.concatenate([solution.complete for solution in solutions]),
            reasons={
                int(shift) + row: reason
                for shift, solution in zip(shifts[:-1].tolist(), solutions, strict=True)
                for row, reason in solution.reasons.items()
            },
        )
        return stacked.take(np.argsort(places, kind="stable"))


class SolutionBuilder:
    """Collects answers row by row, in any order, into a :class:`Solution`."""

    def __init__(self, n_rows: int, n_words: int) -> None:
        self._status = np.full(n_rows, Status.UNDECIDED.code, dtype=np.int8)
        self._lower_bound = np.ones(n_rows, dtype=np.int64)
        self._complete = np.zeros(n_rows, dtype=np.bool_)
        self._sets: list[MaskArray] = [np.zeros((0, n_words), dtype=np.uint64)] * n_rows
        self._reasons: dict[int, str] = {}
        self._n_words = n_words

    def found(self, row: int, sets: MaskArray, *, lower_bound: int, complete: bool, proven: bool = True) -> None:
        """Record sets of one size; ``proven`` when no smaller set crosses, as is every set of the size of the bound."""
        size = int(np.bitwise_count(sets[0]).sum()) if len(sets) else -1
        self._status[row] = (Status.OPTIMAL if proven or size == lower_bound else Status.FEASIBLE).code
        self._lower_bound[row] = lower_bound
        self._complete[row] = complete
        self._sets[row] = sets

    def unexplainable(self, row: int, *, n_active: int) -> None:
        """Record a proof that no allowed set crosses."""
        self._status[row] = Status.UNEXPLAINABLE.code
        self._lower_bound[row] = n_active + 1
        self._complete[row] = True

    def undecided(self, row: int, *, lower_bound: int) -> None:
        """Record that a limit ended the search with nothing found."""
        self._status[row] = Status.UNDECIDED.code
        self._lower_bound[row] = lower_bound

    def error(self, row: int, reason: str) -> None:
        """Record that the model raised."""
        self._status[row] = Status.ERROR.code
        self._lower_bound[row] = 0
        self._reasons[row] = reason

    def build(self) -> Solution:
        """Freeze what was recorded."""
        counts = np.array([0, *(len(sets) for sets in self._sets)], dtype=np.int64)
        empty = np.zeros((0, self._n_words), dtype=np.uint64)
        return Solution(
            status=self._status,
            lower_bound=self._lower_bound,
            offsets=np.cumsum(counts),
            masks=np.concatenate([empty, *self._sets]),
            complete=self._complete,
            reasons=self._reasons,
        )
