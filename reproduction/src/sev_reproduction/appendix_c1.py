"""Appendix C.1: accuracy, AUC and SEV of every model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from sev_reproduction import models
from sev_reproduction._compare import beside, verdict, why_none
from sev_reproduction._data import NEEDS_COPY, TITLES
from sev_reproduction._models import BASE_OF, BASELINES, OPTIMISED, Variant
from sev_reproduction._plan import DATA, Plan
from sev_reproduction._section import Section, Table, spread
from sev_reproduction._task import Results, Task

NAME = "appendix_c1"
TITLE = "Appendix C.1: accuracy, AUC and SEV of every model"
NEEDS_QUERIES = False

_FIGURES = ("train_accuracy", "train_auc", "test_accuracy", "test_auc", "sev_plus", "sev_minus")
_MISPRINT = "the paper's table repeats FICO's"


def tasks(plan: Plan) -> list[Task]:
    """All models on all data sets."""
    return models.tasks(plan)


def section(results: Results, paper: Mapping[str, Any]) -> Section:
    """Optimised models with a verdict, then baselines figure by figure."""
    there = [data for data in DATA if data != "mimic" or results.of("models", data)]
    optimised = optimised_lines(results, paper)
    judged = [line["verdict"] for line in optimised if line["verdict"].startswith(("met", "not met"))]
    made = Section(
        TITLE,
        [
            "Baselines should be within 0.02 of the paper in accuracy and AUC and within 0.3 in SEV (half a digit more "
            "counts as within, because the paper prints two digits); where they are not, the section on causes has the "
            "tests.",
            "Optimised models are estimators of sev with their defaults. One is met when, rounded as the paper rounds, "
            "its SEV is no higher than the paper's and its accuracy and AUC on the test part no lower: "
            f"{sum(word == 'met' for word in judged)} of {len(judged)} are. Differences to the paper are in brackets.",
            "A reference that the model itself predicts positive makes SEV+ zero: such splits have no SEV+ here and "
            "are named. No mean counts an unexplainable query as a number.",
            *(f"Misprint: {text}" for text in paper["errata"][:3]),
        ],
    )
    if "mimic" not in there:
        made.sentences.append(f"MIMIC-III {NEEDS_COPY}: none of its rows could be run.")
    made.tables.append(Table("Optimised models, test part", pd.DataFrame(optimised)))
    beside_base = [_against_base(results, data, variant) for data in there for variant in OPTIMISED]
    made.tables.append(
        Table("Optimised models against our own baselines", pd.DataFrame([line for line in beside_base if line]))
    )
    for data in there:
        lines = [_baseline(results, data, variant, figure, paper) for variant in BASELINES for figure in _FIGURES]
        made.tables.append(Table(f"Baselines on {TITLES[data]}", pd.DataFrame(lines)))
    return made


def optimised_lines(results: Results, paper: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One line for each optimised model, with a verdict."""
    there = [data for data in DATA if data != "mimic" or results.of("models", data)]
    return [_make_line(results, data, variant, paper) for data in there for variant in OPTIMISED]


def _theirs(paper: Mapping[str, Any], data: str, variant: Variant) -> Mapping[str, Any]:
    found: Mapping[str, Any] = paper["performance"][data].get(variant.family, {}).get(variant.paper, {})
    return found


def _baseline(results: Results, data: str, variant: Variant, figure: str, paper: Mapping[str, Any]) -> dict[str, Any]:
    theirs = _theirs(paper, data, variant)
    line = beside(results, data, variant.name, figure, theirs.get(figure))
    return line if theirs else line | {"within": _MISPRINT}


def _make_line(results: Results, data: str, variant: Variant, paper: Mapping[str, Any]) -> dict[str, Any]:
    theirs = _theirs(paper, data, variant)
    ours: dict[str, float] = {}
    line: dict[str, Any] = {"data": TITLES[data], "model": variant.title}
    for figure, name in _judged(variant).items():
        values = results.values("models", data, variant.name, figure)
        printed = theirs.get(figure)
        line[f"{name}: paper"] = "" if printed is None else f"{printed[0]:.2f}"
        line[f"{name}: ours"] = spread(values) or why_none(results, data, variant.name)
        if values:
            ours[figure] = float(np.mean(values))
            if printed:
                line[f"{name}: ours"] += f" ({ours[figure] - printed[0]:+.3f})"
    line["splits"] = len(results.of("models", data, variant.name))
    line["verdict"] = _verdict(data, variant, ours, theirs)
    return line


def _judged(variant: Variant) -> dict[str, str]:
    return {"test_accuracy": "accuracy", "test_auc": "AUC", f"sev_{variant.kinds[0]}": "SEV"}


def _against_base(results: Results, data: str, variant: Variant) -> dict[str, Any]:
    found = results.of("models", data, variant.name)
    if not found:
        return {}
    base = BASE_OF[variant.family]
    line: dict[str, Any] = {"data": TITLES[data], "model": variant.title}
    for figure, name in {**_judged(variant), "test_positive_rate": "positive"}.items():
        values = [spread(results.values("models", data, one, figure)) for one in (base, variant.name)]
        line[f"{name}: baseline"] = values[0] or why_none(results, data, base)
        line[f"{name}: ours"] = values[1] or why_none(results, data, variant.name)
    positive = sum(not one.result["reference_negative"] for one in found)
    line["reference positive"] = f"{positive} of {len(found)} splits" if positive else ""
    return line


def _verdict(data: str, variant: Variant, ours: dict[str, float], theirs: Mapping[str, Any]) -> str:
    if not ours:
        return NEEDS_COPY if data == "mimic" else "not run"
    if not theirs:
        return _MISPRINT
    if f"sev_{variant.kinds[0]}" not in ours:
        return "not met: reference positive"
    return verdict(ours, {figure: theirs[figure][0] for figure in ours})
