"""Models that return NaN or raise at some rows, write into their input, or never answer the same twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from contracts.fuzz.draw import Rng, classifier, labels_of, negative_row, numbers, split
from contracts.fuzz.recipes._registry import recipe
from contracts.fuzz.recipes.plain import pick
from contracts.fuzz.setups import Setup
from sklearn import ensemble, linear_model, naive_bayes

from sev.exceptions import SevError


class FaultyScore:
    """A sum of integers that fails where the first column is small and the last one is large."""

    def __init__(self, weights: np.ndarray, fault: str) -> None:
        self.weights, self.fault = weights, fault
        self.n_scored = 0

    def __call__(self, rows: Any) -> np.ndarray:
        values = np.asarray(rows, dtype=float)
        self.n_scored += len(values)
        bad = (values[:, 0] <= 0) & (values[:, -1] >= 2)
        if self.fault == "raise" and bad.any():
            raise ValueError("no such customer")
        scores = values @ self.weights
        if self.fault in ("nan", "inf"):
            scores[bad] = np.nan if self.fault == "nan" else np.inf
        return scores


@recipe
def callables_that_fail_at_some_rows(rng: Rng) -> Setup:
    n_columns = int(rng.integers(2, 6))
    rows = rng.integers(0, 4, (70, n_columns)).astype(float)
    rows[:, -1] = np.where(rows[:, 0] <= 0, rows[:, -1] % 2, rows[:, -1])
    background, _, queries = split(rows, labels_of(rng, rows))
    fault = str(rng.choice(["nan", "inf", "raise"]))
    weights = rng.integers(-2, 4, n_columns).astype(float)
    model, truth = FaultyScore(weights, fault), FaultyScore(weights, fault)
    threshold = float(rng.integers(0, 4))
    return Setup(
        model=model,
        background=background,
        queries=queries,
        score=truth,
        threshold=threshold,
        options={"threshold": threshold},
        reference=negative_row(rng, truth, threshold, background),
        may_fail=True,
        order_tolerance=0.0,
        scored=lambda: model.n_scored,
    )


class _Fails:
    """Fails at rows that no mixture of background rows is like: a large first value beside a small last one."""

    fault = "nan"

    def predict_proba(self, X: Any) -> np.ndarray:
        outputs = super().predict_proba(X).copy()  # type: ignore[misc]
        values = np.asarray(X, dtype=float)
        bad = (values[:, 0] > 3.0) & (values[:, -1] < 0.5)
        if self.fault == "raise" and bad.any():
            raise ValueError("no such customer")
        outputs[bad] = np.nan
        return outputs

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[(self.predict_proba(X)[:, 1] >= 0.5).astype(int)]


class FailingLogistic(_Fails, linear_model.LogisticRegression):
    pass


class FailingForest(_Fails, ensemble.RandomForestClassifier):
    pass


class FailingBayes(_Fails, naive_bayes.GaussianNB):
    pass


@recipe
def exact_models_that_fail_at_mixed_rows(rng: Rng) -> Setup:
    rows = np.clip(numbers(rng, int(rng.integers(2, 6))), -3.0, 3.0)
    # the last column decides much, so that changing it crosses, where it may
    background, y, queries = split(rows, (rows[:, -1] + 0.3 * labels_of(rng, rows) > 0.4).astype(int))
    queries = queries.copy()
    # some queries are fine themselves and fail once their last value is the reference's; the others are fine throughout
    far = rng.random(len(queries)) < 0.5
    queries[far, 0], queries[far, -1] = 4.0, 1.0
    model = pick(
        rng,
        {
            "logistic": FailingLogistic,
            "forest": lambda: FailingForest(6, max_depth=3, random_state=0),
            "bayes": FailingBayes,
        },
    ).fit(background, y)
    model.fault = str(rng.choice(["nan", "raise"]))
    return classifier(
        rng,
        model,
        background,
        y,
        queries,
        free_reference=False,
        vary_threshold=False,
        may_fail=True,
        saves=False,
        rounding=1e-9,
        order_tolerance=1e-6,
    )


class WritingScore:
    """A sum that is worked out in the very table that it was handed."""

    def __init__(self, weights: np.ndarray, way: str) -> None:
        self.weights, self.way = weights, way

    def __call__(self, rows: Any) -> np.ndarray:
        if isinstance(rows, pd.DataFrame):
            first = rows.columns[0]
            if self.way == "new column":
                scores = rows.to_numpy(dtype=float) @ self.weights
                rows["total"] = scores
                return scores
            if self.way == "in place":
                rows.iloc[:, 0] = rows.iloc[:, 0] * self.weights[0]
                return rows.to_numpy(dtype=float) @ np.r_[1.0, self.weights[1:]]
            rows[first] = rows[first] * self.weights[0]
            return rows.to_numpy(dtype=float) @ np.r_[1.0, self.weights[1:]]
        rows *= self.weights.astype(rows.dtype)
        return rows.sum(axis=1).astype(float)


@recipe
def callables_that_write_into_their_rows(rng: Rng) -> Setup:
    n_columns = int(rng.integers(2, 6))
    rows = rng.integers(-2, 4, (70, n_columns)).astype(float)
    table: Any = rows
    if rng.random() < 0.6:
        table = pd.DataFrame(rows, columns=[f"c{place}" for place in range(n_columns)])
    background, _, queries = split(table, labels_of(rng, rows))
    weights = rng.integers(-2, 4, n_columns).astype(float)
    weights[0] = 2.0
    model = WritingScore(weights, str(rng.choice(["new column", "in place", "column"])))
    threshold = float(rng.integers(-1, 4))

    def score(some: Any) -> np.ndarray:
        return np.asarray(some, dtype=float) @ weights

    return Setup(
        model=model,
        background=background.copy(),
        queries=queries.copy(),
        score=score,
        threshold=threshold,
        options={"threshold": threshold},
        reference=negative_row(rng, score, threshold, background).copy(),
        order_tolerance=0.0,
    )


class ShortScore:
    """Returns one score for many rows: right while it is tried on a few, spread over all of them later."""

    def __init__(self, weights: np.ndarray, n_tried: int, length: str) -> None:
        self.weights, self.n_tried, self.length = weights, n_tried, length

    def __call__(self, rows: Any) -> np.ndarray:
        scores = np.asarray(rows, dtype=float) @ self.weights
        if len(rows) <= self.n_tried:
            return scores
        return scores[:1] if self.length == "one" else scores[:-1] if self.length == "short" else scores.repeat(2)


@recipe
def scores_of_another_length(rng: Rng) -> Setup:
    """Where the number of scores is not that of the rows, nothing may be concluded from them."""
    rows = rng.integers(-2, 4, (8, int(rng.integers(2, 5)))).astype(float)
    weights = rng.integers(-1, 3, rows.shape[1]).astype(float)
    model = ShortScore(weights, int(rng.choice([1, 4, 8])), str(rng.choice(["one", "short", "long"])))
    truth = ShortScore(weights, 1 << 30, "")
    return Setup(
        model=model,
        background=rows,
        queries=rng.integers(-2, 4, (6, rows.shape[1])).astype(float),
        score=truth,
        threshold=0.5,
        options={"threshold": 0.5},
        reference=negative_row(rng, truth, 0.5, rows),
        refuses=(SevError,),
        may_raise=(SevError,),
        may_fail=True,
        may_give_up=True,
        order_tolerance=0.0,
    )


class RandomScore:
    """A sum with noise: the same row has another score each time."""

    def __init__(self, seed: int, noise: float) -> None:
        self.rng, self.noise = np.random.default_rng(seed), noise

    def __call__(self, rows: Any) -> np.ndarray:
        sums = np.asarray(rows, dtype=float).sum(axis=1)
        return 1.0 / (1.0 + np.exp(-sums - self.noise * self.rng.normal(size=len(sums))))


@recipe
def models_that_are_not_deterministic(rng: Rng) -> Setup:
    rows = numbers(rng, int(rng.integers(2, 6)))
    model = RandomScore(int(rng.integers(1 << 30)), float(rng.choice([0.3, 2.0])))
    reference = rows[[int(np.argmin(rows.sum(axis=1)))]] - 1.0
    return Setup(
        model=model,
        background=rows[:60],
        queries=rows[60:] + 0.5,
        score=model,
        reference=reference,
        options={"allow_positive_reference": True},
        repeatable=False,
        saves=False,
    )


class NoisyLogistic(linear_model.LogisticRegression):
    """An exact form that is not the model's: its probabilities have noise near the decision only."""

    def predict_proba(self, X: Any) -> np.ndarray:
        outputs = super().predict_proba(X)
        state = getattr(self, "noise_", None)
        if state is None:
            state = self.noise_ = np.random.default_rng(0)
        noise = 0.3 * state.normal(size=len(outputs)) * (np.abs(np.asarray(X, dtype=float)[:, 0]) > 3.0)
        second = np.clip(outputs[:, 1] + noise, 0.0, 1.0)
        return np.column_stack([1.0 - second, second])


@recipe
def noise_outside_the_background(rng: Rng) -> Setup:
    rows = np.clip(numbers(rng, int(rng.integers(2, 5))), -3.0, 3.0)
    background, y, queries = split(rows, labels_of(rng, rows))
    queries = queries.copy()
    queries[:, 0] = 4.0
    model = NoisyLogistic().fit(background, y)
    return Setup(
        model=model,
        background=background,
        y=y,
        queries=queries,
        score=lambda table: model.predict_proba(table)[:, 1],
        repeatable=False,
        saves=False,
        options={"reference": "mean"},
    )
