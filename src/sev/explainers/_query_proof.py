"""The reading of a model, compared with the model on the very rows of a call.

A reading is proven on background rows when an explainer is made. Queries may look different: a missing value where
the background has none, a category that it does not hold, a value beyond its range. So every call compares the two
scores of each query, of vertices that answers rest on, and of further vertices: several for each row that looks
different, one for a small share of the others. Which rows and which vertices depends on a row's own values alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from sev.backends import Reading, Scorer
from sev.core import Solution, Status
from sev.explainers._vertices import Vertices
from sev.space import FeatureSpace, is_quantity
from sev.typing import BoolArray, FloatArray, IntArray

#: Of the rows that look like the background, one in so many is compared at a vertex that no answer rests on.
_ONE_IN = 16
#: Of the sets of answers, which the model scores in any case, those of one row in so many are compared.
_SETS_ONE_IN = 16
_VERTICES_OF_A_STRANGE_ROW = 4
#: A gap beyond this many tolerances is not rounding: then no row of the kind is trusted to the reading any more.
_ROUNDING = 16.0
#: Up to so many values, a loop is quicker than pandas.
_FEW = 8
_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)


class Familiar:
    """What the background's columns hold: the range of numbers, the other values, and whether any are missing.

    Parameters
    ----------
    sample : DataFrame
        Background rows that hold every extreme and category (see ``backends/_sampling.py``).
    space : FeatureSpace
        Which columns belong to which feature.
    """

    def __init__(self, sample: pd.DataFrame, space: FeatureSpace) -> None:
        self._space = space
        self._columns = list(sample.columns)
        self._missing = sample.isna().any(axis=0).to_numpy()
        self._numeric = np.array(
            [is_quantity(dtype) and getattr(dtype, "kind", "O") in "fiu" for dtype in sample.dtypes]
        )
        self._low = np.full(len(self._columns), -np.inf)
        self._high = np.full(len(self._columns), np.inf)
        self._values: dict[int, frozenset[Any]] = {}
        for number, name in enumerate(self._columns):
            present = sample[name].dropna()
            if self._numeric[number]:
                if len(present):
                    self._low[number], self._high[number] = float(present.min()), float(present.max())
            elif not is_quantity(sample[name].dtype):
                self._values[number] = frozenset(present)

    def strange_features(self, queries: pd.DataFrame) -> BoolArray:
        """Features in which a query holds what no background row does; (n_queries, n_features)."""
        strange = np.zeros((len(queries), len(self._columns)), dtype=np.bool_)
        plain = np.array([isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in queries.dtypes.array])
        together = np.flatnonzero(plain & self._numeric)
        if together.size:
            some = queries if together.size == len(self._columns) else queries.iloc[:, together]
            self._mark_numbers(some.to_numpy(dtype=np.float64), together, strange)
        for number in np.flatnonzero(~(plain & self._numeric)).tolist():
            self._mark_column(queries.iloc[:, number], number, strange)
        return self._space.by_feature(strange)

    def _is_strange(self, value: Any, number: int) -> bool:
        if pd.isna(value):
            return not self._missing[number]
        if self._numeric[number] and isinstance(value, (int, float, np.number)):
            return not self._low[number] <= value <= self._high[number]
        known = self._values.get(number)
        return known is not None and value not in known

    def _mark_numbers(self, numbers: FloatArray, columns: IntArray, strange: BoolArray) -> None:
        beyond = (numbers < self._low[columns]) | (numbers > self._high[columns])
        strange[:, columns] = beyond | (np.isnan(numbers) & ~self._missing[columns])

    def _mark_column(self, values: pd.Series, number: int, strange: BoolArray) -> None:
        if len(values) <= _FEW:
            strange[:, number] = np.array([self._is_strange(value, number) for value in values], dtype=np.bool_)
            return
        missing = values.isna().to_numpy()
        if not self._missing[number]:
            strange[:, number] = missing
        known = self._values.get(number)
        if known is None:
            return
        if isinstance(values.dtype, pd.CategoricalDtype):
            unknown = np.array([*(value not in known for value in values.cat.categories), False], dtype=np.bool_)
            strange[:, number] |= unknown[values.cat.codes.to_numpy()]
        else:
            fresh = [value for value in values.unique() if value not in known and not pd.isna(value)]
            if fresh:
                strange[:, number] |= values.isin(fresh).to_numpy(dtype=np.bool_) & ~missing


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
    ) -> None:
        self._reading = reading
        self._scorer = scorer
        self._vertices = vertices
        self.encoded = encoded
        self._references = references
        self._strange = strange
        self._active = active
        self.doubts = Doubts()

    @cached_property
    def is_strange(self) -> BoolArray:
        """Rows that hold something that no background row does."""
        strange: BoolArray = np.asarray(self._strange.any(axis=1))
        return strange

    # -- comparing -----------------------------------------------------------------------------------------------------

    def compare_queries(self, scores: FloatArray) -> None:
        """Compare the two scores of every query."""
        gaps = self._gaps(self._reading.backend.margins(self.encoded), scores)
        for row in np.flatnonzero(~(gaps <= 1.0)).tolist():
            self.doubts.rows[row] = "the scores read from the model differ from its own"

    def compare_references(self, scores: FloatArray) -> None:
        """Compare the two scores of every reference row; rows that are compared with one that differs are refused."""
        gaps = self._gaps(self._reading.backend.margins(self._references), scores)
        for reference in np.flatnonzero(~(gaps <= 1.0)).tolist():
            rows = np.flatnonzero(self._vertices.assigned == reference)
            self.refuse(rows, "the score read from the model differs from its own on the reference")

    def compare(self, rows: IntArray, sets: BoolArray, scores: FloatArray, *, share: bool = False) -> None:
        """Compare the two scores of vertices; a gap that is no rounding casts doubt on all rows of the kind.

        With ``share``, of the rows that look like the background only some are compared.
        """
        if share:
            chosen = self.is_strange[rows] | ((self._hashes[rows] >> np.uint64(8)) % np.uint64(_SETS_ONE_IN) == 0)
            rows, sets, scores = rows[chosen], sets[chosen], scores[chosen]
        if len(rows):
            self._judge(rows, self._gaps(self._margins(rows, sets), scores), scores)

    def refuse(self, rows: IntArray, reason: str) -> None:
        """Trust the reading no more for some rows."""
        for row in rows.tolist():
            self.doubts.rows.setdefault(row, reason)

    def _judge(self, rows: IntArray, gaps: FloatArray, scores: FloatArray) -> None:
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

    def _gaps(self, margins: FloatArray, scores: FloatArray) -> FloatArray:
        """How far the scores are apart, in tolerances."""
        theirs = _score_of_second_class(self._scorer, scores)
        with np.errstate(over="ignore", invalid="ignore"):
            ours = self._reading.scores(margins)
            return np.abs(ours - theirs) / np.maximum(1.0, np.abs(theirs)) / self._reading.backend.score_tolerance

    def _margins(self, rows: IntArray, sets: BoolArray) -> FloatArray:
        return self._reading.backend.margins(self._mixed(rows, sets))

    def _mixed(self, rows: IntArray, sets: BoolArray) -> FloatArray:
        taken = self._vertices.taken_from_reference(sets)[:, self._reading.encoding.column_feature]
        others = self._references if len(self._references) == 1 else self._references[self._vertices.assigned[rows]]
        return np.where(taken, others, self.encoded[rows])

    # -- which vertices ------------------------------------------------------------------------------------------------

    def sampled_vertices(self) -> tuple[IntArray, BoolArray]:
        """Vertices to compare, whatever the answers are."""
        strange = self.is_strange
        usable = self._active.any(axis=1)
        usual = np.flatnonzero((self._hashes % np.uint64(_ONE_IN) == 0) & ~strange & usable)
        if not strange.any():
            return usual, self._random_sets(usual, 0)
        odd = np.flatnonzero(strange & usable)
        # with what is strange in a row left in it: what is imputed for it, or read into it, must not move with the rest
        kept = self._active[odd] & ~self._strange[odd]
        parts = [(usual, self._random_sets(usual, 0)), (odd, kept)]
        for number in range(1, _VERTICES_OF_A_STRANGE_ROW):
            sets = self._random_sets(odd, number)
            parts.append((odd, sets & kept if number == 1 else sets))
        return np.concatenate([rows for rows, _ in parts]), np.concatenate([sets for _, sets in parts])

    def compare_encoding(self, rows: IntArray, sets: BoolArray) -> None:
        """Mix strange rows before and after encoding: both must agree, whether or not it shows in the score."""
        mine = self.is_strange[rows] & ~np.isin(rows, list(self._vertices.failures))
        if not mine.any():
            return
        rows, sets = rows[mine], sets[mine]
        try:
            encoded = self._vertices.apply(self._reading.encoding.encode_native, rows, sets)
        except Exception:  # the model itself takes the row: the reading does not
            self.refuse(np.unique(rows), "its rows cannot be encoded one by one")
            return
        expected = self._mixed(rows, sets)
        wrong = ((encoded != expected) & ~(np.isnan(encoded) & np.isnan(expected))).any(axis=1)
        if wrong.any():
            reason = "an encoded column depends on more than one feature in rows unlike the background"
            self.refuse(np.unique(rows[wrong]), reason)
            self.doubts.strange = reason

    def vertices_of_unexplainable(self, solution: Solution) -> tuple[IntArray, BoolArray]:
        """For rows that no set is said to take across: everything changed, and what the reading holds for the best."""
        rows = np.flatnonzero((solution.status == Status.UNEXPLAINABLE.code) & self._active.any(axis=1))
        everything = self._active[rows]
        return np.concatenate([rows, rows]), np.concatenate([everything, self._helpful(rows)])

    def _helpful(self, rows: IntArray) -> BoolArray:
        """The features that, changed alone, bring the reading's margin nearer to the other side."""
        helpful = np.zeros((len(rows), self._active.shape[1]), dtype=np.bool_)
        place, feature = np.nonzero(self._active[rows])
        if not len(place):
            return helpful
        alone = np.zeros((len(place), self._active.shape[1]), dtype=np.bool_)
        alone[np.arange(len(place)), feature] = True
        start = self._margins(rows, np.zeros_like(helpful))[place]
        falls = (self._vertices.kind == "minus") == (self._scorer.sign == 1)
        moved = self._margins(rows[place], alone) - start
        helpful[place, feature] = moved < 0 if falls else moved > 0
        return helpful

    @cached_property
    def _hashes(self) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """A number for each row that depends on its encoded values alone."""
        values = np.ascontiguousarray(self.encoded + 0.0)  # -0.0 and 0.0 are one value
        values[np.isnan(values)] = np.nan
        factors = _scramble(np.arange(1, values.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
        with np.errstate(over="ignore"):
            products: np.ndarray[Any, np.dtype[np.uint64]] = values.view(np.uint64) * factors
            sums: np.ndarray[Any, np.dtype[np.uint64]] = np.asarray(products.sum(axis=1))
            return _scramble(sums)

    def _random_sets(self, rows: IntArray, number: int) -> BoolArray:
        """About half of each row's active features."""
        features = np.arange(1, self._active.shape[1] + 1, dtype=np.uint64)
        with np.errstate(over="ignore"):
            seeds = self._hashes[rows] + np.uint64(number + 1) * _MIX
            bits = _scramble(np.asarray(seeds[:, None] + features[None, :] * _MIX, dtype=np.uint64))
        return self._active[rows] & (bits >> np.uint64(63) == 1)


def _score_of_second_class(scorer: Scorer, scores: FloatArray) -> FloatArray:
    """Scores of the class being explained, as scores of the second of two classes."""
    if scorer.sign == 1:
        return scores
    return -scores if scorer.response == "decision_function" else 1.0 - scores


def _scramble(numbers: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Spread numbers over all bits, the same on every machine (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
        numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
        return numbers ^ (numbers >> np.uint64(31))
