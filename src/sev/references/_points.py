"""Rows as points in space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sev.references._distance import Distance, joint_values
from sev.typing import Cell, ColumnLabel, FloatArray

#: Values of a category that have a coordinate of their own.
_MOST_VALUES = 30


@dataclass(frozen=True, kw_only=True)
class Points:
    """Rows as points whose distances are those of a :class:`Distance`, for common categories.

    Parameters
    ----------
    distance : Distance
        How far rows are from each other.
    values : tuple of tuple
        For each of the distance's matches, the values that have a coordinate of their own.
    """

    distance: Distance
    values: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, rows: pd.DataFrame, distance: Distance) -> Points:
        """Coordinates for the values that are common in some rows.

        Parameters
        ----------
        rows : DataFrame
            Rows.
        distance : Distance
            How far rows are from each other.

        Returns
        -------
        Points
            How rows become points.
        """
        found = []
        for columns in distance.matches:
            counts: dict[Cell, int] = {}
            for value in joint_values(rows, columns):
                counts[value] = counts.get(value, 0) + 1
            common = sorted(counts, key=lambda value: (-counts[value], repr(value)))[:_MOST_VALUES]
            found.append(tuple(sorted(common, key=repr)))
        return cls(distance=distance, values=tuple(found))

    def transform(self, rows: pd.DataFrame) -> FloatArray:
        """The coordinates of rows.

        Parameters
        ----------
        rows : DataFrame
            Rows.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows, n_coordinates).
        """
        parts = [self.distance.coordinates(rows)]
        for columns, values in zip(self.distance.matches, self.values, strict=True):
            place = {value: number for number, value in enumerate(values)}
            codes = np.array([place.get(value, -1) for value in joint_values(rows, columns)], dtype=np.int64)
            parts.append((codes[:, None] == np.arange(len(values))) / np.sqrt(2.0))
        return np.hstack(parts)

    def column_owners(self) -> tuple[ColumnLabel, ...]:
        """A column of the rows that each coordinate depends on.

        Returns
        -------
        tuple of object
            One column for each coordinate.
        """
        numbers = [one.column for one in self.distance.numbers for _ in range(2)]
        pairs = zip(self.distance.matches, self.values, strict=True)
        return (*numbers, *(columns[0] for columns, values in pairs for _ in values))
