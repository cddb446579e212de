"""The cells of every raw feature: values that no tree tells apart.

Numbers whose encoding rises or falls have cells that are intervals of raw values; their ends are found by halving the
ordered list of all floats, through the encoder itself. Everything else (categories, one-hot blocks, groups of columns,
numbers whose encoding turns) has one cell for each kind of value that the trees can tell from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from sev.actions import ChoiceDestinations, Destinations
from sev.backends.free import replace_columns
from sev.backends.trees.free.columns import as_column
from sev.backends.trees.free.splits import ColumnSplits
from sev.space import FeatureSpace
from sev.typing import FloatArray, IntArray

Encode = Callable[[pd.DataFrame], FloatArray]

#: Values at which it is seen whether an encoding rises or falls, beside the ends of the cells that are found.
_GRID = 129
#: Bits of a float.
_MOST_HALVINGS = 66


@dataclass(frozen=True, eq=False)
class NumberCells:
    """Intervals of one number: cell c holds the floats above ``edges[c - 1]`` and up to ``edges[c]``.

    Parameters
    ----------
    edges : ndarray of float
        Rising.
    encoded : ndarray of shape (n_cells, n_columns of the feature)
        What a value of each cell is encoded to; the last one is the missing value's.
    low, high : float
        The values between which the cells are right.
    """

    edges: FloatArray
    encoded: FloatArray
    low: float
    high: float

    @property
    def n_cells(self) -> int:
        """Number of cells, that of missing values included."""
        return len(self.edges) + 2

    @property
    def missing(self) -> int:
        """The cell of missing values."""
        return len(self.edges) + 1

    @cached_property
    def lowest(self) -> FloatArray:
        """The least float of each interval."""
        return np.concatenate([[-np.inf], np.nextafter(self.edges, np.inf)])

    @cached_property
    def highest(self) -> FloatArray:
        """The greatest float of each interval."""
        return np.concatenate([self.edges, [np.inf]])

    def locate(self, values: FloatArray) -> IntArray:
        """The cell of each value."""
        places = np.searchsorted(self.edges, values, side="left")
        return np.where(np.isnan(values), self.missing, places).astype(np.int64)


@dataclass(frozen=True, eq=False)
class StateCells:
    """Cells of a feature without intervals: each value that was encoded belongs to one.

    Parameters
    ----------
    state : ndarray of int, shape (n_values,)
        The cell of each value, in the order in which they were given.
    outcomes : ndarray of int, shape (n_cells, n_parts)
        What the splits make of each cell.
    encoded : ndarray of shape (n_cells, n_columns of the feature)
        What a value of each cell is encoded to.
    values : ndarray of float or None
        The values, where they are numbers.
    """

    state: IntArray
    outcomes: IntArray
    encoded: FloatArray
    values: FloatArray | None = None

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.encoded)


FeatureCells = NumberCells | StateCells


class CellFinder:
    """Finds the cells of features through the encoder.

    Parameters
    ----------
    splits : ColumnSplits
        What the trees ask.
    encode : callable
        Rows of the common form to encoded columns, each of which depends on one feature.
    column_feature : ndarray of int
        The feature of each encoded column.
    space : FeatureSpace
        The raw columns of each feature.
    """

    def __init__(self, splits: ColumnSplits, encode: Encode, column_feature: IntArray, space: FeatureSpace) -> None:
        self._splits = splits
        self._encode = encode
        self._space = space
        tested = np.array([splits.is_tested(column) for column in range(len(column_feature))], dtype=np.bool_)
        self.columns = [np.flatnonzero((column_feature == feature) & tested) for feature in range(len(space))]

    def outcomes(self, feature: int, encoded: FloatArray) -> IntArray:
        """What all splits on a feature make of encoded rows (the columns of the feature only)."""
        parts = [self._splits.outcomes(int(column), encoded[:, at]) for at, column in enumerate(self.columns[feature])]
        return np.concatenate([np.zeros((len(encoded), 1), dtype=np.int64), *parts], axis=1)

    # -- values one by one ---------------------------------------------------------------------------------------------

    def find_states(self, feature: int, values: Sequence[Sequence[Any]], row: pd.DataFrame) -> StateCells:
        """The cells of listed values; each has one entry for each column of the feature."""
        return self.merge(feature, self.encode_values(feature, values, row))

    def add_states(self, feature: int, cells: StateCells, encoded: FloatArray) -> tuple[StateCells, IntArray]:
        """The same cells and one more for each row of encoded columns that belongs to none; the cell of each row."""
        more = self.merge(feature, np.concatenate([cells.encoded, encoded]))
        known, added = more.state[: cells.n_cells], more.state[cells.n_cells :]
        return StateCells(known[cells.state], more.outcomes, more.encoded, cells.values), added

    def encode_values(self, feature: int, values: Sequence[Sequence[Any]], row: pd.DataFrame) -> FloatArray:
        """The columns of a feature for listed values, other features as in a row."""
        frame = row.iloc[np.zeros(len(values), dtype=np.int64)].reset_index(drop=True)
        names = self._space.features[feature].columns
        columns = {name: as_column([value[at] for value in values], row[name].dtype) for at, name in enumerate(names)}
        return self._encode(replace_columns(frame, columns))[:, self.columns[feature]]

    def choice_rows(self, destinations: Destinations, row: pd.DataFrame) -> pd.DataFrame:
        """Rows in which every choice of every feature occurs, the other features as in a row."""
        lists = {
            number: mine.choices
            for number, mine in enumerate(destinations.features)
            if isinstance(mine, ChoiceDestinations) and mine.choices
        }
        height = max((len(choices) for choices in lists.values()), default=1)
        frame = row.iloc[np.zeros(height, dtype=np.int64)].reset_index(drop=True)
        columns = {}
        for number, choices in lists.items():
            for at, name in enumerate(self._space.features[number].columns):
                columns[name] = as_column(
                    [choices[place % len(choices)][at] for place in range(height)], row[name].dtype
                )
        return replace_columns(frame, columns)

    def merge(self, feature: int, encoded: FloatArray) -> StateCells:
        """The cells of rows of encoded columns (those of the feature only)."""
        outcomes = self.outcomes(feature, encoded)
        _, first, state = np.unique(outcomes, axis=0, return_index=True, return_inverse=True)
        # in the order in which they came, so that more values do not move those that are known
        order = np.argsort(first, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        chosen = first[order]
        return StateCells(rank[state.ravel()].astype(np.int64), outcomes[chosen], encoded[chosen])

    # -- intervals -----------------------------------------------------------------------------------------------------

    def find_intervals(
        self, features: Sequence[int], lows: FloatArray, highs: FloatArray, row: pd.DataFrame
    ) -> list[NumberCells | None]:
        """The cells of numbers between two ends, all features at once; None where the encoding turns."""
        probe = _Probe(self, features, row)
        grid = np.linspace(0.0, 1.0, _GRID)[:, None]
        samples = np.clip(lows + grid * (highs - lows), lows, highs)
        encoded = probe.encode(samples)
        wanted: list[tuple[int, int, float, bool]] = []  # place of the feature, its column, threshold, whether it falls
        turns = [False] * len(features)
        for at, feature in enumerate(features):
            for number, column in enumerate(self.columns[feature].tolist()):
                steps = np.diff(encoded[at][:, number])
                rises, falls = bool((steps >= 0).all()), bool((steps <= 0).all())
                if self._splits.has_categories(column) or not (rises or falls):
                    turns[at] = True
                    break
                first, last = encoded[at][[0, -1], number]
                thresholds = self._splits.thresholds[column]
                inside = (thresholds >= min(first, last)) & (thresholds < max(first, last))
                wanted += [(at, number, float(value), not rises) for value in thresholds[inside]]
        wanted = [one for one in wanted if not turns[one[0]]]
        edges = self._find_edges(probe, wanted, lows, highs)
        return [
            None if turns[at] else self._check(feature, at, edges[at], probe, lows, highs)
            for at, feature in enumerate(features)
        ]

    def _find_edges(
        self, probe: _Probe, wanted: list[tuple[int, int, float, bool]], lows: FloatArray, highs: FloatArray
    ) -> list[FloatArray]:
        """The greatest raw value on the near side of each threshold."""
        owner = np.array([one[0] for one in wanted], dtype=np.int64)
        number = np.array([one[1] for one in wanted], dtype=np.int64)
        threshold = np.array([one[2] for one in wanted])
        falls = np.array([one[3] for one in wanted], dtype=np.bool_)
        near, far = _to_ranks(lows[owner]), _to_ranks(highs[owner])

        def is_near(ranks: IntArray) -> Any:
            return (probe.encode_each(owner, number, _from_ranks(ranks)) <= threshold) != falls

        for guess in _guesses(threshold):  # most encoders keep numbers, or round them to float32
            ranks = np.clip(_to_ranks(guess), near, far)
            good = is_near(ranks)
            near, far = np.where(good, np.maximum(near, ranks), near), np.where(good, far, np.minimum(far, ranks))
        for _ in range(_MOST_HALVINGS):
            open_ = far > near + 1
            if not open_.any():
                break
            middle = (near & far) + ((near ^ far) >> 1)  # a difference of ranks may be too large for an integer
            good = is_near(middle)
            near, far = np.where(good & open_, middle, near), np.where(~good & open_, middle, far)
        edges = _from_ranks(near)
        return [np.unique(edges[owner == at]) for at in range(probe.n_features)]

    def _check(
        self, feature: int, at: int, edges: FloatArray, probe: _Probe, lows: FloatArray, highs: FloatArray
    ) -> NumberCells | None:
        """Cells whose ends and middles are all the same to the trees; None when some are not."""
        low, high = float(lows[at]), float(highs[at])
        edges = edges[(edges >= low) & (edges < high)]
        begins = np.concatenate([[low], np.nextafter(edges, np.inf)])
        ends = np.concatenate([edges, [high]])
        middles = begins + 0.5 * (ends - begins)
        encoded = [probe.encode_one(at, values) for values in (begins, middles, ends)]
        outcomes = [self.outcomes(feature, one) for one in encoded]
        if not all(np.array_equal(outcomes[0], other) for other in outcomes[1:]):
            return None
        missing = probe.encode_one(at, np.array([np.nan]), may_fail=True)
        return NumberCells(edges, np.concatenate([encoded[1], missing]), low, high)


class _Probe:
    """Encodes chosen raw values of several numbers in one call."""

    def __init__(self, finder: CellFinder, features: Sequence[int], row: pd.DataFrame) -> None:
        self._finder = finder
        self._features = list(features)
        self._row = row
        self._names = [finder._space.features[feature].columns[0] for feature in features]

    @property
    def n_features(self) -> int:
        return len(self._features)

    def encode(self, values: FloatArray) -> list[FloatArray]:
        """The columns of every feature, for a table of values with one column a feature."""
        frame = self._row.iloc[np.zeros(len(values), dtype=np.int64)].reset_index(drop=True)
        columns = {name: pd.Series(values[:, at]) for at, name in enumerate(self._names)}
        encoded = self._finder._encode(replace_columns(frame, columns))
        return [encoded[:, self._finder.columns[feature]] for feature in self._features]

    def encode_each(self, owner: IntArray, number: IntArray, values: FloatArray) -> FloatArray:
        """One column of one feature for each value: the owners' values stand below each other."""
        place = np.zeros(len(owner), dtype=np.int64)
        for at in range(self.n_features):
            mine = owner == at
            place[mine] = np.arange(int(mine.sum()))
        height = int(place.max(initial=0)) + 1
        table = np.tile(np.zeros(self.n_features), (height, 1))
        table[:] = [values[owner == at][0] if (owner == at).any() else 0.0 for at in range(self.n_features)]
        table[place, owner] = values
        used = [at for at in range(self.n_features) if (owner == at).any()]
        some = _Probe(self._finder, [self._features[at] for at in used], self._row)
        encoded = some.encode(table[:, used])
        out = np.empty(len(owner))
        for at, mine in zip(used, encoded, strict=True):
            chosen = owner == at
            out[chosen] = mine[place[chosen], number[chosen]]
        return out

    def encode_one(self, at: int, values: FloatArray, *, may_fail: bool = False) -> FloatArray:
        """The columns of one feature; NaN where the encoder refuses a value."""
        one = _Probe(self._finder, [self._features[at]], self._row)
        try:
            return one.encode(values[:, None])[0]
        except ValueError:
            if not may_fail:
                raise
            return np.full((len(values), len(self._finder.columns[self._features[at]])), np.nan)


