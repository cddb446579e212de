"""Figure 3: All-Opt+ and All-Opt- of networks and boosted trees on Adult."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sev.core import kind_label
from sev.typing import Kind

from sev_reproduction import _distributions, models
from sev_reproduction._plan import Plan
from sev_reproduction._section import Section
from sev_reproduction._task import Results, Task

NAME = "figure3"
TITLE = "Figure 3: All-Opt of networks and boosted trees on Adult"
NEEDS_QUERIES = True

_PAIRS: tuple[tuple[str, str, Kind], ...] = (
    ("mlp", "mlp_plus", "plus"),
    ("mlp", "mlp_minus", "minus"),
    ("gbdt", "gbdt_plus", "plus"),
    ("gbdt", "gbdt_minus", "minus"),
)


def tasks(plan: Plan) -> list[Task]:
    """Networks and trees on Adult."""
    return models.tasks_of(plan, ("adult",), tuple(dict.fromkeys(name for pair in _PAIRS for name in pair[:2])))


def section(results: Results, paper: Mapping[str, Any]) -> Section:
    """Distributions before and after, for each family and kind."""
    made = Section(TITLE, ["The paper shows pictures without figures and says that all queries come down to 1."])
    for before, after, kind in _PAIRS:
        pair = _distributions.kept(results, "adult", (before, after), kind)
        if not pair:
            made.sentences.append(f"{after}: not run.")
            continue
        sign = kind_label(kind)
        made.sentences.append(_distributions.changes(pair))
        made.tables.append(_distributions.shares(pair, f"Share of queries by {sign}, all splits together"))
        caption = f"{sign} of each query, from {' to '.join(pair)}, Adult."
        made.pictures.append(_distributions.flow(f"figure3_{after}", caption, pair))
    return made
