"""The paper's GBDT on one split, and what SHAP, LIME, DiCE and the smallest sets say about it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sev

from sev_reproduction import _measure, _models
from sev_reproduction._data import FIRST_SEED, split
from sev_reproduction._plan import Plan
from sev_reproduction._task import Task

TITLES = {
    "sev": "SEV-",
    "shap-tree": "SHAP-C (tree)",
    "shap-tree, absolute": "SHAP-C (tree), absolute",
    "shap-kernel": "SHAP-C (kernel)",
    "shap-kernel, absolute": "SHAP-C (kernel), absolute",
    "lime": "LIME-C",
    "lime, absolute": "LIME-C, absolute",
    "dice": "DiCE",
}


class Fitted(NamedTuple):
    """A fitted pipeline and its data."""

    model: Any
    X_train: pd.DataFrame
    y_train: Any
    X_test: pd.DataFrame
    y_test: Any


def gbdt(task: Task, plan: Plan) -> Fitted:
    """The paper's gradient boosting on the split of a task."""
    return _gbdt(task.data, task.split, plan)


@lru_cache(maxsize=1)  # tasks of one split often come one after the other
def _gbdt(data: str, number: int, plan: Plan) -> Fitted:
    X_train, X_test, y_train, y_test = split(data, number, plan)
    model, _ = _models.fitted(_models.baseline("gbdt", X_train, FIRST_SEED + number), X_train, y_train)
    return Fitted(model, X_train, y_train, X_test, y_test)


def compared(
    fitted: Fitted, rows: pd.DataFrame, methods: Sequence[str], max_queries: int, seed: int, **options: Any
) -> pd.DataFrame:
    """What :func:`sev.compare_methods` says, with the paper's reference."""
    return _measure.quietly(
        sev.compare_methods,
        fitted.model,
        fitted.X_train,
        fitted.y_train,
        rows,
        methods=methods,
        max_queries=max_queries,
        random_state=seed,
        **{"reference": "mean", "allow_positive_reference": True, **options},
    )


def kept(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """What is kept of a comparison, by method."""
    return {
        str(method): {
            "flips": lines["flips"].tolist(),
            "seconds": lines["seconds"].tolist(),
            "setup_seconds": float(lines["setup_seconds"].iloc[0]),
            "status": lines["status"].value_counts().to_dict(),
            "not_minimal": int((~lines["minimal"].fillna(True).astype(bool)).sum()),
            "reasons": sorted(set(lines["reason"]) - {""})[:3],
        }
        for method, lines in table.groupby("method", sort=False)
    }


def as_table(results: list[dict[str, dict[str, Any]]]) -> pd.DataFrame:
    """Kept results of several splits in the form that the plots take."""
    lines = [
        {"method": TITLES[method], "query": (number, query), "flips": flips, "seconds": seconds}
        for number, methods in enumerate(results)
        for method, found in methods.items()
        for query, (flips, seconds) in enumerate(zip(found["flips"], found["seconds"], strict=True))
    ]
    return pd.DataFrame(lines).astype({"flips": float, "seconds": float})


def numbers(results: list[dict[str, dict[str, Any]]], method: str, what: str) -> Any:
    """One list of figures of a method over several splits; NaN where there is none."""
    found = [value for methods in results if method in methods for value in methods[method][what]]
    return np.array([np.nan if value is None else value for value in found], dtype=np.float64)
