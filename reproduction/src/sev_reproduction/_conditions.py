"""What may have been different in the paper's own runs: each condition changes one thing of a baseline.

The reference of the authors' code follows the order of the raw columns, while their encoded columns have all numbers
first and all one-hot blocks last. Where a text column comes before a number, values land in columns of other
features. That is done here on purpose, in encoded space.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sev
from sklearn.pipeline import Pipeline

from sev_reproduction import _measure, _models
from sev_reproduction._plan import Plan

#: Training rows, their labels, test rows, their labels.
Rows = tuple[Any, Any, Any, Any]

#: Inverse penalties that are tried for logistic regressions.
PENALTIES = (0.01, 0.1, 1.0)

#: The paper's limit for FICO. Its authors' code counts a query that it gives up on as one more.
DEPTH = 6


class Condition(NamedTuple):
    """One setting: how the model is fitted, and what it is compared with."""

    C: float = _models.PAPER_C
    reference: str = "mean"
    encoder_sees_test: bool = False
    misplaced: bool = False

    @property
    def name(self) -> str:
        """A text for tables and files."""
        parts = [f"C = {self.C:g}"] if self.C != _models.PAPER_C else []
        parts += ["median"] if self.reference == "median" else []
        parts += ["encoder sees test rows"] if self.encoder_sees_test else []
        parts += ["misplaced reference"] if self.misplaced else []
        return ", ".join(parts) or "as described"


def conditions(model: str, mixed: bool) -> list[Condition]:
    """Conditions of a model; a reference can be misplaced only where numbers and texts are mixed."""
    found = [
        Condition(C=C, reference=reference, misplaced=misplaced)
        for C in (PENALTIES if model in ("l1", "l2") else (_models.PAPER_C,))
        for reference in ("mean", "median")
        for misplaced in ((False, True) if mixed else (False,))
    ]
    return [*found, Condition(encoder_sees_test=True)]


def is_mixed(X: pd.DataFrame) -> bool:
    """Whether a text column comes before a number."""
    texts = [not pd.api.types.is_numeric_dtype(X[name].dtype) for name in X.columns]
    return any(text and not all(texts[place:]) for place, text in enumerate(texts))


def measure(condition: Condition, model: Any, data: Rows, plan: Plan) -> dict[str, Any]:
    """Accuracy and SEV of a fitted pipeline under one condition."""
    X_train, y_train, *_ = data
    if condition.misplaced:
        raw = _measure.explainer_of(model, X_train, y_train, reference=condition.reference).reference
        return figures(model, misplaced_explainer(model, X_train, y_train, raw), data, plan, encoded=True)
    return figures(model, _measure.explainer_of(model, X_train, y_train, reference=condition.reference), data, plan)


def figures(model: Any, explainer: sev.Explainer, data: Rows, plan: Plan, *, encoded: bool = False) -> dict[str, Any]:
    """Accuracy and SEV of a fitted pipeline, by an explainer of raw rows or of ``encoded`` ones."""
    X_train, y_train, X_test, y_test = data
    slow = hasattr(model[-1], "coefs_")
    rows: Any = X_test.iloc[: plan.max_network_rows if slow else plan.max_test_rows]
    if encoded:
        rows = _measure.quietly(model[0].transform, rows)
    found: dict[str, Any] = {
        **_measure.quality(model, X_train, y_train, "train"),
        **_measure.quality(model, X_test, y_test, "test"),
        "reference_score": _measure.reference_score(explainer),
    }
    for kind in ("plus", "minus"):
        sizes = _measure.sizes(explainer, rows, kind, plan)
        found |= {name: sizes[name] for name in (f"sev_{kind}", f"{kind}_unexplainable", f"{kind}_queries")}
        states = sizes[f"{kind}_states"]
        found |= {"sev_plus_from_one": from_one(states)} if kind == "plus" else {"sev_minus_to_depth": to_depth(states)}
    return found


def from_one(states: str) -> float | None:
    """Mean size by a search that starts at size 1: it misses that a positive reference needs no feature at all."""
    sizes = _measure.KeptSizes(states, "plus").sizes
    sizes = np.maximum(sizes[~np.isnan(sizes)], 1)
    return float(sizes.mean()) if sizes.size else None


def to_depth(states: str) -> float | None:
    """Mean size by a search that gives up after :data:`DEPTH` features and then counts one more than that."""
    kept = _measure.KeptSizes(states, "minus")
    sizes = np.where(kept.statuses == "unexplainable", DEPTH + 1, np.minimum(kept.sizes, DEPTH + 1))
    sizes = sizes[~np.isnan(sizes)]
    return float(sizes.mean()) if sizes.size else None


def misplaced_explainer(model: Pipeline, X: pd.DataFrame, y: Any, reference: pd.DataFrame) -> sev.Explainer:
    """An explainer of encoded rows whose reference, a raw row, has its values in the order of the raw columns."""
    transformer, inner = model[0], model[-1]
    order = _columns_by_feature(transformer, X)
    placed = _measure.quietly(transformer.transform, reference)[0]
    wrong = np.concatenate([placed[places] for places in order.values()])
    groups = {str(feature): [f"x{place}" for place in places] for feature, places in order.items() if len(places) > 1}
    encoded = _measure.quietly(transformer.transform, X)
    return _measure.explainer_of(inner, encoded, y, reference=wrong, groups=groups)


def _columns_by_feature(transformer: Any, X: pd.DataFrame) -> dict[str, list[int]]:
    """For each raw column, in the order of the table, the places of its encoded columns."""
    widths: dict[str, list[int]] = {}
    place = 0
    for name, step, columns in transformer.transformers_:
        if name == "remainder" or not len(columns):
            continue
        for number, column in enumerate(columns):
            width = 1
            if hasattr(step, "categories_"):
                width = len(step.categories_[number])
                width = 1 if width == 2 else width  # two values are one column
            widths[column] = list(range(place, place + width))
            place += width
    return {column: widths[column] for column in X.columns}


def fit_with_leak(model: Pipeline, X: pd.DataFrame, y: Any, X_test: pd.DataFrame) -> Pipeline:
    """The pipeline, its encoder fitted on test rows too, its classifier on training rows only."""
    model[0].fit(pd.concat([X, X_test]))
    model[-1].fit(model[0].transform(X), y)
    return model
