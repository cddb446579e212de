"""Lines of tables that have the paper's figure beside ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from sev_reproduction._data import TITLES
from sev_reproduction._models import BY_NAME
from sev_reproduction._section import printed, spread
from sev_reproduction._task import Results

FIGURES = {
    "train_accuracy": "train accuracy",
    "train_auc": "train AUC",
    "test_accuracy": "accuracy",
    "test_auc": "AUC",
    "sev_plus": "SEV+",
    "sev_minus": "SEV-",
    "sev_restricted_all_features": "SEV(R)",
}

#: How far a baseline may be from the paper before a reason is due.
TOLERANCE = {"accuracy": 0.02, "auc": 0.02, "sev": 0.3}


def tolerance(figure: str) -> float:
    """Greatest difference that counts as the same figure."""
    return next(value for name, value in TOLERANCE.items() if name in figure)


def differs(figure: str, ours: float, theirs: float) -> bool:
    """Whether a figure is further from the paper's than it may be; the paper's are rounded to two digits."""
    return abs(ours - theirs) > tolerance(figure) + 0.005


def beside(results: Results, data: str, variant: str, figure: str, theirs: list[float] | None) -> dict[str, Any]:
    """One figure: the paper's, ours, the difference, the number of splits."""
    ours = results.values("models", data, variant, figure)
    line: dict[str, Any] = {
        "model": BY_NAME[variant].title,
        "figure": FIGURES[figure],
        "paper": printed(theirs),
        "ours": spread(ours) or why_none(results, data, variant),
        "difference": "",
        "splits": len(ours),
        "within": "",
    }
    missing = len(results.of("models", data, variant)) - len(ours)
    if ours and missing and figure == "sev_plus":
        line["ours"] += f" (reference positive in {missing} other{'s' if missing > 1 else ''})"
    if ours and theirs is not None:
        line["difference"] = f"{np.mean(ours) - theirs[0]:+.3f}"
        line["within"] = "no" if differs(figure, float(np.mean(ours)), theirs[0]) else "yes"
    return line


def why_none(results: Results, data: str, variant: str) -> str:
    """Why there is no figure."""
    found = results.of("models", data, variant)
    if not found:
        return "not run"
    if any(not one.result["reference_negative"] for one in found):
        return "reference positive"
    asked = sum(value for one in found for name, value in one.result.items() if name.endswith("_queries"))
    return "" if asked else "nobody is predicted positive"


def title(data: str) -> str:
    """Name of a data set for people."""
    return TITLES[data]


def verdict(ours: dict[str, float], theirs: dict[str, float]) -> str:
    """Whether a model is as good as the paper's in every figure; if not, where, with both figures.

    The paper rounds to two digits: ours may be half a digit worse. Accuracy and AUC should be high, all else low.
    """
    worse = []
    for figure, value in ours.items():
        high_is_good = figure.endswith(("accuracy", "auc"))
        tolerance = 0.5 if "unexplainable" in figure else 0.005
        lost = theirs[figure] - value if high_is_good else value - theirs[figure]
        if lost > tolerance + 1e-9:
            digits = 1 if "unexplainable" in figure else 3
            word = "below" if high_is_good else "above"
            name = FIGURES.get(figure, "unexplainable, %")
            worse.append(f"{name} {value:.{digits}f} {word} {theirs[figure]:.2f}")
    return "met" if not worse else "not met: " + ", ".join(worse)
