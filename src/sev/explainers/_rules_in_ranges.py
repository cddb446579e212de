"""Ranges without values that break a rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pandas as pd

from sev.actions import BoundActions, ChoiceDestinations, Destinations, Rule, column_of
from sev.backends.free import move_rows

#: Corners of ranges at which a rule is looked at.
_MOST_CORNERS = 1_024


def keep_rules_in_ranges(
    enough: Mapping[int, Any], rules: Iterable[Rule], bound: BoundActions, destinations: Destinations, row: pd.DataFrame
) -> dict[int, Any]:
    """The ranges of one set, without those of features that a rule names which some values in them may break.

    Parameters
    ----------
    enough : mapping of int to range
        By number of the feature.
    rules : iterable of Rule
        Those that the query keeps.
    bound : BoundActions
        What the names in rules stand for.
    destinations : Destinations
        What the choices of a feature are.
    row : DataFrame
        The changed row of the set: features without a range stay as they are in it.
    """
    kept = {number: one for number, one in enough.items() if one is not None}
    features = bound.space.features
    for rule in rules:
        columns = {column_of(bound.space, name) for name in rule.names}
        named = [number for number in kept if columns & set(features[number].columns)]
        if named and not _holds(rule, {number: kept[number] for number in named}, bound, destinations, row):
            for number in named:
                del kept[number]
    return kept


def _holds(
    rule: Rule, ranges: Mapping[int, Any], bound: BoundActions, destinations: Destinations, row: pd.DataFrame
) -> bool:
    """Whether a rule surely holds with every feature anywhere in its range."""
    corners = [sorted(one) if isinstance(one, frozenset) else sorted(set(one)) for one in ranges.values()]
    if not rule.is_decided_by_corners or prod(map(len, corners)) > _MOST_CORNERS:
        return False
    places = np.array(list(product(*corners)), dtype=np.float64)
    sets = np.zeros((len(places), len(bound.space)), dtype=np.bool_)
    targets = np.zeros(sets.shape)
    sets[:, list(ranges)], targets[:, list(ranges)] = True, places
    features = tuple(one if isinstance(one, ChoiceDestinations) else None for one in destinations.features)
    rows = np.zeros(len(places), dtype=np.int64)
    frame = move_rows(row, bound.space, Destinations(features=features), rows, sets, targets)
    return not rule.broken(bound.cells(rule, frame)).any()
