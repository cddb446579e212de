"""The one container of answers, column by column: what a solver found, and the same with the model's scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from sev.core._ragged import ragged_take
from sev.core._status import Status
from sev.typing import BoolArray, FloatArray, IntArray, MaskArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """What was found for some rows: one entry per row in every array, so that a million rows are a few arrays.

    Parameters
    ----------
    status : ndarray of int8, shape (n_rows,)
        ``Status.code`` of each row.
    lower_bound : ndarray of int64, shape (n_rows,)
        No set with fewer features crosses: proven. For an unexplainable row, the number of active features plus one.
    offsets : ndarray of int64, shape (n_rows + 1,)
        The sets of row i are ``masks[offsets[i]:offsets[i + 1]]``, all of the same size. Furthest across the
        threshold comes first; of sets that are equally far, within rounding, the one with the earlier features. Where
        values are chosen, the least costly set comes first.
    masks : ndarray of uint64, shape (n_sets, n_words)
        The sets, packed (see :mod:`sev.core`).
    complete : ndarray of bool, shape (n_rows,)
        Whether these are all the sets of that size.
    reasons : dict of int to str
        For rows of status "error": what the model raised.
    query_margins, set_margins : ndarray of shape (n_rows,) and (n_sets,), or None
        Margins of the queries themselves, and of the vertex of each set, where the search came by them.
    helpful : ndarray of bool, shape (n_rows, n_features), or None
        For unexplainable rows, the features that, changed alone, bring the margin nearer to the other side, where the
        search came by them.
    """

    status: np.ndarray[tuple[int], np.dtype[np.int8]]
    lower_bound: IntArray
    offsets: IntArray
    masks: MaskArray
    complete: BoolArray
    reasons: dict[int, str] = field(default_factory=dict)
    query_margins: FloatArray | None = None
    set_margins: FloatArray | None = None
    helpful: BoolArray | None = None

    #: The arrays with one entry per row.
    _per_row: ClassVar[tuple[str, ...]] = ("status", "lower_bound", "complete")

    def __len__(self) -> int:
        return self.status.shape[0]

    @property
    def has_set(self) -> BoolArray:
        """Rows for which at least one set was found."""
        return self.offsets[1:] > self.offsets[:-1]

    def sizes(self) -> FloatArray:
        """Size of each row's sets, NaN where there is none.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).
        """
        sizes = np.full(len(self), np.nan)
        found = self.has_set
        sizes[found] = np.bitwise_count(self.masks[self.offsets[:-1][found]]).sum(axis=1)
        return sizes

    def sets_of(self, row: int) -> MaskArray:
        """Packed sets of one row.

        Parameters
        ----------
        row : int
            Place of the row.

        Returns
        -------
        ndarray of uint64
            Of shape (n_sets, n_words).
        """
        return self.masks[self.offsets[row] : self.offsets[row + 1]]

    def take(self, rows: IntArray) -> Self:
        """The same for some rows, in the given order; rows may repeat.

        Parameters
        ----------
        rows : ndarray of int64
            Places of rows.

        Returns
        -------
        Solution
            A copy.
        """
        offsets, items = ragged_take(self.offsets, rows)
        numbers = rows.tolist() if self.reasons else []
        per_row: dict[str, np.ndarray] = {name: getattr(self, name)[rows] for name in self._per_row}
        reasons = {new: self.reasons[row] for new, row in enumerate(numbers) if row in self.reasons}
        return replace(
            self,
            **per_row,
            offsets=offsets,
            masks=self.masks[items],
            reasons=reasons,
            query_margins=None if self.query_margins is None else self.query_margins[rows],
            set_margins=None if self.set_margins is None else self.set_margins[items],
            helpful=None if self.helpful is None else self.helpful[rows],
        )

    def with_errors(self, reasons: Mapping[int, str]) -> Self:
        """The same, with an error for the rows on which the model failed.

        Parameters
        ----------
        reasons : mapping of int to str
            What was raised, by place of the row.

        Returns
        -------
        Solution
            A copy.
        """
        if not reasons:
            return self
        bad = np.zeros(len(self), dtype=np.bool_)
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
            set_margins=None if self.set_margins is None else self.set_margins[kept],
        )

    def with_proofs(self) -> Self:
        """The same, where a set as small as the proven bound has the status optimal.

        Returns
        -------
        Solution
            A copy; the same object where nothing changes.
        """
        feasible = self.status == Status.FEASIBLE.code
        if not feasible.any():
            return self
        proven = feasible & (self.sizes() == self.lower_bound)
        return replace(self, status=np.where(proven, Status.OPTIMAL.code, self.status).astype(np.int8))

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Put what was found for consecutive rows together.

        Parameters
        ----------
        parts : sequence of Solution
            Solutions.

        Returns
        -------
        Solution
            One solution.
        """
        shifts = np.cumsum([0, *(len(part) for part in parts)])
        counts = np.concatenate([np.diff(part.offsets) for part in parts])
        per_row: dict[str, np.ndarray] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in cls._per_row
        }
        return cls(
            **per_row,
            offsets=np.concatenate([[0], np.cumsum(counts)]),
            masks=np.concatenate([part.masks for part in parts]),
            reasons={
                int(shift) + row: reason
                for shift, part in zip(shifts[:-1].tolist(), parts, strict=True)
                for row, reason in part.reasons.items()
            },
            query_margins=_join_known([part.query_margins for part in parts]),
            set_margins=_join_known([part.set_margins for part in parts]),
            helpful=_join_known([part.helpful for part in parts]),
        )

    @classmethod
    def merge(cls, parts: Sequence[tuple[IntArray, Self]]) -> Self:
        """Put what was found for disjoint rows together, in the order of the row numbers that each part comes with.

        Parameters
        ----------
        parts : sequence of pairs of ndarray and Solution
            Pairs of row numbers and their solution.

        Returns
        -------
        Solution
            One solution.
        """
        places = np.concatenate([rows for rows, _ in parts]).astype(np.int64)
        return cls.concatenate([part for _, part in parts]).take(np.argsort(places, kind="stable"))


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers(Solution):
    """A solution with what the model returned for it: what explainers return and results are made of.

    Parameters
    ----------
    score, result_score : ndarray of float64, shape (n_rows,)
        The model's own, before and after the change of the first set; NaN where there is none.
    target : ndarray of int64, shape (n_rows,)
        Number of the class being explained.
    reference : ndarray of int64, shape (n_rows,)
        Number of the reference row.
    listed : ndarray of bool, shape (n_rows,)
        Whether the sets after the first have been looked for; ``complete`` counts as far as they have.
    size_without_limit : ndarray of float64, shape (n_rows,)
        Where results must be credible: the size of the smallest set whether or not its result is; else NaN.
    first_of_all : ndarray of bool, shape (n_rows,)
        Whether the first set was chosen from all minimum sets, though perhaps not all are kept.
    """

    score: FloatArray
    result_score: FloatArray
    target: IntArray
    reference: IntArray
    listed: BoolArray
    size_without_limit: FloatArray
    first_of_all: BoolArray

    _per_row: ClassVar[tuple[str, ...]] = (
        *Solution._per_row,
        *("score", "result_score", "target", "reference", "listed", "size_without_limit", "first_of_all"),
    )

    def with_sets(self, solution: Solution, rows: IntArray) -> Answers:
        """The same answers with the sets of some rows replaced by the full lists of a solution of just these rows.

        Parameters
        ----------
        solution : Solution
            The full lists.
        rows : ndarray of int64
            The rows that they are of.

        Returns
        -------
        Answers
            A copy.
        """
        counts = np.diff(self.offsets)
        counts[rows] = np.diff(solution.offsets)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        masks = np.empty((offsets[-1], self.masks.shape[1]), dtype=np.uint64)
        kept = np.setdiff1d(np.arange(len(self)), rows)
        for chosen, source, numbers in ((kept, self, kept), (rows, solution, np.arange(len(rows)))):
            _, places = ragged_take(offsets, chosen)
            _, items = ragged_take(source.offsets, numbers)
            masks[places] = source.masks[items]
        complete, listed = self.complete.copy(), self.listed.copy()
        complete[rows] = solution.complete
        listed[rows] = True
        return replace(self, offsets=offsets, masks=masks, complete=complete, listed=listed, set_margins=None)


