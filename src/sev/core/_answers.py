"""Answers of many rows, column by column: what solvers and explainers hand over and results are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sev.core._ragged import ragged_take
from sev.typing import BoolArray, FloatArray, IntArray, MaskArray

if TYPE_CHECKING:
    from sev.core._problem import Solution


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """One entry a row in every array, so that a million rows are a dozen arrays and no Python objects.

    Parameters
    ----------
    status : ndarray of int8
        ``Status.code``.
    lower_bound : ndarray of int64
        No smaller set works.
    score, result_score : ndarray of float64
        The model's own, before and after the change of the first set; NaN where there is none.
    target : ndarray of int64
        Number of the class being explained.
    reference : ndarray of int64
        Number of the reference row.
    offsets, masks : ndarray
        Row i has the sets ``masks[offsets[i]:offsets[i + 1]]``.
    complete : ndarray of bool
        Whether all minimum sets are there, as far as ``listed``.
    listed : ndarray of bool
        Whether the sets after the first have been looked for.
    reasons : dict
        Row number to message, for rows of status "error".
    """

    status: np.ndarray[Any, np.dtype[np.int8]]
    lower_bound: IntArray
    score: FloatArray
    result_score: FloatArray
    target: IntArray
    reference: IntArray
    offsets: IntArray
    masks: MaskArray
    complete: BoolArray
    listed: BoolArray
    reasons: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.status.shape[0]

    @property
    def has_set(self) -> BoolArray:
        """Rows with at least one set."""
        return self.offsets[1:] > self.offsets[:-1]

    def sizes(self) -> FloatArray:
        """Size of each row's sets, NaN where there is none."""
        found = self.has_set
        sizes = np.full(len(self), np.nan)
        sizes[found] = np.bitwise_count(self.masks[self.offsets[:-1][found]]).sum(axis=1)
        return sizes

    def sets_of(self, row: int) -> MaskArray:
        """Packed sets of one row."""
        return self.masks[self.offsets[row] : self.offsets[row + 1]]

    def take(self, rows: IntArray) -> Answers:
        """Answers of some rows, in the given order."""
        offsets, items = ragged_take(self.offsets, rows)
        place = {int(row): new for new, row in enumerate(rows.tolist())} if self.reasons else {}
        return replace(
            self,
            **{name: getattr(self, name)[rows] for name in _PER_ROW},
            offsets=offsets,
            masks=self.masks[items],
            reasons={place[row]: reason for row, reason in self.reasons.items() if row in place},
        )

    def with_sets(self, solution: Solution | Answers, rows: IntArray) -> Answers:
        """The same answers with the sets of some rows replaced by the full lists of a solution of just these rows."""
        counts = np.diff(self.offsets)
        counts[rows] = np.diff(solution.offsets)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        masks = np.empty((offsets[-1], self.masks.shape[1]), dtype=np.uint64)
        kept = np.setdiff1d(np.arange(len(self)), rows)
        for chosen, source_offsets, source, numbers in (
            (kept, self.offsets, self.masks, kept),
            (rows, solution.offsets, solution.masks, np.arange(len(rows))),
        ):
            _, places = ragged_take(offsets, chosen)
            _, items = ragged_take(source_offsets, numbers)
            masks[places] = source[items]
        complete, listed = self.complete.copy(), self.listed.copy()
        complete[rows] = solution.complete
        listed[rows] = True
        return replace(self, offsets=offsets, masks=masks, complete=complete, listed=listed)

    @staticmethod
    def concatenate(parts: Sequence[Answers]) -> Answers:
        """Put the answers of consecutive rows together."""
        if len(parts) == 1:
            return parts[0]
        shifts = np.cumsum([0, *(len(part) for part in parts)])
        counts = np.concatenate([np.diff(part.offsets) for part in parts])
        return Answers(
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in _PER_ROW},
            offsets=np.concatenate([[0], np.cumsum(counts)]),
            masks=np.concatenate([part.masks for part in parts]),
            reasons={
                int(shift) + row: reason
                for shift, part in zip(shifts[:-1].tolist(), parts, strict=True)
                for row, reason in part.reasons.items()
            },
        )


_PER_ROW = ("status", "lower_bound", "score", "result_score", "target", "reference", "complete", "listed")
