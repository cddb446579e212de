"""Figure 2: SEV+ of linear models on Adult, before and after training for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sev_reproduction import _distributions, models
from sev_reproduction._plan import Plan
from sev_reproduction._section import Section
from sev_reproduction._task import Results, Task

NAME = "figure2"
TITLE = "Figure 2: SEV+ of linear models on Adult"
NEEDS_QUERIES = True

_VARIANTS = ("l1", "l2", "lr_plus", "lr_volume")


def tasks(plan: Plan) -> list[Task]:
    """Linear models on Adult."""
    return models.tasks_of(plan, ("adult",), _VARIANTS)


def section(results: Results, paper: Mapping[str, Any]) -> Section:
    """Distributions, and what became of each query."""
    made = Section(TITLE)
    bars = _distributions.kept(results, "adult", _VARIANTS, "plus")
    if not bars:
        made.sentences.append("Not run.")
        return made
    made.sentences.append(
        "The paper shows pictures without figures and says that both optimised models reach SEV+ = 1 for all queries, "
        "that no query needs more than before, and that the share of positives stays."
    )
    made.tables.append(_distributions.shares(bars, "Share of queries by SEV+, all splits together"))
    made.pictures.append(_distributions.distribution("figure2_sizes", "SEV+ across methods, Adult.", bars))
    for after in ("lr_plus", "lr_volume"):
        pair = _distributions.kept(results, "adult", ("l2", after), "plus")
        made.sentences.append(_distributions.changes(pair))
        caption = f"SEV+ of each query, from {' to '.join(pair)}, Adult."
        made.pictures.append(_distributions.flow(f"figure2_{after}", caption, pair))
    return made
