"""The values that each feature of each query may take in an explanation: its destinations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sev.actions._grid import first_on_grid, last_on_grid, on_grid
from sev.typing import BoolArray, FloatArray, IntArray


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

    choices: tuple[tuple[Any, ...], ...]
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
class Destinations:
    """Permitted values of every feature for the rows of a batch.

    Parameters
    ----------
    features : tuple
        In the order of the features of the space.
    """

    features: tuple[FeatureDestinations, ...]

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
