"""The values of one feature that are scored to learn what it can do alone, and how many values each stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from sev.actions import Destinations, FeatureDestinations, NumberDestinations, first_on_grid, last_on_grid
from sev.backends import CannotReadError
from sev.backends.free import FreeProblem, candidates_of
from sev.backends.trees.free import Permitted, TreeSearch, permitted_within
from sev.typing import FloatArray

if TYPE_CHECKING:
    from sev.explainers._task import Task

#: Values of one feature that are scored, where not all can be.
_MOST_VALUES = 64

Intervals = Mapping[int, tuple[FloatArray, FloatArray]]


class ScoredValues(NamedTuple):
    """Values to score, what part of the permitted ones each decides about, and whether together they decide all.

    A part is a number of values, or the length of an interval where every number is permitted.
    """

    targets: FloatArray
    parts: FloatArray
    complete: bool
    n_values: int


def find_intervals(task: Task, queries: pd.DataFrame, destinations: Destinations) -> Intervals:
    """For each number the ends of intervals in which every value has the same score, where the family has such.

    There are none for features that a rule names, nor where the reading and the model differ about one of the rows.
    """
    search, reading, bound = task.free_search, task.reading, task.bound
    if not isinstance(search, TreeSearch) or reading is None or bound is None or not len(queries):
        return {}
    problem = FreeProblem(
        direction=-task.scorer.sign,
        low=0.0,
        high=0.0,
        queries=queries,
        space=task.space,
        destinations=destinations,
        crosses=lambda frame: np.zeros(len(frame), dtype=np.bool_),
        observed=bound.observed(),
    )
    try:
        encoded = reading.encoding.encode(queries)
        gaps = reading.gaps(task.scorer, task.score_safely(queries)[0], encoded)
        found = search.intervals(problem) if bool((gaps <= 1.0).all()) else {}
    except CannotReadError:
        return {}
    in_rules = {number for rule in bound.rules for number in np.flatnonzero(task.space.select(rule.names))}
    return {number: ends for number, ends in found.items() if number not in in_rules}


def values_to_score(
    one: FeatureDestinations, row: int, observed: FloatArray | None, ends: tuple[FloatArray, FloatArray] | None
) -> ScoredValues:
    """The values of a feature of a row that are scored: all, else one of each interval, else those that occur."""
    listed = candidates_of(one, row, observed, _MOST_VALUES)
    if not listed.complete and ends is not None and isinstance(one, NumberDestinations):
        found = _one_of_each(one, row, *ends)
        if found is not None:
            return found
    n_values = len(listed.targets)
    return ScoredValues(listed.targets, np.ones(n_values), listed.complete, n_values)


def _one_of_each(one: NumberDestinations, row: int, lowest: FloatArray, highest: FloatArray) -> ScoredValues | None:
    """A permitted value of each interval, with the number of permitted values in it or its length; None where these
    would have to be added up.
    """
    given = Permitted(one.low[row : row + 1], one.high[row : row + 1], one.step, one.origin[row : row + 1])
    low, high = permitted_within(given, lowest, highest)
    kept = low <= high
    low, high = low[kept], high[kept]
    if one.step is None:
        if one.missing[row] or not (high - low).sum() > 0:
            return None
        return ScoredValues(low + 0.5 * (high - low), high - low, True, len(low))
    old = one.old[row]
    is_own = (
        (low <= old)
        & (old <= high)
        & (first_on_grid(old, one.step, given.origin) <= last_on_grid(old, one.step, given.origin))
    )
    counts = np.round((high - low) / one.step) + 1.0 - is_own
    targets = np.where(low == old, high, low)[counts > 0]
    counts = counts[counts > 0]
    if one.missing[row]:
        targets, counts = np.append(targets, np.nan), np.append(counts, 1.0)
    return ScoredValues(targets, counts, True, int(counts.sum()))
