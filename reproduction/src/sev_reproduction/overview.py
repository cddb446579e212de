"""What holds of the paper, what does not, and why: the sum of the other sections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from sev_reproduction import appendix_c1, causes, restricted
from sev_reproduction._compare import differs
from sev_reproduction._data import TITLES
from sev_reproduction._models import BASELINES
from sev_reproduction._plan import Plan
from sev_reproduction._section import Section, Table
from sev_reproduction._task import Results, Task

NAME = "overview"
TITLE = "In short"
NEEDS_QUERIES = False

_DATA = ("adult", "compas", "german", "fico")
_MISSED = "not met: "


def tasks(plan: Plan) -> list[Task]:
    """None: the results of other sections are enough."""
    return []


def section(results: Results, paper: Mapping[str, Any]) -> Section:
    """A few sentences, and a table of what does not hold."""
    made = Section(TITLE)
    if not any(results.of("models", data) for data in _DATA):
        made.sentences.append("Nothing of this was run.")
        return made
    off = causes.differences(results, paper)
    made.sentences.append(
        "The paper prints two digits: half a digit more than the distances named here counts as within."
    )
    compared = ((("accuracy", "AUC"), "accuracy and AUC", 0.02), (("SEV+", "SEV-"), "mean SEV", 0.3))
    for names, figures, distance in compared:
        inside, total = _within(results, paper, "sev" if names[0] == "SEV+" else "test")
        lines = [line for line in off if line["figure"] in names]
        rest = [line for line in lines if line["met under"] == causes.NOT_MET]
        text = f"Baselines (four data sets): {inside} of {total} figures of {figures} are "
        text += f"within {distance} of the paper."
        if len(lines) > len(rest):
            text += (
                f" {len(lines) - len(rest)} more {'is' if len(lines) - len(rest) == 1 else 'are'} within it under a "
            )
            text += "tested condition."
        if rest:
            text += f" Not under any: {_named(rest)}."
        made.sentences.append(text)
    made.sentences += [*_of_few_splits(results), *causes.by_the_code(results, paper)]
    if off:
        made.tables.append(_baselines(off))
    missed = []
    for what, lines in (
        ("Optimised models", appendix_c1.optimised_lines(results, paper)),
        ("Restricted models", restricted.restricted_lines(results, paper)),
    ):
        made.sentences.append(_judged(what, lines))
        missed += [line for line in lines if line["verdict"].startswith(_MISSED)]
    if missed:
        made.tables.append(_not_reached(missed))
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


def _of_few_splits(results: Results) -> list[str]:
    """Which SEV+ is the mean of some splits only."""
    sentences = []
    for data in _DATA:
        for variant in BASELINES:
            found = results.of("models", data, variant.name)
            positive = sum(not one.result["reference_negative"] for one in found)
            if positive:
                sentences.append(
                    f"SEV+ of {TITLES[data]} {variant.title} is known for {len(found) - positive} of {len(found)} "
                    "splits: in the others the model predicts the reference itself positive, which makes SEV+ zero."
                )
    return sentences


def _named(lines: list[dict[str, Any]]) -> str:
    return ", ".join(
        f"{line['data']} {line['model']} {line['figure']} ({line['ours']}, paper {line['paper']})" for line in lines
    )


def _baselines(off: list[dict[str, Any]]) -> Table:
    names = ("data", "model", "figure", "paper", "ours")
    lines = [
        {
            **{name: line[name] for name in names},
            "met under a tested condition": "no" if line["met under"] == causes.NOT_MET else "yes",
        }
        for line in off
        if not line["figure"].startswith("train")
    ]
    return Table("Baselines that differ; the section on causes names the conditions", pd.DataFrame(lines))


def _judged(what: str, lines: list[dict[str, Any]]) -> str:
    met = sum(line["verdict"] == "met" for line in lines)
    missed = sum(line["verdict"].startswith(_MISSED) for line in lines)
    if not met and not missed:
        return f"{what}: not run."
    text = f"{what}: {met} of {met + missed} are at least as good as the paper's in every figure."
    return f"{text} The others are named below, with both figures." if missed else text


def _not_reached(lines: list[dict[str, Any]]) -> Table:
    shown = [
        {
            "data": line["data"],
            "model": "All-Opt(R) LR" if line["model"] == "after" else line["model"],
            "ours and the paper's": line["verdict"].removeprefix(_MISSED),
        }
        for line in lines
    ]
    return Table("Optimised and restricted models that do not reach the paper's", pd.DataFrame(shown))
