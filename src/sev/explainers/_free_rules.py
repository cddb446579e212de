"""Rules between features in the search over permitted values: rows whose sets break one are searched again, exactly."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.actions import BoundActions, column_of
from sev.backends import CannotReadError, Reading
from sev.backends.free import AdditiveSearch, FeatureRule, FreeProblem, FreeSolution, JointSearch
from sev.backends.trees.free import TreeSearch
from sev.core import Limits, Solution, Status, unpack
from sev.space import FeatureSpace
from sev.typing import BoolArray, IntArray

if TYPE_CHECKING:
    from sev.explainers._task import Task


def exact_search(task: Task, reading: Reading, space: FeatureSpace) -> AdditiveSearch | TreeSearch | None:
    """The search that proves its answers over all permitted values, for features of the same columns; None where the
    family has none.
    """
    if reading.backend.family in ("linear", "additive") and task.bound is not None:
        observed = {task.space.features[number].columns: values for number, values in task.bound.observed().items()}
        numbers = {
            number: observed[one.columns] for number, one in enumerate(space.features) if one.columns in observed
        }
        return AdditiveSearch(reading, space, task.sample.iloc[:1], numbers)
    return TreeSearch(reading, space) if TreeSearch.takes(reading) else None


def joint_search_of(task: Task) -> JointSearch | None:
    """The search over values that keep rules between features; None where the family has none."""
    search = task.free_search
    if task.reading is None or not isinstance(search, AdditiveSearch | TreeSearch):
        return None
    return JointSearch(task.reading, search, partial(exact_search, task))


def rules_of_features(bound: BoundActions, queries: pd.DataFrame) -> tuple[FeatureRule, ...]:
    """The rules, with the features that they are about and the rows that have to keep them."""
    owner = {column: number for number, one in enumerate(bound.space.features) for column in one.columns}
    found = []
    for rule in bound.rules:
        columns = {name: column_of(bound.space, name) for name in rule.names}
        owners = {name: owner[column] for name, column in columns.items()}
        applies = ~rule.broken(bound.cells(rule, queries))
        found.append(FeatureRule(rule=rule, columns=columns, owners=owners, applies=applies))
    return tuple(found)


def search_again(
    task: Task, problem: FreeProblem, rows: IntArray, found: FreeSolution
) -> tuple[IntArray, FreeSolution]:
    """The answers of rows some of whose sets break a rule, searched over all values that keep the rules.

    Parameters
    ----------
    task : Task
        The class.
    problem : FreeProblem
        All rows.
    rows : ndarray of int
        Those that were searched.
    found : FreeSolution
        Their answers, whether or not they keep the rules, with the changed rows.

    Returns
    -------
    tuple of ndarray of int, FreeSolution
        The rows that could be searched in this way, and their answers, which the model is still to confirm.
    """
    assert problem.keeps_rules is not None
    assert found.results is not None
    solution = found.solution
    owner = np.repeat(np.arange(len(solution)), np.diff(solution.offsets))
    kept = problem.keeps_rules(rows[owner], found.results)
    none_kept = np.setdiff1d(owner[~kept], owner[kept])
    some_kept = np.setdiff1d(owner[~kept], none_kept)
    # where not all sets are listed, those that keep the rules are an answer
    broken = np.union1d(none_kept, some_kept[solution.complete[some_kept]]).astype(np.int64)
    broken = broken[found.complete_values[broken]]
    again = rows[broken]
    if not again.size or task.joint_search is None:
        return again[:0], found.take(broken[:0])
    sets = unpack(solution.masks, len(problem.space))
    by_size = problem.minimise == "features"
    wanted = replace(
        problem.take(again),
        proven={place: int(solution.lower_bound[row]) - 1 for place, row in enumerate(broken.tolist())},
        smallest={
            place: sets[(owner == row) & ~kept]
            for place, row in enumerate(broken.tolist())
            if by_size and solution.complete[row]
        },
    )
    try:
        answered = task.joint_search.solve(wanted, found.keep_sets(kept).take(broken))
    except CannotReadError:
        answered = None
    if answered is None:
        return again[:0], found.take(broken[:0])
    places, answers = answered
    done = np.flatnonzero(_are_decided(answers.solution, problem.limits))
    return again[places[done]], answers.take(done)


def _are_decided(solution: Solution, limits: Limits) -> BoolArray:
    """Rows that no other search has to look at: what could be proven is, or the user's own limit has ended it."""
    proven = np.isin(solution.status, [Status.OPTIMAL.code, Status.UNEXPLAINABLE.code])
    if limits.max_size is not None:
        proven |= (solution.status == Status.UNDECIDED.code) & (solution.lower_bound > limits.max_size)
    if limits.time_limit is not None:
        proven |= solution.status != Status.ERROR.code
    return proven
