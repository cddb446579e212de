"""Models with many minimum sets, so that ``max_sets`` cuts the list."""

from __future__ import annotations

import numpy as np
from contracts.fuzz.draw import Rng, classifier, labels_of
from contracts.fuzz.recipes._registry import recipe
from contracts.fuzz.recipes.boosters import make_lightgbm, make_xgboost
from contracts.fuzz.recipes.plain import pick
from contracts.fuzz.setups import Setup
from sklearn import ensemble, tree


@recipe
def trees_with_many_minimum_sets(rng: Rng) -> Setup:
    """Every column counts about the same, so that many sets of one size cross."""
    n_columns = int(rng.integers(6, 9))
    rows = rng.integers(0, 2, (160, n_columns)).astype(float)
    y = (rows.sum(axis=1) + rng.normal(size=160) * 0.3 > n_columns / 2 + 0.5).astype(int)
    made = {
        "boosting": lambda: ensemble.GradientBoostingClassifier(n_estimators=20, max_depth=1, random_state=0),
        "forest": lambda: ensemble.RandomForestClassifier(16, max_features=2, random_state=0),
        "xgboost": lambda: make_xgboost().set_params(n_estimators=20, max_depth=1),
        "lightgbm": lambda: make_lightgbm().set_params(n_estimators=20, max_depth=2),
        "hist": lambda: ensemble.HistGradientBoostingClassifier(max_iter=20, max_depth=2, min_samples_leaf=3),
    }
    model = pick(rng, made).fit(rows, y)
    queries = (rng.random((8, n_columns)) < 0.85).astype(float)
    return classifier(rng, model, rows, y, queries, order_tolerance=1e-5)


@recipe
def forests_of_pure_leaves(rng: Rng) -> Setup:
    """Means of eight zeros and ones are exact: equal scores are ties, and the order of the features decides."""
    n_columns = int(rng.integers(3, 8))
    rows = rng.integers(0, 3, (70, n_columns)).astype(float)
    y = labels_of(rng, rows)
    rows, first = np.unique(rows, axis=0, return_index=True)
    model = ensemble.RandomForestClassifier(8, random_state=0).fit(rows, y[first])
    queries = rng.integers(0, 3, (8, n_columns)).astype(float)
    return classifier(
        rng, model, rows, y[first], queries, free_reference=False, order_tolerance=0.0, expects_backend="trees"
    )


@recipe
def single_trees(rng: Rng) -> Setup:
    """Leaves of a small tree: few different scores, so that most sets tie."""
    n_columns = int(rng.integers(3, 8))
    rows = rng.integers(0, 3, (70, n_columns)).astype(float)
    y = labels_of(rng, rows)
    model = tree.DecisionTreeClassifier(max_depth=int(rng.integers(2, 6)), random_state=0).fit(rows, y)
    queries = rng.integers(0, 3, (8, n_columns)).astype(float)
    return classifier(rng, model, rows, y, queries, free_reference=False, order_tolerance=0.0, expects_backend="trees")


@recipe
def black_boxes_with_many_minimum_sets(rng: Rng) -> Setup:
    """Many features, deep sets, and a budget that may end the search."""
    n_columns = int(rng.integers(6, 10))
    kept = n_columns - int(rng.integers(1, n_columns + 1))
    model, truth = CountScore(kept), CountScore(kept)
    background = np.vstack([np.zeros(n_columns), np.ones(n_columns)])
    queries = (rng.random((5, n_columns)) < 0.9).astype(float)
    return Setup(
        model=model,
        background=background,
        queries=queries,
        score=truth,
        threshold=0.5,
        options={"threshold": 0.5},
        reference=background[:1],
        order_tolerance=0.0,
        scored=lambda: model.n_scored,
    )


class CountScore:
    """Positive while more than a number of features is on."""

    def __init__(self, kept: int) -> None:
        self.kept, self.n_scored = kept, 0

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        self.n_scored += len(rows)
        return rows.sum(axis=1) - self.kept
