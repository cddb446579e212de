"""The values that each feature of each query may take in an explanation: its destinations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sev.actions._grid import first_on_grid, last_on_grid, on_grid
from sev.typing import BoolArray, Cells, FloatArray, IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class NumberDestinations:
    """Values of one numeric feature that the rows of a batch may move to.

    A value is permitted when it lies in the closed interval from ``low`` to ``high`` and, with a ``step``, on the grid
    ``origin + k * step``. The query's own value is never a destination.

    Parameters
    ----------
    old : ndarray of float64, shape (n_rows,)
        The query's value; NaN where it is missing.
    low, high : ndarray of float64, shape (n_rows,)
        The permitted interval; empty where ``low > high``.
    step : float or None
        Distance of neighbouring permitted values; None where every number is permitted.
    origin : ndarray of float64, shape (n_rows,)
        A point of the grid; ignored without a step.
    missing : ndarray of bool, shape (n_rows,)
        Rows in which the feature may become missing.
    scale : float
        The change that has cost 1: a standard deviation of the background.
    weight : float
        Relative effort. A change costs ``weight * |new - old| / scale``; to or from a missing value, ``weight``.
    """

    old: FloatArray
    low: FloatArray
    high: FloatArray
    step: float | None
    origin: FloatArray
    missing: BoolArray
    scale: float
    weight: float

    def cost(self, row: int, new: FloatArray) -> FloatArray:
        """Cost of moving one row to each of some values.

        Parameters
        ----------
        row : int
            Place of the row.
        new : ndarray of float64
            Values.

        Returns
        -------
        ndarray of float64
            One for each value.
        """
        moved = np.abs(np.asarray(new, dtype=np.float64) - self.old[row]) / self.scale
        return np.where(np.isnan(moved), self.weight, self.weight * moved)

    def ends(self, row: int) -> tuple[float, float]:
        """The smallest and the largest value that one row may move to, or the ends of an interval without a step.

        Parameters
        ----------
        row : int
            Place of the row.

        Returns
        -------
        pair of float
            Both ends.
        """
        low, high = self.low[row : row + 1], self.high[row : row + 1]
        if self.step is None:
            return float(low[0]), float(high[0])
        origin = self.origin[row : row + 1]
        first, last = first_on_grid(low, self.step, origin), last_on_grid(high, self.step, origin)
        return float(on_grid(first, self.step, origin)[0]), float(on_grid(last, self.step, origin)[0])


@dataclass(frozen=True, kw_only=True, eq=False)
class ChoiceDestinations:
    """Values of a feature without an order (categories, booleans, groups of columns) that rows may move to.

    Parameters
    ----------
    choices : tuple of tuple
        Each choice has one value for each column of the feature.
    old : ndarray of int64, shape (n_rows,)
        The query's own choice, -1 where it is not among the choices.
    allowed : ndarray of bool, shape (n_rows, n_choices)
        The choices that each row may move to; never its own.
    weight : float
        Relative effort.
    distances : ndarray of float64, shape (n_rows, n_choices), default=None
        For listed values of a number, how far each is from the query's own, in standard deviations of the background;
        1 to or from a missing value. None: every change costs ``weight``.
    """

    choices: tuple[Cells, ...]
    old: IntArray
    allowed: BoolArray
    weight: float
    distances: FloatArray | None = None

    def costs(self, rows: IntArray) -> FloatArray:
        """Cost of moving some rows to each of the choices, permitted or not; (n_rows, n_choices).

        Parameters
        ----------
        rows : ndarray of int64
            Places of rows.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows, n_choices).
        """
        if self.distances is None:
            return np.full((len(rows), len(self.choices)), self.weight)
        return self.weight * self.distances[rows]


#: None: the feature is frozen in every row.
FeatureDestinations = NumberDestinations | ChoiceDestinations | None


@dataclass(frozen=True, kw_only=True, eq=False)
class NumberTable:
    """The numeric features of a batch as one table: what is done for each of them can be done for all at once.

    Parameters
    ----------
    features : ndarray of int64, shape (n_numbers,)
        Their places among all features.
    old, low, high, origin : ndarray of float64, shape (n_numbers, n_rows)
        As in :class:`NumberDestinations`.
    missing : ndarray of bool, shape (n_numbers, n_rows)
        As there.
    steps : tuple of float or None
        As there, one for each number.
    scale, weight : ndarray of float64, shape (n_numbers,)
        As there.
    """

    features: IntArray
    old: FloatArray
    low: FloatArray
    high: FloatArray
    origin: FloatArray
    missing: BoolArray
    steps: tuple[float | None, ...]
    scale: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, features: Sequence[FeatureDestinations]) -> NumberTable:
        """Read the destinations of features.

        Parameters
        ----------
        features : sequence
            Destinations of one batch.

        Returns
        -------
        NumberTable
            Without the features that are no numbers.
        """
        places = [place for place, one in enumerate(features) if isinstance(one, NumberDestinations)]
        numbers = [one for one in features if isinstance(one, NumberDestinations)]
        n_rows = len(numbers[0].old) if numbers else 0
        tables = [
            np.array([getattr(one, part) for one in numbers], dtype=np.float64).reshape(len(numbers), n_rows)
            for part in ("old", "low", "high", "origin")
        ]
        return cls(
            features=np.array(places, dtype=np.int64),
            old=tables[0],
            low=tables[1],
            high=tables[2],
            origin=tables[3],
            missing=np.array([one.missing for one in numbers], dtype=np.bool_).reshape(len(numbers), n_rows),
            steps=tuple(one.step for one in numbers),
            scale=np.array([one.scale for one in numbers], dtype=np.float64),
            weight=np.array([one.weight for one in numbers], dtype=np.float64),
        )

    def by_step(self) -> dict[float | None, IntArray]:
        """The places in this table of the numbers with each step.

        Returns
        -------
        dict of float or None to ndarray of int64
            By step.
        """
        found: dict[float | None, list[int]] = {}
        for place, step in enumerate(self.steps):
            found.setdefault(step, []).append(place)
        return {step: np.array(places, dtype=np.int64) for step, places in found.items()}


@dataclass(frozen=True, kw_only=True, eq=False)
class Destinations:
    """Permitted values of every feature for the rows of a batch.

    Parameters
    ----------
    features : tuple
        In the order of the features of the space.
    """

    features: tuple[FeatureDestinations, ...]

    @cached_property
    def numbers(self) -> NumberTable:
        """The numeric features side by side."""
        return NumberTable.of(self.features)

    def take(self, rows: IntArray) -> Destinations:
        """Those of some rows.

        Parameters
        ----------
        rows : ndarray of int64
            Places of rows.

        Returns
        -------
        Destinations
            A copy.
        """
        return Destinations(features=tuple(_take_rows(one, rows) for one in self.features))

    def only(self, usable: BoolArray) -> Destinations:
        """The same, with features that stay as they are in some rows.

        Parameters
        ----------
        usable : ndarray of bool, shape (n_rows, n_features)
            Features that each row may change.

        Returns
        -------
        Destinations
            A copy.
        """
        return Destinations(
            features=tuple(_keep_rows(one, mine) for one, mine in zip(self.features, usable.T, strict=True))
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Moves:
    """Where the features of each listed set move to: beside the ``masks`` of a solution, one entry a set.

    Parameters
    ----------
    targets : ndarray of float64, shape (n_sets, n_features)
        The new value of a number (NaN: it becomes missing), or the place of the new value among the choices. Only the
        features of the set have a meaning.
    cost : ndarray of float64, shape (n_sets,)
        The least cost of the set.
    proven_cost : ndarray of bool, shape (n_sets,)
        Whether no other permitted values of the same features cost less and cross.
    """

    targets: FloatArray
    cost: FloatArray
    proven_cost: BoolArray


def _keep_rows(one: FeatureDestinations, rows: BoolArray) -> FeatureDestinations:
    """The same, with nothing permitted in the other rows."""
    if one is None or rows.all():
        return one
    if isinstance(one, ChoiceDestinations):
        return replace(one, allowed=one.allowed & rows[:, None])
    return replace(
        one, low=np.where(rows, one.low, np.inf), high=np.where(rows, one.high, -np.inf), missing=one.missing & rows
    )


def _take_rows(one: FeatureDestinations, rows: IntArray) -> FeatureDestinations:
    if one is None:
        return None
    if isinstance(one, ChoiceDestinations):
        distances = None if one.distances is None else one.distances[rows]
        return replace(one, old=one.old[rows], allowed=one.allowed[rows], distances=distances)
    return replace(
        one,
        old=one.old[rows],
        low=one.low[rows],
        high=one.high[rows],
        origin=one.origin[rows],
        missing=one.missing[rows],
    )
