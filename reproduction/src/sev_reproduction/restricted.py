"""Figure 5 and appendix E: features that no explanation may use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sev import Labels, plots

from sev_reproduction import _measure, _models
from sev_reproduction._compare import differs, verdict
from sev_reproduction._data import FIRST_SEED, NEEDS_COPY, TITLES, sampled_rows, split
from sev_reproduction._paper import printed_figures
from sev_reproduction._plan import Plan
from sev_reproduction._section import Picture, Section, Table, spread
from sev_reproduction._task import Results, Task

NAME = "restricted"
TITLE = "Figure 5 and appendix E: restricted features"
NEEDS_QUERIES = False

_DATA = ("compas", "adult", "mimic", "german")
_FIGURES = {
    "test_accuracy": "accuracy",
    "test_auc": "AUC",
    "sev_restricted_all_features": "SEV(R)",
    "restricted_unexplainable": "unexplainable, %",
}

#: What is measured; the median is a test of where differences before training come from.
_VARIANTS = {"before": "before", "median": "before, median", "after": "after"}

#: Names of figures in the paper's table, where they differ.
_PRINTED = {"restricted_unexplainable": "unexplainable_percent", "sev_restricted_all_features": "sev_restricted"}


def tasks(plan: Plan) -> list[Task]:
    """L2 logistic regression before, explained with mean and median; All-Opt(R) after."""
    return [
        Task(NAME, data, number, variant)
        for data in _DATA
        if data in plan.runnable
        for variant in _VARIANTS
        for number in plan.splits_of(data)
    ]


def run(task: Task, plan: Plan) -> dict[str, Any]:
    """Fit one model and measure it with and without the restriction."""
    restricted = tuple(printed_figures()["restricted_lr"][task.data]["restricted"])
    X_train, X_test, y_train, y_test = split(task.data, task.split, plan)
    seed = FIRST_SEED + task.split
    if task.variant != "after":
        model = _models.baseline("l2", X_train, seed)
    else:
        model = _models.optimised(_models.BY_NAME["lr_minus"], seed, restricted=restricted)
    model, seconds = _models.fitted(model, X_train, y_train)
    reference = "median" if task.variant == "median" else "mean"
    explainer = _measure.explainer_of(model, X_train, y_train, reference=reference)
    rows = X_test.iloc[sampled_rows(len(X_test), task.split, plan.max_test_rows)]
    return {
        "fit_seconds": seconds,
        "restricted": list(restricted),
        "reference_negative": _measure.reference_score(explainer) < explainer.threshold,
        **_measure.quality(model, X_test, y_test, "test"),
        **_measure.sizes(explainer, rows, "minus", plan),
        **_measure.sizes(explainer, rows, "minus", plan, restricted=restricted),
    }


def section(results: Results, paper: Mapping[str, Any]) -> Section:
    """Figures before and after, and the features that explanations use."""
    made = Section(
        TITLE,
        [
            "Before is L2 logistic regression, after is All-Opt(R). An unexplainable query counts as the number of "
            "features in SEV(R), as the paper says; the last table gives the mean without those queries too.",
            "A data set is met when, rounded as the paper rounds, SEV(R) and the unexplainable share are "
            "no higher than the paper's and accuracy and AUC no lower.",
            "“Before, median” is the model of before, explained with the median in place of the mean: the authors' "
            "code has both, and the median is tried for the differences before training.",
        ],
    )
    made.sentences += _differences(results, paper)
    made.tables.append(Table("Restricted explanations", pd.DataFrame(restricted_lines(results, paper))))
    made.tables.append(Table("More about the same models", pd.DataFrame(_list_more(results))))
    for data in _DATA:
        if results.of(NAME, data, "after"):
            made.pictures.append(_picture(results, data))
    return made


def _differences(results: Results, paper: Mapping[str, Any]) -> list[str]:
    """Where SEV(R) before training is not the paper's, and whether the median explains it."""
    sentences = []
    for data in _DATA:
        theirs = float(paper["restricted_lr"][data]["before"]["sev_restricted"])
        mean, median = (results.mean(NAME, data, one, "sev_restricted_all_features") for one in ("before", "median"))
        if np.isfinite(mean) and differs("sev_restricted", mean, theirs):
            text = f"{TITLES[data]} before training has SEV(R) {mean:.2f} (paper {theirs:.2f})"
            if np.isfinite(median):
                met = not differs("sev_restricted", median, theirs)
                text += f", with the median {median:.2f}: " + ("the median explains it" if met else "not explained")
            sentences.append(f"{text}.")
    return sentences


