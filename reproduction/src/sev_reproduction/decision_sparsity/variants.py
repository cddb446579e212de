"""SEV with one reference, clusters, a band around the reference, and both: sizes, distances, likelihoods, time."""

from __future__ import annotations

import time
from typing import Any

from sev_reproduction import _measure
from sev_reproduction._plan import Plan
from sev_reproduction._task import Task
from sev_reproduction.decision_sparsity._answers import closest, figures
from sev_reproduction.decision_sparsity._setting import Setting, setting, tasks_of

NAME = "variants"

#: What each variant is: whether the references are clusters, and which values features may take.
VARIANTS = {
    "one": (False, "reference"),
    "clusters": (True, "reference"),
    "flexible": (False, "typical"),
    "clusters, flexible": (True, "typical"),
}


def tasks(plan: Plan) -> list[Task]:
    """Every base model on every split."""
    return tasks_of(NAME, plan)


def run(task: Task, plan: Plan) -> dict[str, Any]:
    """All variants without a limit on credibility."""
    on = setting(task, plan)
    quality = _measure.quality(on.model, on.X_test, on.y_test, "test")
    return {**quality, **{name: measured(on, plan, *choice) for name, choice in VARIANTS.items()}}


def measured(on: Setting, plan: Plan, clusters: bool, values: str) -> dict[str, Any]:
    """Figures of one variant.

    Parameters
    ----------
    on : Setting
        Model and queries.
    plan : Plan
        Time limit.
    clusters : bool
        Groups of the other class as references, instead of its mean.
    values : {"reference", "typical"}
        Values that features may take.
    """
    explainer = on.explainer(on.clusters if clusters else "mean")
    start = time.process_time()
    many = _measure.quietly(explainer.explain, on.rows, values=values, time_limit=plan.time_limit)
    seconds = time.process_time() - start
    return {
        **figures(on, many.sizes, [closest(on, one) for one in many], seconds),
        "references": len(explainer.reference),
        "not_proven": int(((many.statuses == "feasible") | (many.statuses == "undecided")).sum()),
    }
