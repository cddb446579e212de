"""The same variants with a limit: only results more ordinary than 5 % of the real rows of the other class."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from sev_reproduction import _measure
from sev_reproduction._plan import Plan
from sev_reproduction._task import Task
from sev_reproduction.decision_sparsity._answers import closest, figures
from sev_reproduction.decision_sparsity._setting import Setting, setting, tasks_of

NAME = "credible"

#: Least share of real rows of the other class that are less ordinary than a result.
LIMIT = 0.05
#: Seconds for one row at most; where no set is credible, a network's sets are listed one by one.
_SECONDS = 2.0


def tasks(plan: Plan) -> list[Task]:
    """Every base model on every split."""
    return tasks_of(NAME, plan)


def run(task: Task, plan: Plan) -> dict[str, Any]:
    """All variants with the limit, under the default measure: an isolation forest on the other class.

    The follow-up limits the likelihood under a Gaussian mixture. An isolation forest is a sum over trees, so that the
    smallest credible set is found and proven for most models without listing sets; the mixture's likelihood is
    measured.
    """
    on = setting(task, plan)
    return {**_limited(on, plan, "one", "mean"), **_limited(on, plan, "clusters", on.clusters)}


def _limited(on: Setting, plan: Plan, name: str, reference: Any) -> dict[str, Any]:
    """Answers with the reference's values, proven; and with a band around them, which bound the smallest from above.

    Where the smallest answer within the band is not credible, the credible one with the reference's values, which lie
    in the band, stands for it.
    """
    explainer = on.explainer(reference)
    options = {"time_limit": min(plan.time_limit, _SECONDS)}
    start = time.process_time()
    many = _measure.quietly(explainer.explain, on.rows, min_credibility=LIMIT, **options)
    seconds = time.process_time() - start
    start = time.process_time()
    free = _measure.quietly(explainer.explain, on.rows, values="typical", **options)
    free_seconds = seconds + time.process_time() - start
    credible = free.credibilities >= LIMIT
    best = [one if kept else other for one, other, kept in zip(free, many, credible.tolist(), strict=True)]
    sizes = [np.nan if one.size is None else one.size for one in best]
    flexible = "flexible" if name == "one" else f"{name}, flexible"
    plain = _measure.quietly(explainer.explain, on.rows, **options).credibilities >= LIMIT
    return {
        name: {
            **figures(on, many.sizes, [closest(on, one) for one in many], seconds),
            "credible without limit": float(plain.mean()) if len(plain) else None,
            "not_proven": int(((many.statuses == "feasible") | (many.statuses == "undecided")).sum()),
        },
        flexible: {
            **figures(on, sizes, [closest(on, one) for one in best], free_seconds),
            "credible without limit": float(credible.mean()) if len(credible) else None,
        },
    }
