"""Features that rules tie together, as one: every combination of their values, and which of them each row may take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from sev.actions import ChoiceDestinations, Destinations, NumberDestinations, Rule, grid_ends, on_grid
from sev.typing import BoolArray, Cells, ColumnLabel, FloatArray, IntArray

#: Combinations of values that are listed.
MOST_COMBINATIONS = 20_000


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureRule:
    """A rule, and the rows that have to keep it.

    Parameters
    ----------
    rule : Rule
        The rule.
    columns : mapping of str to column
        The column that each of its names stands for.
    owners : mapping of str to int
        The feature that this column belongs to.
    applies : ndarray of bool, shape (n_rows,)
        Rows that keep it as they are.
    """

    rule: Rule
    columns: Mapping[str, ColumnLabel]
    owners: Mapping[str, int]
    applies: BoolArray

    @property
    def features(self) -> tuple[int, ...]:
        """The features that it is about."""
        return tuple(sorted(set(self.owners.values())))

    def take(self, rows: IntArray) -> FeatureRule:
        """The same for some rows."""
        return replace(self, applies=self.applies[rows])


class FeatureValues(NamedTuple):
    """The values of one feature; those that it may take come first, then those that rows have."""

    cells: list[Cells]
    own: IntArray  # the place of each row's own value
    permitted: BoolArray  # (n_rows, n_values)
    costs: FloatArray  # (n_rows, n_values)
    numbers: FloatArray | None  # the values of a number
    key: tuple[object, ...]  # equal to that of other rows only where the cells are the same; empty where nobody knows


def find_blocks(rules: Sequence[FeatureRule], destinations: Destinations) -> list[tuple[int, ...]]:
    """Features that may change and that rules tie together, in groups that no rule joins."""
    movable = {number for number, one in enumerate(destinations.features) if one is not None and _may_move(one)}
    blocks: list[set[int]] = []
    for rule in rules:
        mine = movable & set(rule.features)
        if not mine or not rule.applies.any():
            continue
        joined = [block for block in blocks if block & mine]
        blocks = [block for block in blocks if not block & mine] + [mine.union(*joined)]
    return sorted(tuple(sorted(block)) for block in blocks)


def _may_move(one: NumberDestinations | ChoiceDestinations) -> bool:
    if isinstance(one, ChoiceDestinations):
        return bool(one.allowed.any())
    return bool((grid_ends(one)[2] | one.missing).any())


class Block:
    """Features that rules tie together, for the rows of a problem.

    Parameters
    ----------
    features : tuple of int
        The features.
    values : sequence of FeatureValues
        Their values.
    wide : tuple of int
        Those of which only the values are there that decide.
    """

    def __init__(self, features: tuple[int, ...], values: Sequence[FeatureValues], wide: tuple[int, ...] = ()) -> None:
        self.features = features
        self.wide = wide
        self.values = tuple(values)
        #: How many values each feature has.
        self.shape = tuple(len(one.cells) for one in values)

    @cached_property
    def places(self) -> IntArray:
        """The value of each feature in each combination; (n_features, n_combinations)."""
        return np.indices(self.shape).reshape(len(self.shape), -1)

    @cached_property
    def own(self) -> IntArray:
        """The combination that each row has."""
        return np.ravel_multi_index(tuple(one.own for one in self.values), self.shape).astype(np.int64)

    @cached_property
    def costs(self) -> FloatArray:
        """What each combination costs each row; (n_rows, n_combinations)."""
        kept = [
            np.where(np.arange(one.costs.shape[1]) == one.own[:, None], 0.0, one.costs)[:, places]
            for one, places in zip(self.values, self.places, strict=True)
        ]
        return np.sum(kept, axis=0)

    def list_cells(self) -> tuple[Cells, ...]:
        """The combinations as cells of the features' columns."""
        return tuple(sum(some, ()) for some in product(*(one.cells for one in self.values)))

    def permitted(self, changed: Sequence[bool], kept: BoolArray) -> BoolArray:
        """The combinations that each row may take by changing these features and no others."""
        found = kept
        for one, places, moves in zip(self.values, self.places, changed, strict=True):
            found = found & (one.permitted[:, places] if moves else places == one.own[:, None])
        return found

    def kept(self, rules: Sequence[FeatureRule], columns: Sequence[ColumnLabel], queries: pd.DataFrame) -> BoolArray:
        """Which combinations break no rule that a row has to keep; (n_rows, n_combinations)."""
        n_combinations = self.places.shape[1]
        cells = self._columns(columns)
        kept = np.ones((len(queries), n_combinations), dtype=np.bool_)
        for rule in rules:
            if not set(rule.features) & set(self.features):
                continue
            others = sorted({column for column in rule.columns.values() if column not in cells}, key=str)
            kinds = _kinds_of_rows(queries[others]) if others else np.zeros(len(queries), dtype=np.int64)
            for kind in np.unique(kinds[rule.applies]).tolist():
                rows = np.flatnonzero(rule.applies & (kinds == kind))
                same = queries[others].iloc[np.full(n_combinations, rows[0])].reset_index(drop=True)
                names = {name: cells[one] if one in cells else same[one] for name, one in rule.columns.items()}
                kept[rows] &= ~rule.rule.broken(names)
        return kept

    def _columns(self, columns: Sequence[ColumnLabel]) -> dict[ColumnLabel, pd.Series]:
        """Each column of the features in all combinations."""
        found: dict[ColumnLabel, pd.Series] = {}
        at = iter(columns)
        for one, places in zip(self.values, self.places, strict=True):
            for place in range(len(one.cells[0])):
                listed = pd.Series([cell[place] for cell in one.cells])
                found[next(at)] = listed.iloc[places].reset_index(drop=True)
        return found


