"""Which reference row each query gets: objects that can be saved, since they hold plain values only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.core import PlainObjects, list_names, warn_user
from sev.exceptions import ReferenceWarning
from sev.references._distance import Distance, NearestRows, NumberColumn
from sev.references._protocol import Assignment
from sev.typing import Cell, ColumnLabel, IntArray, JSONValue, Parsed

if TYPE_CHECKING:
    from sev.references._protocol import Assignment


@dataclass(frozen=True, kw_only=True)
class AssignNearest:
    """The nearest of the reference rows, or several.

    Parameters
    ----------
    distance : Distance
        How far rows are from each other.
    k : int or None, default=1
        How many rows each query is compared with; None: all, nearest first.
    several : bool, default=False
        Whether the result has one column for each of several rows.
    """

    distance: Distance
    k: int | None = 1
    several: bool = False

    @property
    def takes_all(self) -> bool:
        """Whether every query is compared with every reference row."""
        return self.several and self.k is None

    def bind(self, rows: pd.DataFrame) -> Callable[[pd.DataFrame], IntArray]:
        """The assignment to these rows."""
        nearest = NearestRows(rows, self.distance)
        k = len(rows) if self.k is None else self.k
        return lambda queries: nearest.find(queries, k) if self.several else nearest.find(queries)[:, 0]


@dataclass(frozen=True, kw_only=True)
class AssignGroup:
    """The reference rows of the query's group: a value of a column, or an interval of its numbers.

    Parameters
    ----------
    column : object
        The column.
    values : tuple
        The value of each group; empty with edges.
    edges : tuple of float
        Upper ends of all intervals but the last; empty with values.
    first : tuple of int
        Where the reference rows of each group begin; two more groups follow those of the values or intervals, for
        missing and for unknown values.
    inner : tuple
        How a query finds its row among those of its group; None: the first.
    """

    column: ColumnLabel
    values: tuple[Cell, ...]
    edges: tuple[float, ...]
    first: tuple[int, ...]
    inner: tuple[Assignment | None, ...]

    def bind(self, rows: pd.DataFrame) -> Callable[[pd.DataFrame], IntArray]:
        """The assignment to these rows."""
        ends = sorted({*self.first, len(rows)})
        bound = []
        for first, inner in zip(self.first, self.inner, strict=True):
            end = ends[ends.index(first) + 1]
            bound.append(None if inner is None else inner.bind(rows.iloc[first:end].reset_index(drop=True)))
        return lambda queries: self._assign_rows(queries, bound)

    def _assign_rows(self, queries: pd.DataFrame, bound: list[Callable[[pd.DataFrame], IntArray] | None]) -> IntArray:
        groups = self.groups_of(queries)
        numbers: list[tuple[IntArray, IntArray]] = []
        for group in np.unique(groups).tolist():
            some = np.flatnonzero(groups == group)
            if bound[group] is None:
                within = np.zeros((len(some), 1), dtype=np.int64)
            else:
                within = np.asarray(bound[group](queries.iloc[some])).reshape(len(some), -1)
            numbers.append((some, within + self.first[group]))
        width = max((within.shape[1] for _, within in numbers), default=1)
        assigned = np.zeros((len(queries), width), dtype=np.int64)
        for some, within in numbers:
            # fewer rows than in other groups: the last one again, which changes nothing
            assigned[some] = np.pad(within, ((0, 0), (0, width - within.shape[1])), mode="edge")
        return assigned[:, 0] if width == 1 else assigned

    def groups_of(self, queries: pd.DataFrame) -> IntArray:
        """Number of each query's group; values that no background row has are named in a warning."""
        values = queries[self.column]
        missing, unknown = len(self.first) - 2, len(self.first) - 1
        if self.edges:
            numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
            groups = np.searchsorted(np.asarray(self.edges), numbers, side="left").astype(np.int64)
        else:
            groups = np.array([self._number_of.get(value, unknown) for value in values.tolist()], dtype=np.int64)
        groups[values.isna().to_numpy(dtype=bool)] = missing
        strange = values[groups == unknown].drop_duplicates().tolist()
        if strange:
            count = int((groups == unknown).sum())
            warn_user(
                f"{count} row{'s have' if count > 1 else ' has'} a value of {self.column!r} that no background row has "
                f"({list_names(strange, 5)}): compared with the reference of all rows.",
                ReferenceWarning,
            )
        return groups

    @cached_property
    def _number_of(self) -> dict[Cell, int]:
        return {value: number for number, value in enumerate(self.values)}


_OBJECTS = PlainObjects(
    {cls.__name__: cls for cls in (AssignNearest, AssignGroup, Distance, NumberColumn)}, "way to choose a reference row"
)


def assignment_to_plain(value: object, encode: Callable[[Cell], JSONValue]) -> JSONValue:
    """An assignment as lists, mappings and cells; ``encode`` writes a cell.

    Parameters
    ----------
    value : object
        An assignment.
    encode : callable
        Writes a cell.

    Returns
    -------
    object
        Ready for JSON.
    """
    return _OBJECTS.to_plain(value, encode)


def assignment_from_plain(plain: Parsed, decode: Callable[[Parsed], Cell]) -> Assignment:
    """Inverse of :func:`assignment_to_plain`.

    Parameters
    ----------
    plain : object
        What :func:`assignment_to_plain` returned.
    decode : callable
        Reads a cell.

    Returns
    -------
    object
        The assignment.
    """
    return _OBJECTS.from_plain(plain, decode)
