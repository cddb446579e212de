"""How far sets take rows: for the order of sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.actions import NumberGround
from sev.references import as_numbers
from sev.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from sev.explainers._task import Task

#: Sets that are listed to find the first of them in another order than the search's own.
MOST_ORDERED = 10_000


def feature_distances(task: Task, queries: pd.DataFrame, targets: pd.DataFrame) -> tuple[FloatArray, BoolArray]:
    """How far each feature of each query is from its value in another row: in standard deviations of the background
    for numbers; and which features have no such distance, and count as one change.
    """
    assert task.bound is not None
    far = np.zeros((len(queries), len(task.space)))
    other = np.ones(far.shape, dtype=np.bool_)
    for number, feature in enumerate(task.space.features):
        ground = task.bound.ground.features[number]
        if isinstance(ground, NumberGround):
            [column] = feature.columns
            moved = np.abs(as_numbers(targets[column]) - as_numbers(queries[column])) / ground.scale
            other[:, number] = np.isnan(moved)
            far[:, number] = np.where(other[:, number], 0.0, moved)
    return far, other


def distances_of_sets(
    moves: tuple[FloatArray, BoolArray], owner: IntArray, sets: BoolArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """The largest and the total change of numbers of each set, and its number of other changes."""
    far, other = moves
    chosen = np.where(sets, far[owner], 0.0)
    return chosen.max(axis=1, initial=0.0), chosen.sum(axis=1), (sets & other[owner]).sum(axis=1)
