"""Ranges that are enough: every value in them works, with the other changed features anywhere in theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sev.actions import ChoiceDestinations, NumberDestinations
from sev.backends.trees.free.cells import NumberCells
from sev.backends.trees.free.layout import FeatureRows, permitted_ends
from sev.backends.trees.free.problem import CellProblem
from sev.backends.trees.free.solver import FreeTrees, Run
from sev.typing import BoolArray, FloatArray, IntArray

#: Work for the ranges of one set, and walks through the trees for one step of one side.
_WORK, _WALKS = 20_000_000, 500


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranges:
    """Proven ranges of the changed features, one entry a set, beside ``masks`` of a solution.

    Parameters
    ----------
    low, high : ndarray of float64, shape (n_sets, n_features)
        Ends of the closed interval of a number; NaN where there is none. Only permitted values between them count.
    missing : ndarray of bool, shape (n_sets, n_features)
        Whether a missing value works too.
    choices : tuple of dict
        For each set, the choices that work of each changed feature that has choices: places among the choices.
    """

    low: FloatArray
    high: FloatArray
    missing: BoolArray
    choices: tuple[dict[int, tuple[int, ...]], ...]


def find_ranges(trees: FreeTrees, problem: CellProblem, rows: IntArray, sets: BoolArray, targets: FloatArray) -> Ranges:
    """How far the values of each set may be changed further, all at once, without undoing what they do.

    Parameters
    ----------
    trees : FreeTrees
        The model.
    problem : CellProblem
        The problem that was solved.
    rows : ndarray of int, shape (n_sets,)
        The query of each set.
    sets, targets : ndarray of shape (n_sets, n_features)
        Features that cross, and the values that they move to.
    """
    layout = trees.lay_out(problem)
    run = Run(trees, problem, layout)
    at = layout.at[rows]
    points = at.copy()
    for number, one in enumerate(layout.features):
        moved = np.flatnonzero(sets[:, number])
        for place in moved.tolist():
            points[place, number] = _cell_of(one, float(targets[place, number]))
    ordered = np.array([one.is_number for one in layout.features], dtype=np.bool_)
    n_entries = sum(one.cells.n_cells for one in layout.features)
    marks: np.ndarray[Any, np.dtype[np.uint8]] = np.zeros((len(rows), n_entries), dtype=np.uint8)
    if len(rows):
        marks = run.native.grow(
            np.ascontiguousarray(at), layout.costs(rows), np.ascontiguousarray(points), ordered, run.sure, run.limit,
            _WORK, _WALKS, lambda place, cells: run.ask(int(rows[place]), cells),
        )  # fmt: skip
    low, high = np.full(sets.shape, np.nan), np.full(sets.shape, np.nan)
    missing = np.zeros(sets.shape, dtype=np.bool_)
    choices: list[dict[int, tuple[int, ...]]] = [{} for _ in rows]
    for number, (one, inside) in enumerate(zip(layout.features, layout.split(marks != 0), strict=True)):
        for place in np.flatnonzero(sets[:, number]).tolist():
            row, cells = int(rows[place]), inside[place]
            if isinstance(one.cells, NumberCells):
                missing[place, number] = cells[one.cells.missing]
                low[place, number], high[place, number] = _interval(one, row, cells[:-1])
            elif isinstance(one.destinations, ChoiceDestinations):
                works = cells[one.cells.state] & one.destinations.allowed[row]
                choices[place][number] = tuple(np.flatnonzero(works).tolist())
    return Ranges(low=low, high=high, missing=missing, choices=tuple(choices))


def _cell_of(one: FeatureRows, target: float) -> int:
    """The cell of a reported value or choice."""
    if isinstance(one.cells, NumberCells):
        return int(one.cells.locate(np.array([target]))[0])
    if isinstance(one.destinations, ChoiceDestinations):
        return int(one.cells.state[int(target)])
    values = one.cells.values
    assert values is not None
    same = np.isnan(values) if np.isnan(target) else values == target
    return int(one.cells.state[np.flatnonzero(same)[0]])


def _interval(one: FeatureRows, row: int, cells: BoolArray) -> tuple[float, float]:
    """The least and the greatest permitted value of the marked cells."""
    places = np.flatnonzero(cells)
    assert isinstance(one.cells, NumberCells)
    assert isinstance(one.destinations, NumberDestinations)
    if not places.size:
        return float("nan"), float("nan")
    low, high = permitted_ends(one.destinations, one.cells, np.array([row]))
    return float(low[0, places[0]]), float(high[0, places[-1]])
