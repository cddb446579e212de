"""Table 1: the four baselines on German Credit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sev_reproduction import _models, models
from sev_reproduction._compare import beside
from sev_reproduction._plan import Plan
from sev_reproduction._section import Section, Table
from sev_reproduction._task import Results, Task

NAME = "table1"
TITLE = "Table 1: models that were not trained for it need few reasons already (German Credit)"
NEEDS_QUERIES = False

_FIGURES = ("test_accuracy", "test_auc", "sev_plus", "sev_minus")


def tasks(plan: Plan) -> list[Task]:
    """The baselines on German Credit."""
    return models.tasks_of(plan, ("german",), tuple(variant.name for variant in _models.BASELINES))


def section(results: Results, paper: Mapping[str, Any]) -> Section:
    """One line for each model and figure."""
    lines = [
        beside(results, "german", variant.name, figure, paper["table1"][variant.paper][figure])
        for variant in _models.BASELINES
        for figure in _FIGURES
    ]
    sentences = [
        "Appendix C.1 repeats these with other digits for L1 LR and GBDT (SEV- 1.13 and 1.50).",
        "The section on causes tests where the differences in SEV come from.",
    ]
    return Section(TITLE, sentences, [Table("Baselines on German Credit", pd.DataFrame(lines))])
