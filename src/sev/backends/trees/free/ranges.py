"""Ranges that are enough: every value in them works, with the other changed features anywhere in theirs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sev.actions import ChoiceDestinations, NumberDestinations
from sev.backends.trees.free.cells import NumberCells
from sev.backends.trees.free.layout import FeatureRows, permitted_between
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
    changed = np.flatnonzero(sets.any(axis=0)).tolist()
    for number in changed:
        one, moved = layout.features[number], np.flatnonzero(sets[:, number])
        points[moved, number] = _cells_of(one, targets[moved, number])
    ordered = np.array([one.is_number for one in layout.features], dtype=np.bool_)
    marks: NDArray[np.uint8] = np.zeros((len(rows), layout.n_entries), dtype=np.uint8)
    if len(rows):
        marks = run.native.grow(
            np.ascontiguousarray(at), layout.costs_of_sets(rows, sets), np.ascontiguousarray(points), ordered,
            run.sure, run.limit, _WORK, _WALKS, lambda place, cells: run.ask(int(rows[place]), cells),
        )  # fmt: skip
    low, high = np.full(sets.shape, np.nan), np.full(sets.shape, np.nan)
    missing = np.zeros(sets.shape, dtype=np.bool_)
    choices: list[dict[int, tuple[int, ...]]] = [{} for _ in rows]
    parts = layout.split(marks != 0)
    for number in changed:
        one, inside, moved = layout.features[number], parts[number], np.flatnonzero(sets[:, number])
        if isinstance(one.cells, NumberCells):
            missing[moved, number] = inside[moved, one.cells.missing]
            low[moved, number], high[moved, number] = _find_intervals(one, rows[moved], inside[moved, :-1])
        elif isinstance(one.destinations, ChoiceDestinations):
            works = inside[moved][:, one.cells.state] & one.destinations.allowed[rows[moved]]
            for place, mine in zip(moved.tolist(), works, strict=True):
                choices[place][number] = tuple(np.flatnonzero(mine).tolist())
    return Ranges(low=low, high=high, missing=missing, choices=tuple(choices))


def _cells_of(one: FeatureRows, targets: FloatArray) -> IntArray:
    """The cells of reported values or choices."""
    if isinstance(one.cells, NumberCells):
        return one.cells.locate(targets)
    if isinstance(one.destinations, ChoiceDestinations):
        return one.cells.state[targets.astype(np.int64)]
    values = one.cells.values
    assert values is not None
    same = (values == targets[:, None]) | (np.isnan(values) & np.isnan(targets[:, None]))
    return one.cells.state[np.argmax(same, axis=1)]


def _find_intervals(one: FeatureRows, rows: IntArray, cells: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest permitted value of the marked cells of each row; NaN where none is marked."""
    assert isinstance(one.cells, NumberCells)
    mine, lowest, highest = one.destinations, one.cells.lowest, one.cells.highest
    assert isinstance(mine, NumberDestinations)
    first, last = np.argmax(cells, axis=1), cells.shape[1] - 1 - np.argmax(cells[:, ::-1], axis=1)
    low = permitted_between(mine, rows, lowest[first], highest[first])[0]
    high = permitted_between(mine, rows, lowest[last], highest[last])[1]
    some: BoolArray = np.any(cells, axis=1)
    return np.where(some, low, np.nan), np.where(some, high, np.nan)