def _kinds_of_rows(frame: pd.DataFrame) -> IntArray:
    """A number for each row, the same for rows of equal values."""
    return frame.groupby(list(frame.columns), dropna=False, sort=False, observed=True).ngroup().to_numpy()


def list_values(
    one: NumberDestinations | ChoiceDestinations, columns: Sequence[ColumnLabel], queries: pd.DataFrame
) -> FeatureValues | None:
    """The values that a feature may take in any row, and those that rows have; None where they are too many."""
    return _list_choices(one, columns, queries) if isinstance(one, ChoiceDestinations) else _list_numbers(one)


def _list_choices(one: ChoiceDestinations, columns: Sequence[ColumnLabel], queries: pd.DataFrame) -> FeatureValues:
    rows, n_choices = np.arange(len(one.old)), len(one.choices)
    own, others = one.old.copy(), np.flatnonzero(one.old < 0)
    kinds = _kinds_of_rows(queries[list(columns)].iloc[others]) if others.size else others
    own[others] = n_choices + kinds
    more = [tuple(queries[column].iloc[others[kinds == kind][0]] for column in columns) for kind in np.unique(kinds)]
    nothing = np.zeros((len(rows), len(more)), dtype=np.bool_)
    return FeatureValues(
        cells=[*one.choices, *more],
        own=own,
        permitted=np.column_stack([one.allowed, nothing]),
        costs=np.column_stack([one.costs(rows), np.zeros(nothing.shape)]),
        numbers=None,
        key=() if more else (one.choices,),
    )


def _list_numbers(one: NumberDestinations) -> FeatureValues | None:
    low, high, exists = grid_ends(one)
    listed = np.zeros(0)
    if exists.any():
        if one.step is None:
            if (low != high)[exists].any():
                return None
            listed = np.unique(low[exists])
        else:
            if not (one.origin == one.origin[0]).all():
                return None
            origin = float(one.origin[0])
            first, last = ((end - origin) / one.step for end in (low[exists].min(), high[exists].max()))
            if not last - first < MOST_COMBINATIONS:
                return None
            listed = on_grid(np.arange(round(first), round(last) + 1, dtype=np.float64), one.step, origin)
    return number_values(one, listed)


def number_values(one: NumberDestinations, listed: FloatArray) -> FeatureValues:
    """Some values of a number, all of which lie on its grid, and those that rows have."""
    low, high, exists = grid_ends(one)
    values = np.unique(np.concatenate([listed, one.old[~np.isnan(one.old)]]))
    may_take = np.isin(values, listed)
    if one.missing.any() or np.isnan(one.old).any():
        values, may_take = np.append(values, np.nan), np.append(may_take, True)
    old = one.old[:, None]
    inside = exists[:, None] & (values >= low[:, None]) & (values <= high[:, None]) & (values != old)
    permitted = may_take & np.where(np.isnan(values), (one.missing & ~np.isnan(one.old))[:, None], inside)
    moved = np.abs(values - old) / one.scale
    return FeatureValues(
        cells=[(value,) for value in values.tolist()],
        own=np.where(np.isnan(one.old), len(values) - 1, np.searchsorted(values, one.old)).astype(np.int64),
        permitted=permitted,
        costs=np.where(np.isnan(moved), one.weight, one.weight * moved),
        numbers=values,
        key=(values.tobytes(),),
    )
