"""Options of the libraries that change how a model scores, and values on the very thresholds of trees."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from contracts.fuzz.draw import Rng, classifier, labels_of, numbers, split
from contracts.fuzz.recipes._registry import recipe
from contracts.fuzz.recipes.boosters import make_catboost, make_lightgbm, make_xgboost
from contracts.fuzz.recipes.plain import LINEAR, TREES, on_numbers, pick
from contracts.fuzz.setups import Setup, SkipSetup
from sklearn import ensemble, tree
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

SINGLE = {"order_tolerance": 1e-5, "rounding": 1e-9}


@recipe
def options_of_xgboost(rng: Rng) -> Setup:
    made = {
        "dart": lambda: make_xgboost(booster="dart", rate_drop=0.3),
        "linear": lambda: make_xgboost(booster="gblinear"),
        "marker": lambda: make_xgboost(missing=-1.0),
        "zero is missing": lambda: make_xgboost(missing=0.0),
        "base": lambda: make_xgboost(base_score=0.3),
        "monotone": lambda: make_xgboost(monotone_constraints=(1, -1)),
        "parallel": lambda: make_xgboost(num_parallel_tree=2, subsample=0.7),
        "lossguide": lambda: make_xgboost(grow_policy="lossguide", max_leaves=4),
        "weights": lambda: make_xgboost(scale_pos_weight=3.0, reg_alpha=0.5),
    }
    rows = numbers(rng, 2, missing=float(rng.choice([0.0, 0.1])))
    return on_numbers(rng, pick(rng, made), rows, labels_of(rng, rows), **SINGLE)


@recipe
def options_of_lightgbm(rng: Rng) -> Setup:
    made = {
        "zero is missing": lambda: make_lightgbm(zero_as_missing=True),
        "missing is zero": lambda: make_lightgbm(use_missing=False),
        "linear trees": lambda: make_lightgbm(linear_tree=True),
        "dart": lambda: make_lightgbm(boosting_type="dart"),
        "forest": lambda: make_lightgbm(boosting_type="rf", bagging_freq=1, bagging_fraction=0.7),
        "unbalanced": lambda: make_lightgbm(is_unbalance=True),
        "cross-entropy": lambda: make_lightgbm(objective="cross_entropy"),
        "extra": lambda: make_lightgbm(extra_trees=True, path_smooth=1.0),
    }
    rows = numbers(rng, int(rng.integers(2, 5)), missing=float(rng.choice([0.0, 0.1])))
    if rng.random() < 0.3:
        rows[rng.random(rows.shape) < 0.2] = float(rng.choice([1e-36, -1e-36, 1e-34]))
    return on_numbers(rng, pick(rng, made), rows, labels_of(rng, rows), **SINGLE)


@recipe
def options_of_catboost(rng: Rng) -> Setup:
    made = {
        "missing is large": lambda: make_catboost(nan_mode="Max"),
        "depthwise": lambda: make_catboost(grow_policy="Depthwise"),
        "lossguide": lambda: make_catboost(grow_policy="Lossguide", max_leaves=4),
        "cross-entropy": lambda: make_catboost(loss_function="CrossEntropy"),
        "monotone": lambda: make_catboost(monotone_constraints=[1, -1]),
        "weights": lambda: make_catboost(auto_class_weights="Balanced"),
    }
    rows = numbers(rng, 2, missing=float(rng.choice([0.0, 0.1])))
    return on_numbers(rng, pick(rng, made), rows, labels_of(rng, rows), **SINGLE)


@recipe
def early_stopping(rng: Rng) -> Setup:
    rows = numbers(rng)
    background, y, queries = split(rows, labels_of(rng, rows, noise=1.0))
    held = (background[::3], y[::3])
    if rng.random() < 0.5:
        model: Any = make_xgboost(early_stopping_rounds=1).set_params(n_estimators=15)
        model.fit(background, y, eval_set=[held], verbose=False)
    else:
        model = make_lightgbm().set_params(n_estimators=15)
        model.fit(background, y, eval_set=[held], callbacks=[lightgbm.early_stopping(1, verbose=False)])
    return classifier(rng, model, background, y, queries, **SINGLE)


def _thresholds_of(model: Any) -> np.ndarray:
    """Numbers at which some tree of a model splits."""
    if isinstance(model, xgboost.XGBClassifier):
        return model.get_booster().trees_to_dataframe()["Split"].dropna().to_numpy(dtype=float)
    if isinstance(model, lightgbm.LGBMClassifier):
        return model.booster_.trees_to_dataframe()["threshold"].dropna().to_numpy(dtype=float)
    if isinstance(model, ensemble.HistGradientBoostingClassifier):
        nodes = np.concatenate([one.nodes for stage in model._predictors for one in stage])
        return nodes["num_threshold"][nodes["is_leaf"] == 0]
    members = np.ravel(getattr(model, "estimators_", [model]))
    found = [one.tree_.threshold[one.tree_.children_left >= 0] for one in members]
    return np.concatenate(found)


@recipe
def values_on_the_thresholds_of_trees(rng: Rng) -> Setup:
    """Values at a split and the next float on either side, in single and double precision."""
    rows = numbers(rng, int(rng.integers(2, 5)))
    rows += rng.normal(size=rows.shape) * 1e-3
    background, y, queries = split(rows, labels_of(rng, rows))
    kinds = {name: TREES[name] for name in ("tree", "forest", "extra", "boosting", "hist")}
    model = pick(rng, {**kinds, "xgboost": make_xgboost, "lightgbm": make_lightgbm}).fit(background, y)
    splits = _thresholds_of(model)
    if not len(splits):
        splits = np.zeros(1)

    def near(shape: tuple[int, ...]) -> np.ndarray:
        chosen = rng.choice(splits, shape)
        single = chosen.astype(np.float32)
        ways = [
            chosen,
            np.nextafter(chosen, np.inf),
            np.nextafter(chosen, -np.inf),
            single.astype(float),
            np.nextafter(single, np.float32(np.inf)).astype(float),
            np.nextafter(single, np.float32(-np.inf)).astype(float),
        ]
        return np.select([rng.integers(0, 6, shape) == number for number in range(5)], ways[:5], ways[5])

    queries = np.where(rng.random(queries.shape) < 0.7, near(queries.shape), queries)
    background = np.vstack([background, near((10, rows.shape[1]))])
    y = np.r_[y, np.arange(10) % 2]
    return classifier(rng, model, background, y, queries, free_reference=False, order_tolerance=1e-5)


@recipe
def numbers_of_all_sizes(rng: Rng) -> Setup:
    """Tiny, huge and signed zero; models may refuse the largest."""
    rows = numbers(rng, int(rng.integers(2, 5)))
    scale = rng.choice(
        [1e-320, 1e-38, 1e-6, 1.0, 1e9, 1e38, 1e39, 1e300], rows.shape, p=[0.05, 0.05, 0.1, 0.5, 0.1, 0.1, 0.05, 0.05]
    )
    labels = labels_of(rng, rows)
    rows = rows * scale
    rows[rng.random(rows.shape) < 0.1] = -0.0
    background, y, queries = split(rows, labels)
    background = np.clip(background, -1e37, 1e37)
    model = pick(
        rng,
        {
            **TREES,
            **{name: LINEAR[name] for name in ("logistic", "gaussian")},
            "xgboost": make_xgboost,
            "lightgbm": make_lightgbm,
        },
    )
    try:
        model.fit(background, y)
    except ValueError as error:
        raise SkipSetup("the model refuses such numbers") from error
    return classifier(rng, model, background, y, queries, free_reference=False, may_fail=True, rounding=1e-9)


CLASS_NAMES: list[list[Any]] = [["no", "yes"], [-1, 1], [False, True], [1, 2], ["1", "0"], [0.5, 1.5], ["yes", "no"]]


@recipe
def names_of_classes(rng: Rng) -> Setup:
    rows = numbers(rng)
    names = CLASS_NAMES[int(rng.integers(len(CLASS_NAMES)))]
    labels = np.array(names)[labels_of(rng, rows)]
    background, y, queries = rows[:62], labels[:62], rows[62:]
    kinds = {**{name: LINEAR[name] for name in ("logistic", "svc", "gaussian")}, **TREES, "lightgbm": make_lightgbm}
    model: Any = pick(rng, kinds)
    if rng.random() < 0.3:
        model = make_pipeline(StandardScaler(), model)
    try:
        model.fit(background, y)
    except (ValueError, TypeError):  # some libraries take no such labels
        model = LogisticRegression().fit(background, y.astype(str))
        y = y.astype(str)
    return classifier(rng, model, background, y, queries, rounding=1e-9, order_tolerance=1e-6)


@recipe
def one_model_for_each_class(rng: Rng) -> Setup:
    rows = numbers(rng)
    model = OneVsRestClassifier(pick(rng, {name: LINEAR[name] for name in ("logistic", "svc")}))
    n_classes = int(rng.choice([2, 3]))
    return on_numbers(rng, model, rows, labels_of(rng, rows, n_classes), rounding=1e-9, vary_threshold=n_classes == 2)


def months_of(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({name: frame[name].dt.day % 3 + frame[name].isna() for name in frame.columns}).fillna(-1.0)


@recipe
def dates_in_pipelines(rng: Rng) -> Setup:
    n_rows = 70
    frame = pd.DataFrame(
        {
            name: pd.Timestamp("2024-01-30") + pd.to_timedelta(rng.integers(0, 60, n_rows), unit="D")
            for name in ("opened", "born", "due")[: int(rng.integers(1, 4))]
        }
    )
    days = frame.apply(lambda column: column.dt.day % 3).to_numpy(dtype=float)
    background, y, queries = split(frame, labels_of(rng, days))
    if rng.random() < 0.4:
        queries = queries.mask(rng.random(queries.shape) < 0.3)
    model = make_pipeline(FunctionTransformer(months_of), tree.DecisionTreeClassifier(max_depth=3)).fit(background, y)
    return classifier(rng, model, background, y, queries, rounding=1e-9)
