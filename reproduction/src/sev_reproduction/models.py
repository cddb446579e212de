"""Every model of the paper on every split: what tables 1, 2 and 3, figures 2 and 3 and appendix C.1 are views of."""

from __future__ import annotations

from typing import Any

from sev_reproduction import _measure, _models
from sev_reproduction._data import FIRST_SEED, sampled_rows, split
from sev_reproduction._plan import Plan
from sev_reproduction._task import Task

NAME = "models"
TITLE = "Models"


def tasks_of(plan: Plan, data: tuple[str, ...], variants: tuple[str, ...]) -> list[Task]:
    """Tasks for some data sets and variants: split by split, baselines first."""
    return [
        Task(NAME, name, number, variant)
        for name in plan.runnable
        if name in data
        for variant in variants
        for number in plan.splits_of(name)
    ]


def tasks(plan: Plan) -> list[Task]:
    """All models."""
    return tasks_of(plan, plan.data, tuple(variant.name for variant in _models.VARIANTS))


def run(task: Task, plan: Plan) -> dict[str, Any]:
    """Fit one model and measure it."""
    variant = _models.BY_NAME[task.variant]
    X_train, X_test, y_train, y_test = split(task.data, task.split, plan)
    model = _models.make(variant, X_train, FIRST_SEED + task.split)
    model, seconds = _models.fitted(model, X_train, y_train)
    found: dict[str, Any] = {
        "train_rows": len(X_train),
        "fit_seconds": seconds,
        "zero_coefficients": _models.zero_coefficients(model),
        **_measure.quality(model, X_train, y_train, "train"),
        **_measure.quality(model, X_test, y_test, "test"),
    }
    limit = plan.max_network_rows if variant.family == "mlp" else plan.max_test_rows
    rows = X_test.iloc[sampled_rows(len(X_test), task.split, limit)]
    explainer = _measure.explainer_of(model, X_train, y_train)
    score = _measure.reference_score(explainer)
    found |= {
        "reference_score": score,
        "reference_negative": score < explainer.threshold,
        "backend": explainer.backend,
        "features": len(explainer.feature_names),
        "explained_of": len(rows),
    }
    for kind in variant.kinds:
        found |= _measure.sizes(explainer, rows, kind, plan)
    return found
