"""The paper's baselines as its authors' published code has them, where that is not what the paper says.

Read there: splits are not stratified. The encoder is fitted on the negatives of all rows, test rows among them. A
column of two values, be it of numbers, becomes one of 0 and 1 in its place, and its reference is the more common value;
one-hot blocks of texts come last. The reference follows the order of the raw columns, so on mixed data its values land
in columns of other features. Logistic regressions are liblinear's, with C = 1 on German Credit; networks have one
hidden layer. The search starts at one feature and gives up after six.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sev_reproduction import _conditions, _measure, _models, _reweight
from sev_reproduction._conditions import Rows
from sev_reproduction._data import FIRST_SEED, load
from sev_reproduction._plan import Plan

#: Inverse penalties of logistic regressions where they are not the paper's.
_PENALTIES = {"german": 1.0}

#: Splits of :func:`auc_of_splits`, of a full and of a quick run.
_SPLITS, _QUICK_SPLITS = 100, 20


def measure(model: str, data: str, number: int, plan: Plan) -> dict[str, Any]:
    """A baseline of one split by the authors' code, with either reference; boosted trees also from random weights."""
    rows = split(data, number, plan)
    seed = FIRST_SEED + number
    pipeline = fitted(model, data, rows, seed)
    found = _by_reference("the authors' code", pipeline, rows, plan)
    if model == "gbdt":
        Z = _measure.quietly(pipeline[0].transform, rows[0])
        _reweight.from_random_weights(pipeline[-1], Z, rows[1], seed)
        found |= _by_reference("the authors' code, random tree weights", pipeline, rows, plan)
    return found


def _by_reference(name: str, pipeline: Pipeline, rows: Rows, plan: Plan) -> dict[str, Any]:
    found = {}
    for how in ("mean", "median"):
        raw = reference(negatives(rows), how)
        explainer = _conditions.misplaced_explainer(pipeline, rows[0], rows[1], raw)
        found[f"{name}, {how}"] = _conditions.figures(pipeline, explainer, rows, plan, encoded=True)
    return found


def auc_of_splits(model: str, data: str, plan: Plan) -> list[float]:
    """AUC on the test parts of many splits, to tell what ten of them say."""
    found = []
    for number in range(_QUICK_SPLITS if plan.quick else _SPLITS):
        rows = split(data, number, plan)
        pipeline = fitted(model, data, rows, FIRST_SEED + number)
        found.append(_measure.quality(pipeline, rows[2], rows[3], "test")["test_auc"])
    return found


def split(data: str, number: int, plan: Plan) -> Rows:
    """One 80/20 split that is not stratified; as many training rows as the plan has."""
    X, y = load(data, plan)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=FIRST_SEED + number)
    first = slice(plan.max_train_rows)
    return X_train.iloc[first].reset_index(drop=True), y_train[first], X_test.reset_index(drop=True), y_test


def fitted(model: str, data: str, rows: Rows, seed: int) -> Pipeline:
    """A baseline whose encoder has seen the negatives of all rows, and its classifier the training rows."""
    transformer = encoder(negatives(rows))
    inner = _estimator(model, _PENALTIES.get(data, _models.PAPER_C), seed)
    inner.fit(_measure.quietly(transformer.transform, rows[0]), rows[1])
    return make_pipeline(transformer, inner)


def negatives(rows: Rows) -> pd.DataFrame:
    """The rows of the negative class, of training and test part."""
    X_train, y_train, X_test, y_test = rows
    return pd.concat([X_train[y_train == 0], X_test[y_test == 0]], ignore_index=True)


def encoder(X: pd.DataFrame) -> Any:
    """A transformer fitted on ``X``: numbers and two-valued columns in place, one-hot blocks of texts at the end."""
    blocks = [name for name in X.columns if not _is_number(X[name]) and X[name].nunique() > 2]
    ordered = [*(name for name in X.columns if name not in blocks), *blocks]
    return make_column_transformer(*((_step(X[name]), [name]) for name in ordered)).fit(X)


def _step(column: Any) -> Any:
    if _is_number(column) and column.nunique() != 2:
        return StandardScaler()
    return OneHotEncoder(drop="if_binary", handle_unknown="ignore", sparse_output=False)


def reference(X: pd.DataFrame, how: str) -> pd.DataFrame:
    """Mean or median of numbers, the most common value of texts and of two-valued columns: one raw row."""

    def typical(column: Any) -> Any:
        if _is_number(column) and column.nunique() != 2:
            return float(column.mean() if how == "mean" else column.median())
        return column.mode()[0]

    return pd.DataFrame([{name: typical(X[name]) for name in X.columns}])


def _is_number(column: Any) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column.dtype))


def _estimator(model: str, C: float, seed: int) -> Any:
    if model == "mlp":
        return MLPClassifier((128,), early_stopping=True, random_state=seed)
    if model == "l2":
        return LogisticRegression(C=C, solver="liblinear", random_state=seed)
    return _models.estimator(model, seed, C=C)


def means_of_ten(values: list[float]) -> Any:
    """Means of ten values each, as a table of the paper would have had them."""
    return np.asarray(values[: len(values) // 10 * 10]).reshape(-1, 10).mean(axis=1)
