"""The blocks of a problem: all combinations of values where they are few, else of those values that decide."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np
import pandas as pd

from sev.actions import NumberDestinations
from sev.backends.free._joint_ends import find_ends
from sev.backends.free._joint_values import MOST_COMBINATIONS, Block, FeatureValues, list_values, number_values
from sev.backends.free._problem import ExactSearch, FreeProblem
from sev.typing import FloatArray

#: A number with more values is searched through those that decide, where all combinations are too many.
_MANY_VALUES = 64


class TooManyValuesError(Exception):
    """Fewer rows may have fewer."""


def make_block(problem: FreeProblem, features: tuple[int, ...], search: ExactSearch) -> Block | None:
    """The features as one; None where it is not known which values decide.

    Raises
    ------
    TooManyValuesError
        Where even these have too many combinations.
    """
    values: dict[int, FeatureValues | None] = {}
    for number in features:
        one = problem.destinations.features[number]
        assert one is not None
        values[number] = list_values(one, problem.space.features[number].columns, problem.queries)
    listed = {number: one for number, one in values.items() if one is not None}
    if len(listed) == len(features) and prod(len(one.cells) for one in listed.values()) <= MOST_COMBINATIONS:
        return Block(features, list(listed.values()))
    wide = tuple(
        number
        for number in features
        if isinstance(problem.destinations.features[number], NumberDestinations)
        and (number not in listed or len(listed[number].cells) > _MANY_VALUES)
    )
    if problem.minimise == "cost":
        return None
    few = {number: one for number, one in listed.items() if number not in wide}
    rules = [rule for rule in problem.rules if set(rule.features) & set(features)]
    found = find_ends(wide, rules, problem.destinations, search.ends(problem), _numbers_of(problem, few))
    if found is None:
        return None
    kept = []
    for number in features:
        one = problem.destinations.features[number]
        if number in found:
            assert isinstance(one, NumberDestinations)
            kept.append(number_values(one, found[number]))
        else:
            kept.append(few[number])
    if prod(len(one.cells) for one in kept) > MOST_COMBINATIONS:
        raise TooManyValuesError
    return Block(features, kept, wide)


def _numbers_of(problem: FreeProblem, few: Mapping[int, FeatureValues]) -> dict[int, FloatArray]:
    """All values of the numbers that rules compare, besides those with many."""
    found: dict[int, FloatArray] = {}
    for rule in problem.rules:
        for name, number in rule.owners.items():
            if name not in rule.rule.numbers:
                continue
            place = problem.space.features[number].columns.index(rule.columns[name])
            if number in few:
                values = pd.Series([cells[place] for cells in few[number].cells])
            else:
                values = problem.queries[rule.columns[name]]
            found[number] = np.unique(values.to_numpy(dtype=np.float64, na_value=np.nan))
    return found
