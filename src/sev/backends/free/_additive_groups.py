"""Rows of additive models whose numbers have all values listed, and others: each row as it would be alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sev.actions import NumberDestinations, grid_ends, on_grid
from sev.backends.free._curves import TermCurve
from sev.backends.free._problem import FreeProblem
from sev.backends.free._shapes import Shape
from sev.core import distinct_rows
from sev.typing import BoolArray, FloatArray, IntArray

#: Values of a row on a grid that are all looked at, where the best is not an end.
_MOST_ON_GRID = 256
#: Entries of a table of the values of some rows.
_MOST_ENTRIES = 4_000_000


def group_alike(problem: FreeProblem, shapes: Mapping[int, Shape], curves: Mapping[int, TermCurve]) -> list[IntArray]:
    """The numbers of rows that are searched together: the same is known of all values of each of their numbers.

    Parameters
    ----------
    problem : FreeProblem
        The rows.
    shapes : mapping of int to Shape
        How the margin depends on each number.
    curves : mapping of int to TermCurve
        Terms of numbers in pieces.
    """
    kinds, grids = [], []
    for number, one in enumerate(problem.destinations.features):
        if not isinstance(one, NumberDestinations) or number not in shapes or shapes[number].kind == "line":
            continue
        low, high, exists = grid_ends(one)
        curve = curves.get(number)
        if curve is not None:
            inside = [curve.covers(*ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]
            kinds.append(np.where(exists, np.array(inside, dtype=np.float64), -1.0))
        if one.step is not None:
            is_listed = _are_few(one)
            kinds += [is_listed.astype(np.float64), np.where(is_listed, one.origin, 0.0)]
            grids.append((one, is_listed))
    everything = np.arange(problem.n_rows)
    if not kinds:
        return [everything]
    kind = distinct_rows(np.column_stack(kinds) + 0.0)[1]
    groups = [np.flatnonzero(kind == one) for one in range(kind.max(initial=-1) + 1)]
    return [part for group in groups for part in _split(group, [one for one, listed in grids if listed[group].all()])]


def _split(rows: IntArray, grids: list[NumberDestinations]) -> list[IntArray]:
    """Rows in parts whose values are few enough together; those next to each other stay together."""
    for one in grids:
        low, high, exists = (end[rows] for end in grid_ends(one))
        if len(rows) < 2 or not exists.any():
            continue
        assert one.step is not None
        if (high[exists].max() - low[exists].min()) / one.step * len(rows) > _MOST_ENTRIES:
            order = np.argsort(np.where(exists, low, -np.inf), kind="stable")
            halves = (rows[np.sort(half)] for half in np.array_split(order, 2))
            return [part for half in halves for part in _split(half, grids)]
    return [rows]


def _are_few(one: NumberDestinations) -> BoolArray:
    """Rows that may take so few values of a grid that all are looked at."""
    assert one.step is not None
    low, high, exists = grid_ends(one)
    few: BoolArray = ~exists | ((np.where(exists, high, 0.0) - np.where(exists, low, 0.0)) / one.step < _MOST_ON_GRID)
    return few


def list_grid(one: NumberDestinations) -> FloatArray | None:
    """All values of a grid that any row may take; None where a row has too many, or the grids differ."""
    low, high, exists = grid_ends(one)
    if one.step is None or not exists.any() or not (one.origin == one.origin[0]).all() or not _are_few(one).all():
        return None
    origin = float(one.origin[0])
    first, last = ((end - origin) / one.step for end in (float(low[exists].min()), float(high[exists].max())))
    return on_grid(np.arange(round(first), round(last) + 1, dtype=np.float64), one.step, origin)
