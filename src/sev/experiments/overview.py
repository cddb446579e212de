"""What holds of the paper, what does not, and why: the sum of the other sections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sev.experiments import appendix_c1, causes, restricted
from sev.experiments._compare import differs
from sev.experiments._data import TITLES
from sev.experiments._models import BASELINES
from sev.experiments._plan import Plan
from sev.experiments._section import Section
from sev.experiments._task import Results, Task

NAME = "overview"
TITLE = "In short"

_DATA = ("adult", "compas", "german", "fico")


def tasks(plan: Plan) -> list[Task]:
    """None: the results of other sections are enough."""
    return []


def section(results: Results, paper: Mapping[str, Any]) -> Section:
    """A few sentences."""
    made = Section(TITLE)
    if not any(results.of("models", data) for data in _DATA):
        made.sentences.append("Nothing of this was run.")
        return made
    off = causes.differences(results, paper)
    made.sentences.append(
        "The paper prints two digits: half a digit more than the distances named here counts as within."
    )
    for names, figures, room in ((("accuracy", "AUC"), "accuracy and AUC", 0.02), (("SEV+", "SEV-"), "mean SEV", 0.3)):
        inside, total = _within(results, paper, "sev" if names[0] == "SEV+" else "test")
        lines = [line for line in off if line["figure"] in names]
        text = f"Baselines on Adult, COMPAS, German Credit and FICO: {inside} of {total} figures of {figures} are "
        text += f"within {room} of the paper."
        explained = [line for line in lines if line["met under"] != causes.NOT_MET]
        if explained:
            are = "is" if len(explained) == 1 else "are"
            text += f" {len(explained)} more {are} so under a tested condition: {_named(explained)}."
        rest = [line for line in lines if line["met under"] == causes.NOT_MET]
        if rest:
            text += f" Under none of the conditions: {_named(rest)}."
        if names[0] == "SEV+":
            text += _of_few_splits(results)
        made.sentences.append(text)
    made.sentences += causes.by_the_code(results, paper)
    made.sentences.append(_judged("Optimised models", appendix_c1.optimised_lines(results, paper)))
    made.sentences.append(_judged("Restricted models", restricted.restricted_lines(results, paper)))
    return made


def _within(results: Results, paper: Mapping[str, Any], start: str) -> tuple[int, int]:
    """Figures of baselines within tolerance, and all figures that were compared; one that is not there is not met."""
    inside = total = 0
    for data in _DATA:
        for variant in BASELINES:
            if not results.of("models", data, variant.name):
                continue
            printed = paper["performance"][data][variant.family][variant.paper]
            for figure in (name for name in printed if name.startswith(start)):
                ours = results.mean("models", data, variant.name, figure)
                total += 1
                inside += bool(np.isfinite(ours)) and not differs(figure, ours, printed[figure][0])
    return inside, total


def _of_few_splits(results: Results) -> str:
    """Which SEV+ is the mean of some splits only."""
    text = ""
    for data in _DATA:
        for variant in BASELINES:
            found = results.of("models", data, variant.name)
            positive = sum(not one.result["reference_negative"] for one in found)
            if positive:
                text += (
                    f" SEV+ of {TITLES[data]} {variant.title} is of {len(found) - positive} of {len(found)} splits: in "
                    "the others the model predicts the reference itself positive, which makes SEV+ zero."
                )
    return text


def _named(lines: list[dict[str, Any]]) -> str:
    return ", ".join(
        f"{line['data']} {line['model']} {line['figure']} ({line['ours']}, paper {line['paper']})" for line in lines
    )


def _judged(what: str, lines: list[dict[str, Any]]) -> str:
    met = [line for line in lines if line["verdict"] == "met"]
    missed = [line for line in lines if line["verdict"].startswith("not met: ")]
    if not met and not missed:
        return f"{what}: not run."
    text = f"{what}: {len(met)} of {len(met) + len(missed)} are at least as good as the paper's in every figure."
    if missed:
        told = (f"{line['data']} {line['model']} ({line['verdict'].removeprefix('not met: ')})" for line in missed)
        text += f" The others: {'; '.join(told)}."
    return text