def _guesses(thresholds: FloatArray) -> list[FloatArray]:
    """Raw values that often are the edge: the threshold itself, and the last that is rounded to it in float32; each
    with its neighbour, so that an edge is known on both sides.
    """
    with np.errstate(over="ignore"):
        single = thresholds.astype(np.float32)
        single = np.where(single.astype(np.float64) > thresholds, np.nextafter(single, np.float32(-np.inf)), single)
        following = np.nextafter(single, np.float32(np.inf))
    middle = 0.5 * (single.astype(np.float64) + following.astype(np.float64))
    guesses = [
        thresholds,
        np.nextafter(thresholds, np.inf),
        np.nextafter(middle, -np.inf),
        middle,
        np.nextafter(middle, np.inf),
    ]
    return [np.where(np.isfinite(guess), guess, thresholds) for guess in guesses]


def _to_ranks(values: FloatArray) -> IntArray:
    """Position of each float among all floats."""
    bits = np.asarray(values, dtype=np.float64).view(np.int64)
    return np.where(bits >= 0, bits, -(bits & np.int64(0x7FFF_FFFF_FFFF_FFFF)))


def _from_ranks(ranks: IntArray) -> FloatArray:
    bits = np.where(ranks >= 0, ranks, (-ranks) | np.int64(-0x8000_0000_0000_0000))
    return np.ascontiguousarray(bits).view(np.float64)
