"""Problems from fitted models and tables, scored by the model itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from oracle import oracle_of_problem

from sev.backends._registry import reader_for, scorer_for
from sev.core import Limits, Problem, unpack


def own_scores(model, response):
    """The model's own scores of classes_[1]."""
    if response == "call":
        return scorer_for(model)(model)
    if response == "predict_proba":
        return lambda rows: np.asarray(model.predict_proba(rows), dtype=float)[:, 1]
    return lambda rows: np.asarray(model.decision_function(rows), dtype=float)


def read(model, response="predict_proba"):
    return reader_for(model)(model, response)


def take(table, rows):
    return table.iloc[rows].reset_index(drop=True) if isinstance(table, pd.DataFrame) else table[rows]


def margin_band(backend, threshold):
    """Margins around the threshold of the score, by bisection."""
    low, high = -1e6, 1e6
    tolerance = backend.score_tolerance

    def bisect(level):
        a, b = low, high
        for _ in range(200):
            middle = 0.5 * (a + b)
            if backend.scores(np.array([middle]))[0] < level:
                a = middle
            else:
                b = middle
        return a, b

    return bisect(threshold - tolerance)[0], bisect(threshold + tolerance)[1]


def make_problem(model, backend, queries, reference, *, kind="minus", response="predict_proba", threshold=0.5,
                 groups=None, restricted=(), limits=None):  # fmt: skip
    """A problem over the rows of ``queries`` that start on the near side, with the model's own scores behind it."""
    score = own_scores(model, response)
    encoded, encoded_reference = backend.encode(queries), backend.encode(reference)[0]
    n_columns = encoded.shape[1]
    column_feature = np.arange(n_columns) if groups is None else np.asarray(groups)
    n_features = int(column_feature.max()) + 1
    positive = score(queries) >= threshold
    if kind == "plus" and score(reference)[0] >= threshold:
        return None
    keep = np.flatnonzero(positive)
    direction = -1 if kind == "minus" else 1
    queries = take(queries, keep)
    encoded = encoded[keep]
    same = (encoded == encoded_reference) | (np.isnan(encoded) & np.isnan(encoded_reference))
    active = np.zeros((len(keep), n_features), dtype=bool)
    for feature in range(n_features):
        active[:, feature] = ~same[:, column_feature == feature].all(axis=1)
    active[:, list(restricted)] = False

    def evaluate(rows, sets):
        source, goal = (queries, reference) if kind == "minus" else (reference, queries)
        columns = sets[:, column_feature]
        if isinstance(queries, pd.DataFrame):
            start = take(source, rows if kind == "minus" else np.zeros(len(rows), int))
            end = take(goal, np.zeros(len(rows), int) if kind == "minus" else rows)
            mixed = start.copy()
            for number, name in enumerate(mixed.columns):
                mixed[name] = start[name].where(~columns[:, number], end[name])
            return score(mixed)
        start = source[rows] if kind == "minus" else np.repeat(source, len(rows), axis=0)
        end = np.repeat(goal, len(rows), axis=0) if kind == "minus" else goal[rows]
        return score(np.where(columns, end, start))

    def is_across(scores):
        return scores < threshold if kind == "minus" else scores >= threshold

    low, high = margin_band(backend, threshold)
    return Problem(
        kind=kind, direction=direction, low=low, high=high, queries=encoded, reference=encoded_reference,
        column_feature=column_feature, active=active, evaluate=evaluate, is_across=is_across, across_sign=direction,
        limits=limits or Limits(max_sets=100_000),
    )  # fmt: skip


def all_scores(problem, rows):
    """The model's own scores of every set of each row."""
    n_features = problem.n_features
    numbers = np.arange(1 << n_features)
    sets = (numbers[:, None] >> np.arange(n_features)) & 1 == 1
    scores = problem.evaluate(np.repeat(rows, len(sets)), np.tile(sets, (len(rows), 1)))
    return scores.reshape(len(rows), -1)


def sets_of(solution, row, n_features):
    masks = solution.masks[solution.offsets[row] : solution.offsets[row + 1]]
    return [tuple(np.flatnonzero(bits).tolist()) for bits in unpack(masks, n_features)]


def compare(problem, solution, rows=None):
    """Assert that every row has the oracle's size and sets; returns the number of rows compared."""
    from sev import Status

    rows = np.arange(problem.n_rows) if rows is None else np.asarray(rows)
    known = all_scores(problem, rows) if problem.n_features <= 12 else [None] * len(rows)
    for row, scores in zip(rows, known, strict=True):
        size, sets = oracle_of_problem(problem, row, scores)
        found = sets_of(solution, row, problem.n_features)
        status = Status.from_code(int(solution.status[row]))
        assert len(set(found)) == len(found)
        assert set(found) == sets, (row, size, sets, found, status)
        if size is None:
            assert status == "unexplainable"
            assert solution.lower_bound[row] == problem.active[row].sum() + 1
        else:
            assert status == "optimal"
            assert solution.lower_bound[row] == size
        assert solution.complete[row]
    return len(rows)


def with_limits(problem, **limits):
    return replace(problem, limits=Limits(**limits))
