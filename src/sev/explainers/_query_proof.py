"""The reading of a model, compared with the model on the very rows of a call.

A reading is proven on background rows when an explainer is made. Queries may look different: a missing value where
the background has none, a category that it does not hold, a value beyond its range. So every call compares the two
scores of each query, of each reference, of the vertices that answers rest on, and of further vertices: several for each
row that looks different or comes with few others, one for a small share of the rest. The search has met most of these
margins already. Which vertices are compared depends on a row's own values and on how many rows a call has.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sev import _native
from sev.backends import Reading, Scorer
from sev.core import Solution, Status
from sev.explainers._vertices import Vertices
from sev.space import mix_numbers
from sev.typing import BoolArray, FloatArray, IntArray, MaskArray

#: Of the rows that look like the background, one in so many is compared at a vertex that no answer rests on.
_ONE_IN = 16
#: Of the sets of answers, which the model scores in any case, those of one row in so many are compared where their
#: margins have to be computed for it.
_SETS_ONE_IN = 16
_VERTICES_OF_A_STRANGE_ROW = 4
#: A call of few rows compares up to so many further vertices: a model takes little longer for them.
_VERTICES_OF_FEW_ROWS = 16
#: A gap beyond this many tolerances is not rounding: then no row of the kind is trusted to the reading any more.
_ROUNDING = 16.0
_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)


@dataclass
class Doubts:
    """Where a reading and the model were found to differ in one call.

    Parameters
    ----------
    rows : dict of int to str
        Rows that are to be explained without the reading, and why.
    familiar, strange : str
        Why no row that looks like the background, or no row that does not, is trusted to the reading; "" where they
        are.
    """

    rows: dict[int, str] = field(default_factory=dict)
    familiar: str = ""
    strange: str = ""


class QueryProof:
    """Compares reading and model on the vertices of some rows.

    Parameters
    ----------
    reading : Reading
        The model in an exact form.
    scorer : Scorer
        The model's own score of the class.
    vertices : Vertices
        The rows.
    encoded, references : ndarray
        Queries and reference rows in encoded space.
    strange : ndarray of bool, shape (n_queries, n_features)
        Features in which a query holds what no background row does.
    active : ndarray of bool, shape (n_queries, n_features)
        Features that a set may use.
    n_together : int
        Rows of the call, of which these are some.
    """

    def __init__(
        self,
        reading: Reading,
        scorer: Scorer,
        vertices: Vertices,
        encoded: FloatArray,
        references: FloatArray,
        strange: BoolArray,
        active: BoolArray,
        n_together: int,
    ) -> None:
        self._reading = reading
        self._scorer = scorer
        self._vertices = vertices
        self.encoded = encoded
        self._references = references
        self._strange = strange
        self._active = active
        self._n_covering = _VERTICES_OF_FEW_ROWS // max(1, n_together)
        self.doubts = Doubts()

    @cached_property
    def is_strange(self) -> BoolArray:
        """Rows that hold something that no background row does."""
        if not self._strange.any():  # as a rule, and quicker than row by row
            return np.zeros(len(self._strange), dtype=np.bool_)
        strange: BoolArray = np.asarray(self._strange.any(axis=1))
        return strange

    def read_as_positive(self, known: FloatArray | None) -> BoolArray:
        """Rows that the reading calls positive, or nearly so; ``known`` are their margins, where a search met them."""
        margins = self._reading.backend.margins(self.encoded) if known is None else known
        return self._reading.is_nearly_positive(self._scorer, margins)

    # -- comparing -----------------------------------------------------------------------------------------------------

    def compare_queries(self, solution: Solution, scores: FloatArray) -> None:
        """Compare the two scores of every query."""
        known = solution.query_margins
        encoded = self.encoded if known is None else self.encoded[:0]
        wrong = ~(self._reading.gaps(self._scorer, scores, encoded, known) <= 1.0)
        if wrong.any():
            self.refuse(np.flatnonzero(wrong), "the scores read from the model differ from its own")

    def refuse_references(self, wrong: BoolArray) -> None:
        """Trust the reading no more for rows whose reference it scores otherwise than the model."""
        if wrong.any():
            rows = np.flatnonzero(wrong[self._vertices.assigned])
            self.refuse(rows, "the score read from the model differs from its own on the reference")

    def compare_vertices(
        self, rows: IntArray, sets: BoolArray, scores: FloatArray, n_sets: int, margins: FloatArray | None
    ) -> None:
        """Compare the two scores of vertices; a gap that is no rounding casts doubt on all rows of the kind.

        The first ``n_sets`` are those of reported sets, with ``margins`` where the search came by them; where it did
        not, some of these are compared.
        """
        if margins is None:
            chosen = np.ones(len(rows), dtype=np.bool_)
            chosen[:n_sets] = self._chosen_sets(rows[:n_sets])
            rows, sets, scores = rows[chosen], sets[chosen], scores[chosen]
            n_sets = 0
        if len(rows):
            encoded = self._mix_rows(rows[n_sets:], sets[n_sets:])
            self._judge_rows(rows, self._reading.gaps(self._scorer, scores, encoded, margins), scores)

    def _chosen_sets(self, rows: IntArray) -> BoolArray:
        """Reported sets whose margins are worth computing for a comparison."""
        chosen: BoolArray = self.is_strange[rows] | (self._n_covering > 0)
        if not chosen.all():
            chosen |= (self._hashes[rows] >> np.uint64(8)) % np.uint64(_SETS_ONE_IN) == 0
        return chosen

    def refuse(self, rows: IntArray, reason: str) -> None:
        """Trust the reading no more for some rows."""
        for row in rows.tolist():
            self.doubts.rows.setdefault(row, reason)

    def _judge_rows(self, rows: IntArray, gaps: FloatArray, scores: FloatArray) -> None:
        wrong = ~(gaps <= 1.0) & ~np.isnan(scores)
        if not wrong.any():
            return
        reason = "the scores read from the model differ from its own on rows mixed from query and reference"
        self.refuse(np.unique(rows[wrong]), reason)
        far = rows[wrong & ~(gaps <= _ROUNDING)]
        if self.is_strange[far].any():
            self.doubts.strange = reason
        if (~self.is_strange[far]).any():
            self.doubts.familiar = reason

    def _compute_margins(self, rows: IntArray, sets: BoolArray) -> FloatArray:
        return self._reading.backend.margins(self._mix_rows(rows, sets))

    def _mix_rows(self, rows: IntArray, sets: BoolArray) -> FloatArray:
        taken = self._vertices.taken_from_reference(sets)
        column_feature = self._reading.encoding.column_feature
        return mix_numbers(self.encoded, self._references, self._vertices.assigned, rows, taken, column_feature)

    # -- which vertices ------------------------------------------------------------------------------------------------

    def sampled_vertices(self) -> tuple[IntArray, BoolArray]:
        """Vertices to compare, whatever the answers are."""
        strange = self.is_strange
        if self._n_covering:
            parts = [self._covering_sets(row) for row in range(len(strange))]
        else:
            usual = self._select_usable(np.flatnonzero((self._hashes % np.uint64(_ONE_IN) == 0) & ~strange))
            parts = [(usual, self._random_sets(usual, 1)[0])]
        if strange.any():
            odd = self._select_usable(np.flatnonzero(strange))
            # with what is strange in a row left in it: what is imputed for it, or read into it, must not move with the
            # rest
            kept = self._active[odd] & ~self._strange[odd]
            _, some, *others = self._random_sets(odd, _VERTICES_OF_A_STRANGE_ROW)
            parts += [(odd, sets) for sets in (kept, some & kept, *others)]
        if len(parts) == 1:
            return parts[0]
        nothing = np.zeros(0, dtype=np.int64), np.zeros((0, self._active.shape[1]), dtype=np.bool_)
        every_row, every_set = zip(nothing, *parts, strict=True)
        return np.concatenate(every_row), np.concatenate(every_set)

    def compare_encoding(self, rows: IntArray, sets: BoolArray) -> None:
        """Mix strange rows before and after encoding: both must agree, whether or not it shows in the score."""
        if not self.is_strange[rows].any():
            return
        mine = self.is_strange[rows] & ~np.isin(rows, list(self._vertices.failures))
        if not mine.any():
            return
        rows, sets = rows[mine], sets[mine]
        try:
            encoded = self._vertices.apply(self._reading.encoding.encode_native, rows, sets)
        except Exception:  # the model itself takes the row: the reading does not
            self.refuse(np.unique(rows), "its rows cannot be encoded one by one")
            return
        expected = self._mix_rows(rows, sets)
        wrong = ((encoded != expected) & ~(np.isnan(encoded) & np.isnan(expected))).any(axis=1)
        if wrong.any():
            reason = "an encoded column depends on more than one feature in rows unlike the background"
            self.refuse(np.unique(rows[wrong]), reason)
            self.doubts.strange = reason

    def vertices_of_unexplainable(self, solution: Solution) -> tuple[IntArray, BoolArray]:
        """For rows that are claimed to have no set: everything changed, and the best set by the reading."""
        claimed = solution.status == Status.UNEXPLAINABLE.code
        claimed[list(self.doubts.rows)] = False
        rows = self._select_usable(np.flatnonzero(claimed))
        if not rows.size:
            return rows, self._active[:0]
        helpful = self._find_helpful(rows) if solution.helpful is None else solution.helpful[rows]
        return np.concatenate([rows, rows]), np.concatenate([self._active[rows], helpful])

    def _find_helpful(self, rows: IntArray) -> BoolArray:
        """The features that, changed alone, bring the reading's margin nearer to the other side."""
        helpful = np.zeros((len(rows), self._active.shape[1]), dtype=np.bool_)
        place, feature = np.nonzero(self._active[rows])
        alone = np.zeros((len(place), self._active.shape[1]), dtype=np.bool_)
        alone[np.arange(len(place)), feature] = True
        start = self._compute_margins(rows, np.zeros_like(helpful))[place]
        falls = (self._vertices.kind == "minus") == (self._scorer.sign == 1)
        moved = self._compute_margins(rows[place], alone) - start
        helpful[place, feature] = moved < 0 if falls else moved > 0
        return helpful

    @cached_property
    def _hashes(self) -> MaskArray:
        """A number for each row that depends on its encoded values alone."""
        return _native.hash_rows(np.ascontiguousarray(self.encoded, dtype=np.float64))

    def _select_usable(self, rows: IntArray) -> IntArray:
        """Of some rows those with an active feature."""
        return rows[self._active[rows].any(axis=1)]

    def _random_sets(self, rows: IntArray, n_sets: int) -> BoolArray:
        """About half of each row's active features, several times; (n_sets, n_rows, n_features)."""
        features = np.arange(1, self._active.shape[1] + 1, dtype=np.uint64)
        numbers = np.arange(1, n_sets + 1, dtype=np.uint64)
        seeds = self._hashes[rows] + (numbers * _MIX)[:, None]
        bits = _scramble_bits(np.asarray(seeds[:, :, None] + features * _MIX, dtype=np.uint64))
        return self._active[rows] & (bits >> np.uint64(63) == 1)

    def _covering_sets(self, row: int) -> tuple[IntArray, BoolArray]:
        """Sets of which, for any two active features, one has the first only and another the second only.

        Features are numbered in an order that depends on the row; for each bit of these numbers there is the set of
        those that have it and the set of those that have not. A reading that is wrong wherever two features of a row
        come from different sides is found out.
        """
        features = np.flatnonzero(self._active[row])
        order = np.argsort(_scramble_bits(self._hashes[row] + (features + 1).astype(np.uint64) * _MIX))
        numbers = np.empty_like(order)
        numbers[order] = np.arange(len(order))
        n_bits = max(0, len(features) - 1).bit_length()
        sets = np.zeros((2 * n_bits, self._active.shape[1]), dtype=np.bool_)
        has_bit = (numbers >> np.arange(n_bits)[:, None]) & 1 == 1
        sets[0::2, features], sets[1::2, features] = has_bit, ~has_bit
        sets = sets[: self._n_covering]
        return np.full(len(sets), row, dtype=np.int64), sets


def _scramble_bits(numbers: MaskArray) -> MaskArray:
    """Spread numbers over all bits, the same on every machine (the finaliser of splitmix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    return numbers ^ (numbers >> np.uint64(31))
