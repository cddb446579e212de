"""Pipelines on raw tables: imputers, encoders, unseen categories, missing values that the background does not have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from contracts.fuzz.draw import Rng, classifier, labels_of, mixed_frame, numbers, split, with_missing
from contracts.fuzz.recipes._registry import recipe
from contracts.fuzz.recipes.boosters import make_lightgbm, make_xgboost
from contracts.fuzz.recipes.plain import LINEAR, OTHERS, TREES, pick
from contracts.fuzz.setups import Setup
from sklearn.compose import make_column_transformer
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.feature_selection import SelectKBest
from sklearn.impute import IterativeImputer, KNNImputer, MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)

FINAL = {
    **{name: LINEAR[name] for name in ("logistic", "svc", "gaussian")},
    **{name: TREES[name] for name in ("tree", "forest", "boosting", "hist")},
    "xgboost": make_xgboost,
    "lightgbm": make_lightgbm,
    "network": OTHERS["network"],
}


def add_count_of_missing(rows: Any) -> np.ndarray:
    values = np.asarray(rows, dtype=float)
    return np.column_stack([np.nan_to_num(values), np.isnan(values).sum(axis=1)])


def log_of_absolute(rows: Any) -> Any:
    return np.log1p(np.abs(rows))


def as_text(rows: Any) -> Any:
    return rows.astype(str)


ACROSS_COLUMNS = {
    "neighbours": lambda: KNNImputer(n_neighbors=2),
    "iterative": lambda: IterativeImputer(max_iter=2, random_state=0),
    "count": lambda: FunctionTransformer(add_count_of_missing),
    "indicator": lambda: FeatureUnion([("values", SimpleImputer()), ("missing", MissingIndicator(features="all"))]),
    "neighbours and indicator": lambda: KNNImputer(n_neighbors=2, add_indicator=True),
}


@recipe
def imputers_that_look_across_columns(rng: Rng) -> Setup:
    """The background misses nothing, so that every encoded column seems to depend on one raw column."""
    rows = numbers(rng, int(rng.integers(3, 6)))
    background, y, queries = split(rows, labels_of(rng, rows))
    # no two rows are equally near: which of them KNNImputer takes would depend on the other rows of a call
    background = background + 1e-3 * rng.normal(size=background.shape)
    if rng.random() < 0.3:
        background[: len(background) // 2, 0][::3] = np.nan  # one column only
    queries = queries.copy()
    queries[rng.random(queries.shape) < 0.35] = np.nan
    model = make_pipeline(pick(rng, ACROSS_COLUMNS), pick(rng, FINAL)).fit(background, y)
    return classifier(rng, model, background, y, queries, rounding=1e-7, order_tolerance=1e-5)


@recipe
def imputers_column_by_column(rng: Rng) -> Setup:
    rows = numbers(rng, missing=0.1)
    background, y, queries = split(rows, labels_of(rng, rows))
    queries = queries.copy()
    queries[rng.random(queries.shape) < 0.3] = np.nan
    imputer = SimpleImputer(
        strategy=str(rng.choice(["mean", "median", "most_frequent"])), add_indicator=bool(rng.random() < 0.5)
    )
    scale = pick(rng, {"standard": StandardScaler, "range": MinMaxScaler, "rows": Normalizer})
    model = make_pipeline(imputer, scale, pick(rng, FINAL)).fit(background, y)
    return classifier(rng, model, background, y, queries, rounding=1e-7, order_tolerance=1e-5)


def encoder_for(rng: Rng, frame: pd.DataFrame, *, imputes: bool) -> Any:
    """A column transformer over a frame of mixed columns."""
    numeric = [name for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name].dtype)]
    text = [name for name in frame.columns if name not in numeric]
    encode = {
        "one-hot": lambda: OneHotEncoder(handle_unknown="ignore", sparse_output=bool(rng.random() < 0.5)),
        "infrequent": lambda: OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=8),
        "ordinal": lambda: OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
        ),
        "target": lambda: TargetEncoder(cv=2, random_state=0),
    }
    scale = {
        "standard": StandardScaler,
        "log": lambda: FunctionTransformer(log_of_absolute),
        "as they are": FunctionTransformer,
        "bins": lambda: KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"),
    }
    if all(pd.api.types.is_bool_dtype(frame[name].dtype) for name in numeric):
        del scale["bins"]  # booleans have no quantiles
    prepare = [SimpleImputer(add_indicator=bool(rng.random() < 0.3))] if imputes else []
    steps: list[tuple[Any, list[str]]] = []
    if text:
        steps.append((pick(rng, encode), text))
    if numeric:
        steps.append((make_pipeline(*prepare, pick(rng, scale)), numeric))
    return make_column_transformer(*steps, sparse_threshold=0)


def pipeline_on(rng: Rng, kinds: list[str], *, unseen: bool, missing: bool) -> Setup:
    frame, labels = mixed_frame(rng, kinds=list(rng.choice(kinds, int(rng.integers(2, 6)))))
    background, y, queries = split(frame, labels)
    model = make_pipeline(encoder_for(rng, background, imputes=missing), pick(rng, FINAL)).fit(background, y)
    if unseen:
        for name in queries.columns:
            if queries[name].dtype == object or pd.api.types.is_string_dtype(queries[name].dtype):
                queries[name] = queries[name].mask(rng.random(len(queries)) < 0.5, "violet")
    if missing:
        queries = with_missing(rng, queries, 0.25)
    return classifier(rng, model, background, y, queries, rounding=1e-7, order_tolerance=1e-5, may_fail=True)


@recipe
def pipelines_on_mixed_tables(rng: Rng) -> Setup:
    return pipeline_on(rng, ["float", "single", "int", "small", "bool", "text", "object"], unseen=False, missing=False)


@recipe
def pipelines_with_unseen_categories(rng: Rng) -> Setup:
    return pipeline_on(rng, ["float", "int", "bool", "text", "object"], unseen=True, missing=False)


@recipe
def pipelines_with_new_missing_values(rng: Rng) -> Setup:
    return pipeline_on(rng, ["float", "single", "int", "text", "object"], unseen=bool(rng.random() < 0.5), missing=True)


@recipe
def integers_that_become_text(rng: Rng) -> Setup:
    """An integer that nobody touched must not reach the encoder as "3.0"."""
    frame, labels = mixed_frame(rng, kinds=list(rng.choice(["int", "small", "bool", "float"], 4)))
    background, y, queries = split(frame, labels)
    # encoded by value: the text of a float is another category than the text of an integer
    as_words = make_pipeline(FunctionTransformer(as_text), OneHotEncoder(handle_unknown="ignore", sparse_output=False))
    model = make_pipeline(as_words, pick(rng, FINAL)).fit(background, y)
    return classifier(rng, model, background, y, queries, rounding=1e-7, order_tolerance=1e-5)


@recipe
def selected_columns(rng: Rng) -> Setup:
    rows = numbers(rng, int(rng.integers(3, 7)))
    background, y, queries = split(rows, labels_of(rng, rows))
    model = make_pipeline(StandardScaler(), SelectKBest(k=2), pick(rng, FINAL)).fit(background, y)
    return classifier(rng, model, background, y, queries, rounding=1e-7, order_tolerance=1e-5)
