"""The cells of every raw feature: values that no tree tells apart.

Numbers whose encoding rises or falls have cells that are intervals of raw values; their ends are found by dividing the
ordered list of all floats, through the encoder itself. Everything else (categories, one-hot blocks, groups of columns,
numbers whose encoding turns) has one cell for each kind of value that the trees can tell from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from sev.actions import ChoiceDestinations, Destinations
from sev.backends.free import replace_columns
from sev.backends.trees.free.columns import as_column
from sev.backends.trees.free.splits import ColumnSplits
from sev.space import FeatureSpace
from sev.typing import Cells, FloatArray, IntArray

Encode = Callable[[pd.DataFrame], FloatArray]

#: Values at which it is seen whether an encoding rises or falls, beside the ends of the cells that are found.
_GRID = 129
#: Parts into which the floats that may be an edge are divided again and again, with one call of the encoder each time.
_PARTS = 16


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
        self._no_states = [
            StateCells(np.zeros(0, dtype=np.int64), np.zeros((0, 1), dtype=np.int64), np.zeros((0, len(columns))))
            for columns in self.columns
        ]

    def outcomes(self, feature: int, encoded: FloatArray) -> IntArray:
        """What all splits on a feature make of encoded rows (the columns of the feature only)."""
        parts = [self._splits.outcomes(int(column), encoded[:, at]) for at, column in enumerate(self.columns[feature])]
        return np.concatenate([np.zeros((len(encoded), 1), dtype=np.int64), *parts], axis=1)

    # -- values one by one ---------------------------------------------------------------------------------------------

    def no_states(self, feature: int) -> StateCells:
        """The cells of no values; the same object each time."""
        return self._no_states[feature]

    def find_states(self, feature: int, values: Sequence[Cells], row: pd.DataFrame) -> StateCells:
        """The cells of listed values; each has one entry for each column of the feature."""
        return self.merge(feature, self.encode_values(feature, values, row))

    def add_states(self, feature: int, cells: StateCells, encoded: FloatArray) -> tuple[StateCells, IntArray]:
        """The same cells and one more for each row of encoded columns that belongs to none; the cell of each row."""
        more = self.merge(feature, np.concatenate([cells.encoded, encoded]))
        known, added = more.state[: cells.n_cells], more.state[cells.n_cells :]
        return StateCells(known[cells.state], more.outcomes, more.encoded, cells.values), added

    def encode_values(self, feature: int, values: Sequence[Cells], row: pd.DataFrame) -> FloatArray:
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
        self, ends: Mapping[int, tuple[float, float]], row: pd.DataFrame
    ) -> dict[int, NumberCells | None]:
        """The cells of numbers between two ends, all features at once; None where the encoding turns."""
        features = list(ends)
        lows, highs = np.array(list(ends.values()), dtype=np.float64).T
        probe = _Probe(self, features, row)
        grid = np.linspace(0.0, 1.0, _GRID)[:, None]
        samples = np.clip(lows + grid * (highs - lows), lows, highs)
        encoded = probe.encode(samples)
        wanted: list[_Threshold] = []
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
                wanted += [_Threshold(at, number, value, not rises) for value in thresholds[inside]]
        wanted = [one for one in wanted if not turns[one.owner]]
        edges = self._find_edges(probe, wanted, lows, highs)
        return dict(zip(features, self._check_cells(features, turns, edges, probe, lows, highs), strict=True))

    def _find_edges(
        self, probe: _Probe, wanted: list[_Threshold], lows: FloatArray, highs: FloatArray
    ) -> list[FloatArray]:
        """The greatest raw value on the near side of each threshold."""
        owner = np.array([one.owner for one in wanted], dtype=np.int64)
        number = np.array([one.number for one in wanted], dtype=np.int64)
        threshold = np.array([one.value for one in wanted], dtype=np.float64)
        falls = np.array([one.falls for one in wanted], dtype=np.bool_)
        near, far = _to_ranks(lows[owner]), _to_ranks(highs[owner])

        def narrow(ranks: IntArray) -> tuple[IntArray, IntArray]:
            """Both sides after some values of each threshold, (n_values, n_thresholds), were encoded in one call."""
            ranks = np.clip(ranks, near, far)
            owners, numbers = (np.tile(one, len(ranks)) for one in (owner, number))
            encoded = probe.encode_each(owners, numbers, _from_ranks(ranks).ravel()).reshape(ranks.shape)
            good = (encoded <= threshold) != falls
            return (
                np.maximum(near, np.where(good, ranks, near).max(axis=0)),
                np.minimum(far, np.where(good, far, ranks).min(axis=0)),
            )

        if wanted:  # most encoders keep numbers, or round them to float32
            near, far = narrow(np.array([_to_ranks(guess) for guess in _guess_edges(threshold)]))
        while (far > near + 1).any():
            # a difference of ranks may be too large for an integer with a sign
            width = (far.astype(np.uint64) - near.astype(np.uint64)) // np.uint64(_PARTS)
            steps = np.maximum(width, np.uint64(1)) * np.arange(1, _PARTS, dtype=np.uint64)[:, None]
            near, far = narrow((near.astype(np.uint64) + steps).astype(np.int64))
        edges = _from_ranks(near)
        return [np.unique(edges[owner == at]) for at in range(probe.n_features)]

    def _check_cells(
        self,
        features: Sequence[int],
        turns: list[bool],
        edges: list[FloatArray],
        probe: _Probe,
        lows: FloatArray,
        highs: FloatArray,
    ) -> list[NumberCells | None]:
        """Cells whose ends and middles are all the same to the trees; None when some are not, or an encoding turns."""
        edges = [one[(one >= low) & (one < high)] for one, low, high in zip(edges, lows, highs, strict=True)]
        begins = [np.concatenate([[low], np.nextafter(one, np.inf)]) for one, low in zip(edges, lows, strict=True)]
        ends = [np.concatenate([one, [high]]) for one, high in zip(edges, highs, strict=True)]
        middles = [begin + 0.5 * (end - begin) for begin, end in zip(begins, ends, strict=True)]
        encoded = [probe.encode_lists(values) for values in (begins, middles, ends)]
        missing = probe.encode_missing()
        found: list[NumberCells | None] = []
        for at, feature in enumerate(features):
            outcomes = [self.outcomes(feature, one[at]) for one in encoded]
            same = not turns[at] and all(np.array_equal(outcomes[0], other) for other in outcomes[1:])
            cells = NumberCells(
                edges[at], np.concatenate([encoded[1][at], missing[at]]), float(lows[at]), float(highs[at])
            )
            found.append(cells if same else None)
        return found


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

    def encode_lists(self, values: list[FloatArray]) -> list[FloatArray]:
        """The columns of every feature for a list of values of each."""
        height = max(len(one) for one in values)
        table = np.column_stack([np.concatenate([one, np.full(height - len(one), one[-1])]) for one in values])
        return [encoded[: len(one)] for encoded, one in zip(self.encode(table), values, strict=True)]

    def encode_missing(self) -> list[FloatArray]:
        """The columns of every feature for a missing value; NaN where the encoder refuses it."""
        try:
            return self.encode(np.full((1, self.n_features), np.nan))
        except ValueError:
            if self.n_features > 1:
                ones = (_Probe(self._finder, [feature], self._row) for feature in self._features)
                return [one.encode_missing()[0] for one in ones]
            return [np.full((1, len(self._finder.columns[self._features[0]])), np.nan)]


class _Threshold(NamedTuple):
    """A threshold of the trees on an encoded column of a number."""

    owner: int  # place of the feature
    number: int  # of the column among those of the feature
    value: float
    falls: bool  # whether the column falls when the number rises


def _guess_edges(thresholds: FloatArray) -> list[FloatArray]:
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
