"""XGBoost, LightGBM and CatBoost: numbers, missing values, categories, categories that training did not see."""

from __future__ import annotations

from typing import Any

import catboost
import lightgbm
import numpy as np
import pandas as pd
import xgboost
from contracts.fuzz.draw import Rng, classifier, labels_of, mixed_frame, negative_row, numbers, split
from contracts.fuzz.recipes._registry import recipe
from contracts.fuzz.recipes.plain import on_numbers, pick
from contracts.fuzz.setups import Setup
from sklearn.ensemble import HistGradientBoostingClassifier

from sev.exceptions import InputError

SMALL = {"n_estimators": 6, "max_depth": 3}


def make_xgboost(**options: Any) -> Any:
    return xgboost.XGBClassifier(**SMALL, n_jobs=1, random_state=0, **options)


def make_lightgbm(**options: Any) -> Any:
    return lightgbm.LGBMClassifier(**SMALL, min_child_samples=3, n_jobs=1, verbose=-1, random_state=0, **options)


def make_catboost(**options: Any) -> Any:
    return catboost.CatBoostClassifier(
        iterations=6, depth=3, thread_count=1, verbose=False, allow_writing_files=False, random_seed=0, **options
    )


BOOSTERS = {"xgboost": make_xgboost, "lightgbm": make_lightgbm, "catboost": make_catboost}
#: Their scores are sums of float32, in an order of their own.
SINGLE = {"order_tolerance": 1e-5}


@recipe
def boosters_on_numbers(rng: Rng) -> Setup:
    missing = float(rng.choice([0.0, 0.15]))
    rows = numbers(rng, missing=missing)
    model = pick(rng, BOOSTERS)
    rounding = 1e-9 if isinstance(model, catboost.CatBoostClassifier) else 0.0
    return on_numbers(rng, model, rows, labels_of(rng, rows), rounding=rounding, **SINGLE)


@recipe
def boosters_with_new_missing_values(rng: Rng) -> Setup:
    """No background row misses a value, queries do."""
    rows = numbers(rng)
    labels = labels_of(rng, rows)
    background, y, queries = split(rows, labels)
    queries = queries.copy()
    queries[rng.random(queries.shape) < 0.3] = np.nan
    model = pick(rng, {**BOOSTERS, "hist": lambda: HistGradientBoostingClassifier(max_iter=6, min_samples_leaf=3)})
    rounding = 1e-9 if isinstance(model, catboost.CatBoostClassifier) else 0.0
    return classifier(rng, model.fit(background, y), background, y, queries, rounding=rounding, **SINGLE)


@recipe
def raw_boosters(rng: Rng) -> Setup:
    rows = numbers(rng)
    background, y, queries = split(rows, labels_of(rng, rows))
    if rng.random() < 0.5:
        model: Any = xgboost.train(
            {"objective": "binary:logistic", "max_depth": 3, "nthread": 1}, xgboost.DMatrix(background, y), 5
        )
        score = lambda table: model.predict(xgboost.DMatrix(table)).astype(float)  # noqa: E731
    else:
        model = lightgbm.train(
            {"objective": "binary", "verbose": -1, "num_threads": 1, "min_data_in_leaf": 3},
            lightgbm.Dataset(background, y),
            5,
        )
        score = lambda table: model.predict(table)  # noqa: E731
    return Setup(
        model=model,
        background=background,
        y=y,
        queries=queries,
        score=score,
        reference=negative_row(rng, score, 0.5, background),
        **SINGLE,
    )


def _with_categories(rng: Rng, *, unseen: bool) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    frame, _ = mixed_frame(rng, kinds=["category", "float", "category", "int"][: int(rng.integers(2, 5))])
    # the categories decide, so that another one in their place matters
    words = rng.permutation(frame["category0"].cat.categories)
    labels = (frame["category0"].isin(words[:2]) ^ (frame["float1"] > 0.8)).to_numpy().astype(int)
    gone = {name: str(rng.choice(frame[name].cat.categories)) for name in categories_of(frame)}
    for name, category in gone.items():
        # declared by the dtype, though no row of the background has it
        other = next(one for one in frame[name].cat.categories if one != category)
        frame[name] = frame[name].mask(frame[name] == category, other)
    background, y, queries = split(frame, labels)
    if unseen:
        for name, category in gone.items():
            queries[name] = _with_unseen(rng, queries[name], category)
    return background, y, queries


