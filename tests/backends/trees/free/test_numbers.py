"""The intervals of all numbers at once say what each number says alone."""

import numpy as np
import pytest

from sev.actions import Destinations, NumberDestinations
from sev.backends.trees.free.cells import NumberCells
from sev.backends.trees.free.layout import FeatureRows
from sev.backends.trees.free.numbers import IntervalTable, Permitted, permitted_within
from sev.backends.trees.free.splits import ColumnSplits

N_ROWS, COLUMNS = 7, {0: np.array([0]), 2: np.array([1, 3]), 3: np.array([2])}


class Splits:
    """Thresholds of columns."""

    def __init__(self, thresholds):
        self.thresholds = thresholds

    def bounds(self, column, values):
        return ColumnSplits.bounds(self, column, values)


def make(seed, *, shared):
    """Cells of three numbers, and what rows may do with them: one on a grid, one that may become missing."""
    rng = np.random.default_rng(seed)
    cells, numbers, thresholds = {}, {}, {}
    for feature, columns in COLUMNS.items():
        edges = np.unique(rng.integers(-8, 8, size=rng.integers(0, 6)) / 2.0)
        middles = np.concatenate([[-20.0], (edges[:-1] + edges[1:]) / 2, [20.0]]) if len(edges) else np.array([0.0])
        encoded = np.column_stack([np.append(middles, np.nan if feature else 0.25) for _ in columns])
        cells[feature] = NumberCells(edges, encoded, -20.0, 20.0)
        thresholds.update(dict.fromkeys(columns.tolist(), edges))
        old = np.append(rng.normal(size=N_ROWS - 1) * 5, np.nan)
        low = np.full(N_ROWS, -6.0) if shared else rng.integers(-8, 2, N_ROWS).astype(float)
        numbers[feature] = NumberDestinations(
            old=old, low=low, high=low + (9.0 if shared else rng.integers(-1, 9, N_ROWS)), scale=2.5, weight=1.5,
            step=0.5 if feature == 2 else None, origin=np.zeros(N_ROWS),
            missing=(rng.random(N_ROWS) < 0.5) & (feature == 3) & ~np.isnan(old),
        )  # fmt: skip
    return cells, numbers, Splits(thresholds)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_costs_and_places_are_those_of_each_number(seed, shared):
    cells, numbers, splits = make(seed, shared=shared)
    table = IntervalTable(cells, COLUMNS, splits)
    destinations = Destinations(features=tuple(numbers.get(feature) for feature in range(4)))
    at = table.locate(destinations.numbers.old)
    assert np.array_equal(at, [cells[feature].locate(numbers[feature].old) for feature in cells])
    sizes = [cells[feature].n_cells if feature in cells else 1 for feature in range(4)]
    first = np.concatenate([[0], np.cumsum(sizes)])
    for rows in (np.arange(N_ROWS), np.array([2]), np.array([4, 0, 6])):
        costs = np.full((len(rows), first[-1]), np.inf)
        table.write_costs(costs, first, destinations.numbers, rows)
        for place, feature in enumerate(cells):
            alone = FeatureRows(cells[feature], numbers[feature], at[place], np.zeros(0)).costs(rows)
            mine = costs[:, first[feature] : first[feature + 1]].copy()
            mine[np.arange(len(rows)), at[place][rows]] = np.inf
            assert np.array_equal(mine, alone)


@pytest.mark.parametrize("seed", range(20))
def test_a_row_whose_encoded_value_is_in_another_cell_is_found(seed):
    cells, numbers, splits = make(seed, shared=False)
    table = IntervalTable(cells, COLUMNS, splits)
    at = table.locate(np.array([numbers[feature].old for feature in cells]))
    encoded = np.zeros((N_ROWS, 4))
    for place, (feature, columns) in enumerate(COLUMNS.items()):
        encoded[:, columns] = cells[feature].encoded[at[place]]
    assert not table.find_unlike(at, encoded).any()
    for column, feature in ((0, 0), (3, 2), (2, 3)):
        edges = cells[feature].edges
        if not len(edges):
            continue
        moved = encoded.copy()
        row = int(np.argmax(encoded[:, column] <= edges[0])) if (encoded[:, column] <= edges[0]).any() else 0
        moved[row, column] = edges[-1] + 1.0 if encoded[row, column] <= edges[0] else edges[0]
        if np.searchsorted(edges, moved[row, column]) == np.searchsorted(edges, encoded[row, column]):
            continue
        [[found, number]] = np.argwhere(table.find_unlike(at, moved))
        assert (found, table.owner_of(number)) == (row, feature)


def test_missing_values_are_told_from_others():
    cells, _, splits = make(3, shared=True)
    table = IntervalTable(cells, COLUMNS, splits)
    at = np.array([[one.missing] for one in cells.values()])
    encoded = np.full((1, 4), np.nan)
    assert np.flatnonzero(table.find_unlike(at, encoded)[0]).tolist() == [0]  # encoded as 0.25 there
    encoded[0, 0] = 0.25
    assert not table.find_unlike(at, encoded).any()


@pytest.mark.parametrize("seed", range(20))
def test_moves_are_the_nearest_permitted_values_of_cells(seed):
    cells, numbers, splits = make(seed, shared=False)
    table = IntervalTable(cells, COLUMNS, splits)
    destinations = Destinations(features=tuple(numbers.get(feature) for feature in range(4)))
    for place, (feature, mine) in enumerate(numbers.items()):
        for cell in range(cells[feature].n_cells):
            moves = table.find_moves(
                destinations.numbers, np.full(N_ROWS, place), np.arange(N_ROWS), np.full(N_ROWS, cell)
            )
            assert (moves.missing == (cell == cells[feature].missing)).all()
            if cell == cells[feature].missing:
                continue
            ends = cells[feature].lowest[cell], cells[feature].highest[cell]
            low, high = permitted_within(Permitted(mine.low, mine.high, mine.step, mine.origin), *map(np.array, ends))
            assert np.array_equal(moves.low, low)
            assert np.array_equal(moves.high, high)
            for row in np.flatnonzero((low <= high) & ~np.isnan(mine.old)):
                nearest = min(max(mine.old[row], low[row]), high[row])
                assert moves.near[row] == nearest


def test_number_tables_leave_out_other_features():
    _, numbers, _ = make(0, shared=True)
    table = Destinations(features=(None, numbers[2], None, numbers[3])).numbers
    assert table.features.tolist() == [1, 3]
    assert {step: places.tolist() for step, places in table.by_step().items()} == {0.5: [0], None: [1]}


def test_there_may_be_no_intervals():
    table = IntervalTable({}, {}, Splits({}))
    numbers = Destinations(features=(None, None)).numbers
    assert table.find_unlike(table.locate(numbers.old), np.zeros((5, 3))).shape == (5, 0)
    costs = np.full((5, 4), 7.0)
    table.write_costs(costs, np.array([0, 2, 4]), numbers, np.arange(5))
    assert (costs == 7.0).all()