def restricted_lines(results: Results, paper: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One line for each figure of each data set, before and after."""
    return [line for data in _DATA for line in _lines(results, data, paper["restricted_lr"][data])]


def _lines(results: Results, data: str, printed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Four figures before, two of them with the median, four after; the verdict stands at the last."""
    lines = []
    for variant, title in _VARIANTS.items():
        if variant == "median" and not results.of(NAME, data, variant):
            continue
        theirs, ours = {}, {}
        for figure, name in _FIGURES.items():
            if variant == "median" and figure.startswith("test_"):  # the same model
                continue
            percent = figure == "restricted_unexplainable"
            theirs[figure] = float(printed["before" if variant == "median" else variant][_PRINTED.get(figure, figure)])
            values = [100 * value if percent else value for value in results.values(NAME, data, variant, figure)]
            if values:
                ours[figure] = float(np.mean(values))
            lines.append(
                {
                    "data": TITLES[data],
                    "model": title,
                    "figure": name,
                    "paper": f"{theirs[figure]:.2f}",
                    "ours": spread(values, 2 if percent else 3),
                    "difference": f"{ours[figure] - theirs[figure]:+.3f}" if values else "",
                    "splits": len(values),
                    "verdict": "",
                }
            )
        if not ours:
            lines[-1]["verdict"] = NEEDS_COPY if data == "mimic" else "not run"
        elif variant == "after":
            lines[-1]["verdict"] = verdict(ours, theirs)
    return lines


def _list_more(results: Results) -> list[dict[str, Any]]:
    lines = []
    for data in _DATA:
        for variant, title in _VARIANTS.items():
            found = results.of(NAME, data, variant)
            if found:
                negative = sum(one.result["reference_negative"] for one in found)
                lines.append(
                    {
                        "data": TITLES[data],
                        "model": title,
                        "SEV(R), unexplainable left out": spread(results.values(NAME, data, variant, "sev_restricted")),
                        "SEV-, nothing restricted": spread(results.values(NAME, data, variant, "sev_minus")),
                        "positive predictions": spread(results.values(NAME, data, variant, "test_positive_rate")),
                        "reference negative": f"{negative} of {len(found)}",
                    }
                )
    return lines


class _KeptFeatures:
    """What the plot of feature shares asks of explanations."""

    def __init__(self, found: list[dict[str, float]], restricted: list[str]) -> None:
        names = dict.fromkeys([*restricted, *(name for shares in found for name in shares)])
        self.feature_names = tuple(names)
        self.columns = {name: (name,) for name in names}
        self.labels = Labels()
        self.restricted = tuple(restricted)
        self._shares = pd.Series({name: _mean_share(found, name) for name in names})

    def feature_shares(self, sets: str = "first") -> pd.Series:
        """Mean over the splits."""
        return self._shares


def _picture(results: Results, data: str) -> Picture:
    def draw() -> Any:
        restricted = list(printed_figures()["restricted_lr"][data]["restricted"])
        models: Any = {
            "before, nothing restricted": _KeptFeatures(
                [one.result["minus_features"] for one in results.of(NAME, data, "before")], []
            ),
            "after, restricted": _KeptFeatures(
                [one.result["restricted_features"] for one in results.of(NAME, data, "after")], restricted
            ),
        }
        return plots.feature_shares(models).figure

    return Picture(f"restricted_{data}", f"{TITLES[data]}: features that explanations use.", draw)


def _mean_share(found: list[dict[str, float]], name: str) -> float:
    return float(np.mean([shares.get(name, 0.0) for shares in found])) if found else 0.0
