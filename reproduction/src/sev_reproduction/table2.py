"""Table 2: what training for short explanations costs in time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from sev_reproduction import models
from sev_reproduction._data import NEEDS_COPY, TITLES
from sev_reproduction._plan import DATA, Plan
from sev_reproduction._section import Section, Table, number
from sev_reproduction._task import Results, Task

NAME = "table2"
TITLE = "Table 2: training time of MLPs"
NEEDS_QUERIES = False

_VARIANTS = {"mlp": "baseline", "mlp_plus": "all_opt_plus", "mlp_minus": "all_opt_minus"}


def tasks(plan: Plan) -> list[Task]:
    """Networks on all data sets."""
    return models.tasks_of(plan, DATA, tuple(_VARIANTS))


def section(results: Results, paper: Mapping[str, Any]) -> Section:
    """Seconds, and seconds over those of the baseline, which compare across machines."""
    lines = [_make_line(results, data, paper["training_seconds_mlp"][data]) for data in DATA]
    sentences = [
        "Processor seconds on one core, encoding included. Ours are the base model and the tuning together. Seconds "
        "depend on the machine; the ratio to the baseline does not, or less so.",
        "The baseline is scikit-learn's MLP with early stopping, so its number of epochs differs from split to split.",
    ]
    return Section(TITLE, sentences, [Table("Training time, seconds", pd.DataFrame(lines))])


def _make_line(results: Results, data: str, printed: Mapping[str, float]) -> dict[str, Any]:
    ours = {
        variant: {one.task.split: one.result["fit_seconds"] for one in results.of("models", data, variant)}
        for variant in _VARIANTS
    }
    shared = set.intersection(*(set(found) for found in ours.values()))  # a ratio is of the same splits
    mean = {
        variant: float(np.mean([found[split] for split in shared])) if shared else np.nan
        for variant, found in ours.items()
    }
    line: dict[str, Any] = {"data": TITLES[data]}
    for variant, name in _VARIANTS.items():
        heading = {"mlp": "baseline", "mlp_plus": "All-Opt+", "mlp_minus": "All-Opt-"}[variant]
        line[f"{heading}: paper"] = f"{printed[name]:g}"
        line[f"{heading}: ours"] = number(mean[variant], 2)
        if variant != "mlp":
            theirs, own = printed[name] / printed["baseline"], mean[variant] / mean["mlp"]
            line[f"{heading} ratio: paper"] = f"{theirs:.2f}"
            line[f"{heading} ratio: ours"] = number(own, 2)
            line[f"{heading} ratio: difference"] = f"{own - theirs:+.2f}" if np.isfinite(own) else ""
    line["splits"] = len(shared)
    line["note"] = NEEDS_COPY if data == "mimic" and not shared else ""
    return line
