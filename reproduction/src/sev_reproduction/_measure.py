"""Accuracy and explanation sizes of one model, as plain values."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import sev
from sev.exceptions import FallbackWarning, ReferenceWarning
from sklearn.metrics import roc_auc_score

from sev_reproduction._plan import Plan

#: One letter for each row without a size; sizes are digits and, from ten, small letters.
LETTERS = {"not_target": "N", "unexplainable": "U", "undecided": "D", "error": "E"}
_SIZES = "0123456789abcdefghijklmnopqrstuvwxyz"


def quality(model: Any, X: pd.DataFrame, y: Any, part: str) -> dict[str, float]:
    """Accuracy, AUC and share of positive predictions on one part of the data."""
    scores = np.asarray(quietly(model.predict_proba, X))[:, 1]
    return {
        f"{part}_accuracy": float(((scores >= 0.5) == (np.asarray(y) == 1)).mean()),
        f"{part}_auc": float(roc_auc_score(y, scores)),
        f"{part}_positive_rate": float((scores >= 0.5).mean()),
    }


def explainer_of(model: Any, X: pd.DataFrame, y: Any, *, reference: Any = "mean", **options: Any) -> sev.Explainer:
    """An explainer with the paper's reference; one that is positive is reported, not refused."""
    return quietly(sev.Explainer, model, X, y, reference=reference, allow_positive_reference=True, **options)


def reference_score(explainer: sev.Explainer) -> float:
    """The model's score of the reference."""
    model: Any = explainer.model
    row: Any = explainer.reference if hasattr(model, "feature_names_in_") else explainer.reference.to_numpy()
    return float(np.asarray(quietly(model.predict_proba, row))[0, 1])


def sizes(
    explainer: sev.Explainer, rows: pd.DataFrame, kind: str, plan: Plan, *, restricted: tuple[str, ...] = ()
) -> dict[str, Any]:
    """What is kept of the explanations of some rows.

    A mean is over the rows that have a size. Where the reference is positive SEV+ is not a number: it is None.
    """
    name = "restricted" if restricted else kind
    many = quietly(explainer.explain, rows, kind=kind, restricted=restricted, max_sets=1, time_limit=plan.time_limit)
    states = states_of(many)
    asked = [letter for letter in states if letter != LETTERS["not_target"]]
    unexplainable = asked.count(LETTERS["unexplainable"])
    means_something = kind == "minus" or reference_score(explainer) < explainer.threshold
    return {
        f"sev_{name}": many.mean_size() if means_something else None,
        f"sev_{name}_all_features": many.mean_size("all_features") if means_something else None,
        f"{name}_queries": len(asked),
        f"{name}_unexplainable": unexplainable / len(asked) if asked else None,
        f"{name}_not_proven": int((many.statuses == "feasible").sum() + (many.statuses == "undecided").sum()),
        f"{name}_counts": dict(sorted(Counter(asked).items())),
        f"{name}_states": states,
        f"{name}_features": {str(key): float(share) for key, share in many.feature_shares().items() if share > 0},
    }


def states_of(many: sev.Explanations) -> str:
    """One letter for each row: its size, or how the search ended without one."""
    return "".join(
        LETTERS[status] if np.isnan(size) else _SIZES[min(int(size), len(_SIZES) - 1)]
        for size, status in zip(many.sizes.tolist(), many.statuses.tolist(), strict=True)
    )


class KeptSizes:
    """What :mod:`sev.plots` asks of explanations, from letters that were kept."""

    def __init__(self, states: str, kind: str) -> None:
        self.kind = kind
        self.sizes = np.array([float(_SIZES.index(one)) if one in _SIZES else np.nan for one in states])
        names = {letter: status for status, letter in LETTERS.items()}
        self.statuses = np.array([names.get(one, "optimal") for one in states])
        self.index = pd.RangeIndex(len(states))

    def __len__(self) -> int:
        return len(self.sizes)

    def mean_size(self) -> float:
        """Mean over the rows that have a size."""
        return float(np.nanmean(self.sizes))


def quietly(call: Any, *args: Any, **options: Any) -> Any:
    """Call without warnings of what the results state anyway."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        warnings.simplefilter("ignore", ReferenceWarning)
        warnings.filterwarnings("ignore", message="Found unknown categories")
        return call(*args, **options)
