"""Rows whose rules tie the same features together, and that are searched in the same way: each as it would be alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sev.actions import ChoiceDestinations, Destinations, NumberDestinations, first_on_grid, grid_ends, last_on_grid
from sev.backends.free._joint_values import MOST_COMBINATIONS, FeatureRule, find_blocks
from sev.backends.free._problem import FreeProblem
from sev.core import distinct_rows
from sev.typing import BoolArray, FloatArray, IntArray

#: A number with more values is searched through those that decide, where all combinations are too many.
MANY_VALUES = 64


class RowGroup(NamedTuple):
    """Rows that are searched together.

    Parameters
    ----------
    rows : ndarray of int64
        Their numbers, sorted.
    blocks : tuple of tuple of int
        Features that rules tie together.
    wide : tuple of tuple of int
        Of each block, the numbers of which not all values are listed.
    """

    rows: IntArray
    blocks: tuple[tuple[int, ...], ...]
    wide: tuple[tuple[int, ...], ...]

    def halves(self, destinations: Destinations) -> list[RowGroup]:
        """Two groups of half as many rows, of values near each other; none for a single row."""
        if len(self.rows) == 1:
            return []
        spread = np.zeros(len(self.rows))
        for number in (number for block in self.blocks for number in block):
            one = destinations.features[number]
            if isinstance(one, NumberDestinations):
                old = np.nan_to_num(one.old[self.rows])
                spread = max(spread, (old - old.mean()) / one.scale, key=np.ptp)
        order = np.argsort(spread, kind="stable")
        return [self._replace(rows=self.rows[np.sort(half)]) for half in np.array_split(order, 2)]


def group_rows(problem: FreeProblem) -> Iterator[RowGroup]:
    """The rows of a problem that rules tie anything together for, in groups."""
    applies = np.column_stack([rule.applies for rule in problem.rules])
    counts = _count_values(problem.rules, problem.destinations, problem.n_rows)
    for rows in _alike(np.column_stack([applies, np.isnan(counts)])):
        mine = problem.take(rows)
        blocks = tuple(find_blocks(mine.rules, mine.destinations))
        if not blocks:
            continue
        inside = [number for block in blocks for number in block]
        found = [_find_wide(mine, one, counts[rows]) for one in blocks]
        wide = np.concatenate([one for one, _ in found], axis=1)
        possible = np.all([one for _, one in found], axis=0)
        for some in _alike(np.column_stack([wide, _origins(mine.destinations, inside), possible])):
            chosen = {number for number, is_wide in zip(inside, wide[some[0]].tolist(), strict=True) if is_wide}
            if possible[some[0]]:
                kept = tuple(tuple(one for one in block if one in chosen) for block in blocks)
                yield RowGroup(rows[some], blocks, kept)


def _alike(table: FloatArray | BoolArray) -> list[IntArray]:
    """The numbers of the rows of each kind."""
    kind = distinct_rows(table.astype(np.float64) + 0.0)[1]
    return [np.flatnonzero(kind == one) for one in range(kind.max(initial=-1) + 1)]


def _count_values(rules: Sequence[FeatureRule], destinations: Destinations, n_rows: int) -> FloatArray:
    """How many values each feature in rules has in each row, its own included: infinite where they cannot be listed,
    NaN where it cannot change.
    """
    counts = np.full((n_rows, len(destinations.features)), np.nan)
    for number in {number for rule in rules for number in rule.features}:
        one = destinations.features[number]
        if isinstance(one, ChoiceDestinations):
            counts[:, number] = np.where(one.allowed.any(axis=1), len(one.choices) + (one.old < 0), np.nan)
        elif one is not None:
            counts[:, number] = _count_numbers(one)
    return counts


def _count_numbers(one: NumberDestinations) -> FloatArray:
    low, high, exists = grid_ends(one)
    listed = np.where(low == high, 1.0, np.inf)
    if one.step is not None:
        with np.errstate(invalid="ignore"):
            listed = last_on_grid(one.high, one.step, one.origin) - first_on_grid(one.low, one.step, one.origin) + 1
    known = np.isnan(one.old)
    own = ~known & ~(exists & (low <= one.old) & (one.old <= high))
    counts = np.where(exists, listed, 0.0) + own + (one.missing | known)
    return np.where(exists | one.missing, counts, np.nan)


def _find_wide(problem: FreeProblem, block: tuple[int, ...], counts: FloatArray) -> tuple[BoolArray, BoolArray]:
    """The numbers of a block of which not all values are listed, (n_rows, n_features of the block), and the rows for
    which this leaves few enough.
    """
    mine = counts[:, block]
    number = [isinstance(problem.destinations.features[one], NumberDestinations) for one in block]
    many = mine.prod(axis=1) > MOST_COMBINATIONS
    wide = many[:, None] & (mine > MANY_VALUES) & np.array(number)
    return wide, ~many | wide.any(axis=1)


def _origins(destinations: Destinations, features: list[int]) -> FloatArray:
    """Where the grids of numbers begin, 0 for other features; (n_rows, n_features)."""
    found = []
    for number in features:
        one = destinations.features[number]
        assert one is not None
        if isinstance(one, NumberDestinations) and one.step is not None:
            found.append(one.origin)
        else:
            found.append(np.zeros(len(one.old)))
    return np.column_stack(found)
