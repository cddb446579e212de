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


class TooManyValuesError(Exception):
    """Fewer rows may have fewer."""


def make_block(
    problem: FreeProblem, features: tuple[int, ...], wide: tuple[int, ...], search: ExactSearch
) -> Block | None:
    """The features as one; None where it is not known which values decide.

    Parameters
    ----------
    problem : FreeProblem
        Rows that have to keep the same rules.
    features : tuple of int
        The features.
    wide : tuple of int
        The numbers among them of which only those values are listed that decide.
    search : ExactSearch
        The family's own search.

    Raises
    ------
    TooManyValuesError
        Where they have too many combinations.
    """
    kept: dict[int, FeatureValues] = {}
    for number in features:
        one = problem.destinations.features[number]
        assert one is not None
        if number not in wide:
            listed = list_values(one, problem.space.features[number].columns, problem.queries)
            if listed is None:
                raise TooManyValuesError
            kept[number] = listed
    if wide:
        found = None if problem.minimise == "cost" else _find_ends_of_rows(problem, features, wide, search)
        if found is None:
            return None
        kept.update(found)
    if prod(len(one.cells) for one in kept.values()) > MOST_COMBINATIONS:
        raise TooManyValuesError
    return Block(features, [kept[number] for number in features], wide)


def _find_ends_of_rows(
    problem: FreeProblem, features: tuple[int, ...], wide: tuple[int, ...], search: ExactSearch
) -> dict[int, FeatureValues] | None:
    """The values that decide, of which each row may take its own: those that it would have alone."""
    rules = [rule for rule in problem.rules if rule.applies.any() and set(rule.features) & set(features)]
    ends = search.ends(problem)
    of_rows: dict[int, list[FloatArray]] = {number: [] for number in wide}
    for row in range(problem.n_rows):
        one = problem.take(np.array([row]))
        listed = {
            number: list_values(mine, problem.space.features[number].columns, one.queries)
            for number in features
            if number not in wide and (mine := one.destinations.features[number]) is not None
        }
        few = {number: values for number, values in listed.items() if values is not None}
        found = find_ends(wide, rules, one.destinations, ends, _numbers_of(one, few))
        if found is None:
            return None
        for number, values in found.items():
            of_rows[number].append(values)
    return {number: _merge_ends(problem, number, values) for number, values in of_rows.items()}


def _merge_ends(problem: FreeProblem, number: int, values: list[FloatArray]) -> FeatureValues:
    """The values of all rows, of which each row may take its own."""
    one = problem.destinations.features[number]
    assert isinstance(one, NumberDestinations)
    together = number_values(one, np.unique(np.concatenate(values)))
    assert together.numbers is not None
    own = np.array([np.isin(together.numbers, some) for some in values])
    return together._replace(permitted=together.permitted & (own | np.isnan(together.numbers)))


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