def _join_known(parts: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """One array of all parts, None where one of them is not known."""
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if len(known) == len(parts) else None


class SolutionBuilder:
    """Collects answers row by row, in any order, into a :class:`Solution`.

    Parameters
    ----------
    n_rows : int
        Rows that answers are collected for.
    n_words : int
        Words of one packed set.
    """

    def __init__(self, n_rows: int, n_words: int) -> None:
        self._status = np.full(n_rows, Status.UNDECIDED.code, dtype=np.int8)
        self._lower_bound = np.ones(n_rows, dtype=np.int64)
        self._complete = np.zeros(n_rows, dtype=np.bool_)
        self._sets: list[MaskArray] = [np.zeros((0, n_words), dtype=np.uint64)] * n_rows
        self._reasons: dict[int, str] = {}
        self._n_words = n_words

    def found(self, row: int, sets: MaskArray, *, lower_bound: int, complete: bool, proven: bool = True) -> None:
        """Record sets of one size; ``proven`` when no smaller set crosses, as is every set of the size of the bound.

        Parameters
        ----------
        row : int
            Place of the row.
        sets : ndarray of uint64
            Packed sets.
        lower_bound : int
            Proven size.
        complete : bool
            Whether these are all sets of this size.
        proven : bool, default=True
            Whether no smaller set crosses.
        """
        size = int(np.bitwise_count(sets[0]).sum()) if len(sets) else -1
        self._status[row] = (Status.OPTIMAL if proven or size == lower_bound else Status.FEASIBLE).code
        self._lower_bound[row] = lower_bound
        self._complete[row] = complete
        self._sets[row] = sets

    def feasible(self, row: int, sets: MaskArray, *, lower_bound: int) -> None:
        """Record sets that cross; that nothing better does is not proven, whatever their size.

        Parameters
        ----------
        row : int
            Place of the row.
        sets : ndarray of uint64
            Packed sets.
        lower_bound : int
            Proven size.
        """
        self._status[row] = Status.FEASIBLE.code
        self._lower_bound[row] = lower_bound
        self._sets[row] = sets

    def unexplainable(self, row: int, *, n_active: int) -> None:
        """Record a proof that no allowed set crosses.

        Parameters
        ----------
        row : int
            Place of the row.
        n_active : int
            How many features could change.
        """
        self._status[row] = Status.UNEXPLAINABLE.code
        self._lower_bound[row] = n_active + 1
        self._complete[row] = True

    def undecided(self, row: int, *, lower_bound: int) -> None:
        """Record that a limit ended the search with nothing found.

        Parameters
        ----------
        row : int
            Place of the row.
        lower_bound : int
            Proven size.
        """
        self._status[row] = Status.UNDECIDED.code
        self._lower_bound[row] = lower_bound

    def error(self, row: int, reason: str) -> None:
        """Record that the model raised.

        Parameters
        ----------
        row : int
            Place of the row.
        reason : str
            What was raised.
        """
        self._status[row] = Status.ERROR.code
        self._lower_bound[row] = 0
        self._reasons[row] = reason

    def build(self) -> Solution:
        """Freeze what was recorded.

        Returns
        -------
        Solution
            One entry for each row.
        """
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
