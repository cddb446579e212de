"""Small random models of every family, each with the kinds of columns that it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, PolynomialFeatures, SplineTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

Score = Callable[[pd.DataFrame], np.ndarray]


@dataclass(frozen=True)
class Family:
    """How models of a family are made.

    Parameters
    ----------
    make : callable
        From a random generator, rows and labels to a fitted model.
    categories : {"text", "native", "none"}
        What its categories are.
    missing : bool
        Whether it takes missing values.
    exact : bool
        Whether equal rows have equal scores to the last bit, whatever they are scored with.
    """

    make: Callable[[np.random.Generator, pd.DataFrame, np.ndarray], Any]
    categories: str = "text"
    missing: bool = False
    exact: bool = True


def score_of(model: Any) -> Score:
    """The probability of the explained class, or what a function returns."""
    if not hasattr(model, "predict_proba"):
        return lambda frame: np.asarray(model(frame), dtype=np.float64)
    return lambda frame: np.asarray(model.predict_proba(frame)[:, 1], dtype=np.float64)


def encoded(model: Any, numbers: Any = "passthrough") -> Any:
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include=np.number)),
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), make_column_selector(dtype_exclude=np.number)),
    )
    return make_pipeline(columns, model)


def library(package: str, name: str, **options: Any) -> Any:
    """A model of a package that need not be installed."""
    return getattr(pytest.importorskip(package), name)(**options, random_state=0, n_jobs=1)


def round_weights(random: np.random.Generator, rows: pd.DataFrame, labels: np.ndarray) -> Any:
    """Weights that are multiples of a quarter, so that scores are exactly at the threshold now and then."""
    model = encoded(LogisticRegression()).fit(rows, labels)
    last = model[-1]
    last.coef_ = np.round(4 * last.coef_) / 4
    margins = model.decision_function(rows) - last.intercept_[0]
    last.intercept_ = -np.array([np.round(4 * np.quantile(margins, random.uniform(0.3, 0.7))) / 4])
    return model


def integer_function(random: np.random.Generator, rows: pd.DataFrame, labels: np.ndarray) -> Any:
    """A score of no known form, whose values are integers: ties are frequent."""
    weights = random.integers(-2, 3, len(rows.columns) + 1)
    middle = {name: rows[name].median() for name in rows.select_dtypes("number").columns}
    favoured = random.choice(["x", "y", "z"])

    def score(frame: pd.DataFrame) -> np.ndarray:
        parts = [
            np.round(np.abs(frame[name].to_numpy(dtype=float) - middle[name]) * 2)
            if name in middle
            else 2.0 * (frame[name].astype(object) == favoured).to_numpy()
            for name in frame.columns
        ]
        total = sum(weight * part for weight, part in zip(weights, parts, strict=False))
        return total + weights[-1] * (parts[0] % 3) * (parts[-1] > 1)

    level = float(np.median(score(rows)))
    return lambda frame: score(frame) - level


def _fit(make: Callable[[int], Any]) -> Callable[[np.random.Generator, pd.DataFrame, np.ndarray], Any]:
    return lambda random, rows, labels: make(int(random.integers(1000))).fit(rows, labels)


def _bins(seed: int) -> Any:
    width = 2 + seed % 3
    return KBinsDiscretizer(width, encode="onehot-dense", strategy="uniform")


FAMILIES = {
    "linear": Family(_fit(lambda seed: encoded(LogisticRegression(C=3.0), StandardScaler())), exact=False),
    "round linear": Family(round_weights),
    "imputed linear": Family(
        _fit(lambda seed: encoded(LogisticRegression(C=3.0), make_pipeline(SimpleImputer(), StandardScaler()))),
        missing=True,
        exact=False,
    ),
    "splines": Family(
        _fit(lambda seed: encoded(LogisticRegression(C=5.0), SplineTransformer(3 + seed % 3, degree=1 + seed % 3))),
        exact=False,
    ),
    "bins": Family(_fit(lambda seed: encoded(LogisticRegression(), _bins(seed))), exact=False),
    "powers": Family(
        _fit(
            lambda seed: make_pipeline(
                make_column_transformer(
                    *((PolynomialFeatures(2 + seed % 2, include_bias=False), [name]) for name in ("n0", "n1")),
                    (OneHotEncoder(sparse_output=False), make_column_selector(dtype_exclude=np.number)),
                ),
                StandardScaler(),
                LogisticRegression(),
            )
        ),
        exact=False,
    ),
    "naive bayes": Family(_fit(lambda seed: GaussianNB(var_smoothing=1e-3)), categories="none", exact=False),
    "tree": Family(_fit(lambda seed: encoded(DecisionTreeClassifier(max_depth=5, random_state=seed)))),
    "forest": Family(_fit(lambda seed: encoded(RandomForestClassifier(7, max_depth=4, random_state=seed)))),
    "extra trees": Family(
        _fit(lambda seed: ExtraTreesClassifier(9, max_depth=5, random_state=seed)), categories="none", missing=True
    ),
    "boosting": Family(_fit(lambda seed: encoded(GradientBoostingClassifier(n_estimators=10, random_state=seed)))),
    "histograms": Family(
        _fit(
            lambda seed: HistGradientBoostingClassifier(
                max_iter=10, min_samples_leaf=4, categorical_features="from_dtype", random_state=seed
            )
        ),
        categories="native",
        missing=True,
    ),
    "lightgbm": Family(
        _fit(
            lambda seed: library(
                "lightgbm", "LGBMClassifier", n_estimators=10, min_child_samples=4, cat_smooth=1.0,
                min_data_per_group=3, max_cat_to_onehot=1 + 3 * (seed % 2), zero_as_missing=seed % 3 == 0, verbose=-1,
            )
        ),
        categories="native",
        missing=True,
    ),
    "xgboost": Family(
        _fit(
            lambda seed: library(
                "xgboost", "XGBClassifier", n_estimators=9, max_depth=3, enable_categorical=True,
                max_cat_to_onehot=1 + 4 * (seed % 2), tree_method="hist",
            )
        ),
        categories="native",
        missing=True,
    ),
    "network": Family(
        _fit(lambda seed: encoded(MLPClassifier((4,), max_iter=300, tol=1e-2, random_state=seed), StandardScaler())),
        exact=False,
    ),
    "function": Family(integer_function),
}  # fmt: skip
