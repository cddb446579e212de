"""Small random forests over cells, and everything that moves can do in them, by trying all of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from sev import _native
from sev.backends.trees._forest import Forest, Tree, build_forest


@dataclass(frozen=True)
class Case:
    """A forest whose columns are features and whose values are cells, one row of it, and what the row may do."""

    forest: Forest
    n_cells: list[int]
    at: np.ndarray
    cost: list[np.ndarray]  # of each feature: one for each cell, infinite where it is not permitted
    limit: float
    sign: float

    def native(self) -> _native.CellForest:
        n_cells = np.array(self.n_cells, dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(n_cells)[:-1]]).astype(np.int64)
        values = np.concatenate([np.arange(n, dtype=float) for n in self.n_cells])
        columns = np.arange(len(n_cells), dtype=np.int64)
        return _native.CellForest(self.forest.native, n_cells, columns, first, values, self.sign)

    def margins(self, points: np.ndarray) -> np.ndarray:
        return self.sign * self.forest.native.margins(np.ascontiguousarray(points, dtype=float))

    def destinations(self, feature: int) -> list[int]:
        return [c for c in range(self.n_cells[feature]) if c != self.at[feature] and self.cost[feature][c] < np.inf]


def random_tree(rng, n_cells, depth, categorical):
    """Splits on random cells; some by sets of cells."""
    left, right, column, threshold, value, categories = [], [], [], [], [], {}

    def grow(level):
        at = len(left)
        for part in (left, right, column):
            part.append(-1)
        threshold.append(0.0)
        value.append(rng.normal())
        if level < depth and rng.random() < 0.85:
            feature = int(rng.integers(len(n_cells)))
            column[at] = feature
            if feature in categorical:
                categories[at] = [c for c in range(n_cells[feature]) if rng.random() < 0.5]
            else:
                threshold[at] = float(rng.integers(n_cells[feature])) + 0.5
            left[at] = grow(level + 1)
            right[at] = grow(level + 1)
        return at

    grow(0)
    return Tree(
        left=np.array(left), right=np.array(right), column=np.maximum(np.array(column), 0),
        threshold=np.array(threshold), value=np.array(value), categories=categories,
    )  # fmt: skip


def random_case(
    seed: int, *, max_features: int = 5, most_cells: int = 6, least_features: int = 2, most_trees: int = 19
) -> Case:
    rng = np.random.default_rng(seed)
    n_features = int(rng.integers(least_features, max_features + 1))
    n_cells = [int(rng.integers(1, most_cells + 1)) for _ in range(n_features)]
    categorical = {f for f in range(n_features) if rng.random() < 0.3}
    trees = [
        random_tree(rng, n_cells, int(rng.integers(1, 6)), categorical)
        for _ in range(int(rng.integers(2, most_trees + 1)))
    ]
    forest = build_forest(trees, n_columns=n_features, base=float(rng.normal()))
    at = np.array([int(rng.integers(n)) for n in n_cells])
    cost = []
    for feature, n in enumerate(n_cells):
        some = rng.integers(1, 9, n) / 4.0 if rng.random() < 0.5 else rng.random(n)
        kind = rng.random()
        if kind < 0.1:
            some[:] = np.inf
        elif kind < 0.3:
            some[: at[feature]] = np.inf
        elif kind < 0.5:
            some[np.abs(np.arange(n) - at[feature]) > 1] = np.inf
        elif kind < 0.7:
            some[rng.random(n) < 0.4] = np.inf
        cost.append(some)
    sign = float(rng.choice([-1.0, 1.0]))
    case = Case(forest, n_cells, at, cost, 0.0, sign)
    # a limit that some points reach, most often few, sometimes none
    options = [[int(at[f]), *case.destinations(f)] for f in range(n_features)]
    others = np.unique(case.margins(np.array([[rng.choice(some) for some in options] for _ in range(128)])))
    others = others[others < case.margins(at[None])[0]]
    if not others.size:
        others = case.margins(at[None]) - 1.0
    place = int(rng.integers(others.size) * rng.random() ** 2)
    limit = min(float(others[place]) + (-0.05 if rng.random() < 0.2 else 0.05), float(case.margins(at[None])[0]) - 1e-6)
    return Case(forest, n_cells, at, cost, limit, sign)


def try_everything(case: Case, crosses) -> dict[tuple[int, ...], float]:
    """Every set of features that some permitted cells take across, with the least cost of it."""
    n = len(case.n_cells)
    found = {}
    for size in range(1, n + 1):
        for features in combinations(range(n), size):
            cells = list(product(*(case.destinations(f) for f in features)))
            if not cells:
                continue
            points = np.tile(case.at, (len(cells), 1))
            points[:, list(features)] = cells
            good = np.flatnonzero(crosses(points))
            if good.size:
                found[features] = min(
                    sum(case.cost[f][c] for f, c in zip(features, cells[g], strict=True)) for g in good
                )
    return found


def make_tree(nodes: list[tuple[int, int, int, int] | float]) -> Tree:
    """A tree from its nodes: a feature, the last cell that goes left, and the nodes on both sides; or a value."""
    splits = [(-1, 0, -1, -1) if isinstance(one, float) else one for one in nodes]
    feature, cell, left, right = (np.array(part) for part in zip(*splits, strict=True))
    value = np.array([one if isinstance(one, float) else 0.0 for one in nodes])
    return Tree(left=left, right=right, column=np.maximum(feature, 0), threshold=cell + 0.5, value=value)


def smooth_case(seed: int) -> Case:
    """A row far from the decision, which many small moves reach at less cost than few large ones."""
    rng = np.random.default_rng(seed)
    n_features, n = int(rng.integers(4, 7)), 4
    trees = []
    for _ in range(int(rng.integers(2, 9))):
        tree = random_tree(rng, [n] * n_features, int(rng.integers(1, 5)), set())
        tree.value[:] *= 0.3  # most of what moves do is in the splits below
        trees.append(tree)
    for feature in range(n_features):
        for cell in range(n - 1):  # every further cell takes the sum down
            trees.append(make_tree([(feature, cell, 1, 2), 0.0, -0.5 - rng.random()]))
    forest = build_forest(trees, n_columns=n_features, base=0.0)
    at = np.zeros(n_features, dtype=np.int64)
    cost = [float(0.5 + rng.random()) * np.arange(n) ** 2.0 + 0.1 * rng.random(n) for _ in range(n_features)]
    case = Case(forest, [n] * n_features, at, cost, 0.0, 1.0)
    start, end = case.margins(np.array([at, np.full(n_features, n - 1)]))
    return Case(forest, case.n_cells, at, cost, float(start + rng.uniform(0.15, 0.9) * (end - start)), 1.0)
