"""Table 3: explanations can be short without zero coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from sev_reproduction import models
from sev_reproduction._models import BY_NAME
from sev_reproduction._plan import Plan
from sev_reproduction._section import Section, Table, spread
from sev_reproduction._task import Results, Task

NAME = "table3"
TITLE = "Table 3: zero coefficients and SEV+ of linear models on Adult"
NEEDS_QUERIES = False

_VARIANTS = {"l1": "l1", "l2": "l2", "lr_plus": "all_opt_plus", "lr_volume": "vol_opt"}


def tasks(plan: Plan) -> list[Task]:
    """Linear models on Adult."""
    return models.tasks_of(plan, ("adult",), tuple(_VARIANTS))


def section(results: Results, paper: Mapping[str, Any]) -> Section:
    """Both figures of each model."""
    lines: list[dict[str, Any]] = []
    for variant, name in _VARIANTS.items():
        printed = paper["adult_lr_sparsity"][name]
        sizes = results.values("models", "adult", variant, "sev_plus")
        zeros = [100 * share for share in results.values("models", "adult", variant, "zero_coefficients")]
        lines.append(
            {
                "model": BY_NAME[variant].title,
                "SEV+: paper": f"{printed['sev_plus']:.2f}",
                "SEV+: ours": spread(sizes),
                "SEV+: difference": f"{np.mean(sizes) - printed['sev_plus']:+.2f}" if sizes else "",
                "zero coefficients, %: paper": f"{printed['zero_coefficients_percent']:g}",
                "zero coefficients, %: ours": spread(zeros, 2),
                "zero coefficients, %: difference": (
                    f"{np.mean(zeros) - printed['zero_coefficients_percent']:+.2f}" if zeros else ""
                ),
                "splits": len(sizes),
            }
        )
    sentences = ["A coefficient counts as zero when it is exactly zero."]
    off = [line["model"] for line in lines if line["SEV+: difference"] and abs(float(line["SEV+: difference"])) > 0.3]
    if off:
        sentences.append(f"SEV+ of {' and '.join(off)} differs by more than 0.3: the section on causes tests why.")
    return Section(TITLE, sentences, [Table("Linear models on Adult", pd.DataFrame(lines))])
