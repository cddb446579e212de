"""Ranges that are enough for a network: grown step by step while a bound over the whole box proves them.

A number has a range where its encoded columns are straight lines of it, or where its permitted values can be listed.
Ends are values that occur in the background or that are permitted as such. What cannot be proven is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
import pandas as pd

from sev.actions import ChoiceDestinations, NumberDestinations, permitted_number
from sev.backends._curves import encoded_curves
from sev.backends._links import inner_backend
from sev.backends._reading import Reading
from sev.backends.free._problem import Enough, FreeProblem
from sev.backends.free._rows import move_rows, put_values, replace_columns
from sev.backends.networks import DenseBackend, DenseLayers, bounds_of_margin
from sev.space import FeatureSpace
from sev.typing import BoolArray, FloatArray, IntArray

#: Boxes that are looked at for one step, and for one set.
_BOXES_A_STEP, _BOXES_A_SET = 1_000, 30_000
#: Values of a number that are looked at one by one, and combinations of such values and of choices.
_MOST_LISTED, _MOST_COMBINATIONS = 64, 256


class NetworkRanges:
    """Finds ranges of networks of dense layers.

    Parameters
    ----------
    reading : Reading
        The model.
    space : FeatureSpace
        Which columns belong to which feature.
    row : DataFrame
        One row of the common form.
    """

    def __init__(self, reading: Reading, space: FeatureSpace, row: pd.DataFrame) -> None:
        self._reading = reading
        self._space = space
        self._row = row

    @staticmethod
    def takes(reading: Reading) -> bool:
        """Whether bounds of a model are known."""
        backend = inner_backend(reading.backend)[0]
        return isinstance(backend, DenseBackend) and all(one.lines is not None for one in backend.layers.activations)

    def find(self, problem: FreeProblem, row: int, chosen: BoolArray, targets: FloatArray) -> dict[int, Enough]:
        """The values of the features of one set that do, by number of the feature.

        Parameters
        ----------
        problem : FreeProblem
            The problem.
        row : int
            The row.
        chosen, targets : ndarray of shape (n_features,)
            The features that move, and where to.
        """
        moved = move_rows(
            problem.queries, problem.space, problem.destinations, np.array([row]), chosen[None, :], targets[None, :]
        )
        base = self.encode(moved)[0]
        features = {
            number: one
            for number in np.flatnonzero(chosen).tolist()
            for one in [self._encode_range(problem, number, row, float(targets[number]))]
            if one is not None
        }
        backend, sign = inner_backend(self._reading.backend)
        assert isinstance(backend, DenseBackend)
        sign, limit = (sign, problem.low) if problem.direction < 0 else (-sign, -problem.high)
        growth = _Growth(backend.layers.times(float(sign)), limit, base, features)
        return growth.run()

    def encode(self, frame: pd.DataFrame) -> FloatArray:
        """Rows in the columns of the network."""
        return self._reading.encoding.encode(frame)

    @cached_property
    def _straight(self) -> frozenset[int]:
        """Numbers whose encoded columns are all straight lines of them."""
        dtypes = [self._row[name].dtype for name in self._row.columns]
        known = encoded_curves(self._reading, [isinstance(one, np.dtype) and one.kind in "fiu" for one in dtypes])
        if known is None:
            return frozenset()
        owners = self._reading.encoding.column_feature
        found = []
        for number, feature in enumerate(self._space.features):
            if len(feature.columns) > 1:
                continue
            place = list(self._row.columns).index(feature.columns[0])
            mine = [known[at] for at in np.flatnonzero(owners == number)]
            others = [known[at] for at in np.flatnonzero(owners != number)]
            if all(one is not None and one.is_affine and one.source == place for one in mine) and not any(
                one is not None and one.source == place for one in others
            ):
                found.append(number)
        return frozenset(found)

    def _encode_range(self, problem: FreeProblem, number: int, row: int, target: float) -> _Feature | None:
        """What a feature may become, encoded; None where it has no range."""
        one = problem.destinations.features[number]
        columns = np.flatnonzero(self._reading.encoding.column_feature == number)
        if isinstance(one, ChoiceDestinations):
            places = np.flatnonzero(one.allowed[row])
            cells = [one.choices[place] for place in places.tolist()]
            codes = self._encode_values(number, cells)[:, columns]
            return _Feature(columns, places.astype(np.float64), codes, int(np.flatnonzero(places == target)[0]), "any")
        if not isinstance(one, NumberDestinations) or np.isnan(target):
            return None
        values = permitted_number(one, row, _MOST_LISTED)
        straight = number in self._straight
        if values is None:
            if not straight:
                return None
            low, high = one.ends(row)
            wanted = np.concatenate([[low, high, target], problem.observed.get(number, np.zeros(0))])
            near = permitted_number(one, row, _MOST_LISTED, wanted=wanted[(wanted >= low) & (wanted <= high)])
            values = np.unique(np.append(np.zeros(0) if near is None else near, target))
        [same] = np.nonzero(values == target)
        if not same.size:
            return None
        codes = self._encode_values(number, [(value,) for value in values.tolist()])[:, columns]
        return _Feature(columns, values, codes, int(same[0]), "line" if straight else "run")

    def _encode_values(self, number: int, cells: list[tuple[object, ...]]) -> FloatArray:
        frame = self._row.iloc[np.zeros(len(cells), dtype=np.int64)].reset_index(drop=True)
        everywhere = np.ones(len(cells), dtype=np.bool_)
        columns = {
            column: put_values(frame[column], everywhere, [cell[place] for cell in cells])
            for place, column in enumerate(self._space.features[number].columns)
        }
        return self.encode(replace_columns(frame, columns))


class _Feature:
    """One feature of a set, and the part of its values that is proven so far.

    Parameters
    ----------
    columns : ndarray of int
        Its encoded columns.
    values, codes : ndarray of shape (n_values,) and (n_values, n_columns)
        Its values, rising where they are numbers, or places of choices; and the same encoded.
    at : int
        Place of the value that was chosen.
    kind : {"line", "run", "any"}
        Whether all numbers between two values may be taken, only the listed values between them, or listed choices.
    """

    def __init__(self, columns: IntArray, values: FloatArray, codes: FloatArray, at: int, kind: str) -> None:
        self.columns, self.values, self.codes, self.kind = columns, values, codes, kind
        self.places = [at]  # first and last of numbers, all of choices
        self.rises = codes[-1] >= codes[0]

    def steps(self) -> Iterator[int]:
        """Ways in which the part may grow: sides of a number, choices."""
        if self.kind == "any":
            yield from (place for place in range(len(self.values)) if place not in self.places)
        else:
            yield from (-1, 1)

    def beyond(self, step: int, width: int) -> list[int] | None:
        """The places that so wide a step adds, from where the part ends; None beyond the last value."""
        if self.kind == "any":
            return [step] if width == 1 and step not in self.places else None
        end = self.places[0] if step < 0 else self.places[-1]
        to = end + step * width
        if not 0 <= to < len(self.values):
            return None
        return [min(end, to), max(end, to)]

    def take(self, step: int, added: list[int]) -> None:
        """Make what was added part of it."""
        if self.kind == "any":
            self.places += added
        else:
            self.places = [min(self.places[0], added[0]), max(self.places[-1], added[-1])]

    def boxes(self, places: list[int]) -> list[tuple[FloatArray, FloatArray]]:
        """Encoded ends of the parts that some places stand for."""
        if self.kind == "line":
            ends = self.codes[[places[0], places[-1]]]
            return [(ends.min(axis=0), ends.max(axis=0))]
        listed = range(places[0], places[-1] + 1) if self.kind == "run" else places
        return [(self.codes[place], self.codes[place]) for place in listed]

    def enough(self) -> Enough:
        """The proven values."""
        if self.kind == "any":
            return frozenset(int(self.values[place]) for place in self.places)
        return float(self.values[self.places[0]]), float(self.values[self.places[-1]])


class _Growth:
    """The ranges of one set."""

    def __init__(self, layers: DenseLayers, limit: float, base: FloatArray, features: Mapping[int, _Feature]) -> None:
        self._layers, self._limit, self._base, self._features = layers, limit, base, features
        self._left = _BOXES_A_SET

    def run(self) -> dict[int, Enough]:
        """Grow all features in turn, by steps that double while they are proven and halve where they are not."""
        if not self._features or not self._is_proven({}):
            return {}
        widths = {(number, step): 1 for number, one in self._features.items() for step in one.steps()}
        grows = set(widths)
        while widths:
            for (number, step), width in list(widths.items()):
                feature = self._features[number]
                added = feature.beyond(step, width)
                if added is not None and self._is_proven({number: added}):
                    feature.take(step, added)
                    if (number, step) in grows:
                        widths[number, step] = 2 * width
                    continue
                grows.discard((number, step))
                if width == 1:
                    del widths[number, step]
                else:
                    widths[number, step] = width // 2
        return {number: one.enough() for number, one in self._features.items()}

    def _is_proven(self, instead: Mapping[int, list[int]]) -> bool:
        """Whether every point of the box crosses, with other places of one feature."""
        parts = [one.boxes(instead.get(number, one.places)) for number, one in self._features.items()]
        if prod(map(len, parts)) > _MOST_COMBINATIONS:
            return False
        low, high = [], []
        for some in product(*parts):
            low.append(self._base.copy())
            high.append(self._base.copy())
            for one, (first, last) in zip(self._features.values(), some, strict=True):
                low[-1][one.columns], high[-1][one.columns] = first, last
        return self._all_below(np.array(low), np.array(high))

    def _all_below(self, low: FloatArray, high: FloatArray) -> bool:
        """Whether bounds, of the boxes or of their parts, show that all margins are below the limit."""
        looked_at = 0
        while len(low):
            looked_at += len(low)
            self._left -= len(low)
            if looked_at > _BOXES_A_STEP or self._left < 0:
                return False
            bounds = bounds_of_margin(self._layers, low, high)
            assert bounds is not None
            open_ = ~(bounds < self._limit)
            low, high = low[open_], high[open_]
            middle = low + (high - low) / 2
            if len(low) and not (self._layers.margins(middle) < self._limit).all():
                return False
            if len(low) and not (high > low).any(axis=1).all():
                return False  # a point, too near to the limit
            low, high = self._halve_boxes(low, high, middle)
        return True

    def _halve_boxes(self, low: FloatArray, high: FloatArray, middle: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Each box parted at the middle of the feature that moves the first layer most."""
        weight = np.abs(self._layers.weights[0]).sum(axis=1)
        features = list(self._features.values())
        widths = np.column_stack([((high - low)[:, one.columns] * weight[one.columns]).sum(axis=1) for one in features])
        widest = np.argmax(widths, axis=1)
        first, second = [low.copy(), high.copy()], [low.copy(), high.copy()]
        # columns of one number meet their middles together, but for rounding
        blur = 4.0 * np.finfo(np.float64).eps * (np.abs(low) + np.abs(high))
        for place, one in enumerate(features):
            mine = np.flatnonzero(widest == place)[:, None]
            for columns, ends in ((one.columns[one.rises], (1, 0)), (one.columns[~one.rises], (0, 1))):
                for half, end in zip((first, second), ends, strict=True):
                    cut = middle + blur if end else middle - blur
                    inside = np.minimum(cut, high) if end else np.maximum(cut, low)
                    half[end][mine, columns] = inside[mine, columns]
        return np.concatenate([first[0], second[0]]), np.concatenate([first[1], second[1]])