def _with_unseen(rng: Rng, column: pd.Series, gone: str) -> pd.Series:
    """A column of queries in which some categories are new to the model."""
    way = str(rng.choice(["declared", "new", "new", "beyond the last"]))
    if way == "declared":
        return column.mask(rng.random(len(column)) < 0.5, gone)
    if way == "new":
        fresh = str(rng.choice(["amber", "cyan", "gold", "pink"]))
        return column.cat.add_categories([fresh]).mask(rng.random(len(column)) < 0.5, fresh)
    # XGBoost refuses a table that declares a category after all known ones: here in every row
    return pd.Series(pd.Categorical(["violet"] * len(column), [*column.cat.categories, "violet"]), index=column.index)


def categories_of(frame: pd.DataFrame) -> list[str]:
    """Names of the category columns."""
    return [name for name in frame.columns if str(frame[name].dtype) == "category"]


@recipe
def boosters_with_categories(rng: Rng) -> Setup:
    background, y, queries = _with_categories(rng, unseen=False)
    return _fit_categories(rng, background, y, queries)


@recipe
def boosters_with_unseen_categories(rng: Rng) -> Setup:
    background, y, queries = _with_categories(rng, unseen=True)
    return _fit_categories(rng, background, y, queries)


@recipe
def xgboost_with_unseen_categories(rng: Rng) -> Setup:
    background, y, queries = _with_categories(rng, unseen=True)
    return _fit_categories(rng, background, y, queries, "xgboost")


@recipe
def boosters_with_codes_of_categories(rng: Rng) -> Setup:
    """Categories by number, and numbers that training did not see."""
    rows = numbers(rng, int(rng.integers(2, 5)))
    rows[:, 0] = rng.integers(0, 5, len(rows))
    background, y, queries = split(rows, labels_of(rng, rows))
    queries = queries.copy()
    queries[rng.random(len(queries)) < 0.5, 0] = float(rng.choice([3, 6, 9]))
    kinds = ["c", *["q"] * (rows.shape[1] - 1)]
    made = {
        "xgboost": lambda: make_xgboost(feature_types=kinds, enable_categorical=True, tree_method="hist"),
        "hist": lambda: HistGradientBoostingClassifier(max_iter=6, min_samples_leaf=3, categorical_features=[0]),
    }
    model = pick(rng, made).fit(background, y)
    return classifier(rng, model, background, y, queries, free_reference=False, may_fail=True, **SINGLE)


def _fit_categories(rng: Rng, background: Any, y: Any, queries: Any, which: str | None = None) -> Setup:
    which = which or str(rng.choice(["xgboost", "lightgbm", "hist", "catboost"]))
    known: dict[str, Any] = {"may_fail": True, **SINGLE}
    if which == "xgboost":
        model = make_xgboost(enable_categorical=True, tree_method="hist").fit(background, y)
    elif which == "lightgbm":
        model = make_lightgbm(cat_smooth=1.0, min_data_per_group=3).fit(background, y)
    elif which == "hist":
        model = HistGradientBoostingClassifier(max_iter=6, min_samples_leaf=3, categorical_features="from_dtype")
        model.fit(background, y)
    else:
        model = make_catboost(cat_features=categories_of(background), one_hot_max_size=int(rng.choice([2, 10]))).fit(
            background, y
        )
        known["rounding"] = 1e-9
    return classifier(rng, model, background, y, queries, **known)


@recipe
def catboost_with_integer_categories(rng: Rng) -> Setup:
    """The mean of an integer category is a value that CatBoost refuses: the default reference must not be one."""
    frame, labels = mixed_frame(rng, kinds=["int", "float", "int"])
    background, y, queries = split(frame, labels)
    model = make_catboost(cat_features=[frame.columns[0]], one_hot_max_size=10).fit(background, y)
    setup = classifier(rng, model, background, y, queries, rounding=1e-9, **SINGLE)
    if setup.options.get("reference") in ("mean", "median"):
        setup.refuses = (InputError,)
    return setup


@recipe
def catboost_with_its_own_threshold(rng: Rng) -> Setup:
    rows = numbers(rng)
    background, y, queries = split(rows, labels_of(rng, rows))
    model = make_catboost().fit(background, y)
    threshold = float(rng.choice([0.2, 0.3, 0.4, 0.6, 0.7]))
    model.set_probability_threshold(threshold)
    return classifier(
        rng, model, background, y, queries, vary_threshold=False, threshold=threshold, rounding=1e-9, **SINGLE
    )
