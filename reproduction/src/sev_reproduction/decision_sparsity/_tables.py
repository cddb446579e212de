"""Every table of the follow-up's page: a line for each data set and base model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from sev_reproduction._data import TITLES
from sev_reproduction._plan import DATA
from sev_reproduction._section import Section, Table
from sev_reproduction._task import Results
from sev_reproduction.decision_sparsity import training
from sev_reproduction.decision_sparsity._setting import MODELS
from sev_reproduction.decision_sparsity.variants import VARIANTS

#: Figures of an answer, by their names on the page.
FIGURES = {
    "size": "mean size",
    "largest_change": "median largest change",
    "likelihood": "median log-likelihood",
    "without_answer": "share without an answer",
    "milliseconds": "milliseconds a query",
}
PEERS = ("SEV, one", "SEV, clusters", "SEV, nearest", "DiCE", "NICE")


def title_of(data: str) -> str:
    """A data set's name on the page."""
    return TITLES[data]


def data_of(results: Results, experiment: str | None = None) -> list[str]:
    """Data sets with results, in the paper's order."""
    found = {one.task.data for one in results if experiment in (None, one.task.experiment)}
    return [name for name in DATA if name in found]


def mean(results: Results, experiment: str, data: str, model: str, *names: str) -> float:
    """Mean over the splits of a figure inside results; NaN without any."""
    values = []
    for one in results.of(experiment, data, model):
        value: Any = one.result
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None:
            values.append(float(value))
    return float(np.mean(values)) if values else float("nan")


def sections(results: Results) -> list[Section]:
    """The tables behind what holds in short."""
    return [
        _variants(results, "variants", "Variants without a limit on credibility"),
        _variants(results, "credible", "Variants with credible results only"),
        _published(results),
        _tree(results),
        _peers(results),
        _training(results),
    ]


def _variants(results: Results, experiment: str, heading: str) -> Section:
    section = Section(heading)
    for figure, title in FIGURES.items():
        lines = [
            {
                "data": title_of(data),
                "model": name,
                **{variant: mean(results, experiment, data, model, variant, figure) for variant in VARIANTS},
            }
            for data in data_of(results, experiment)
            for model, name in MODELS.items()
            if results.of(experiment, data, model)
        ]
        section.tables.append(Table(title.capitalize(), pd.DataFrame(lines)))
    return section


def _by_model(results: Results, experiment: str, part: str | None, names: tuple[str, ...]) -> pd.DataFrame:
    lines = []
    for data in data_of(results, experiment):
        for model in sorted({one.task.variant for one in results.of(experiment, data)}):
            path = () if part is None else (part,)
            values = {name: mean(results, experiment, data, model, *path, name) for name in names}
            lines.append({"data": title_of(data), "model": MODELS.get(model, model), **values})
    return pd.DataFrame(lines)


def _published(results: Results) -> Section:
    flexible = (
        "size, theirs",
        "size, theirs also at one feature",
        "size, exact",
        "exact is smaller",
        "one feature was enough but not tried",
    )
    credible = ("size without limit", "size, theirs", "size of credible answers", "not credible and not marked")
    return Section(
        "The published way",
        ["Computed here as the authors' code has it; theirs in name and in figures."],
        [
            Table("Flexible", _by_model(results, "published", "flexible", flexible)),
            Table("Credible, sets of up to three features", _by_model(results, "published", "credible", credible)),
        ],
    )


def _tree(results: Results) -> Section:
    names = (
        "test_accuracy",
        "conditions, theirs",
        "features on the path",
        "features, any",
        "features, reference",
        "condition counts exceed features",
        "milliseconds, any",
    )
    return Section("Single trees", [], [Table("CART of depth 4", _by_model(results, "tree", None, names))])


def _peers(results: Results) -> Section:
    lines = [
        {
            "data": title_of(data),
            "model": MODELS[model],
            "method": method,
            **{title: mean(results, "peers", data, model, method, figure) for figure, title in FIGURES.items()},
        }
        for data in data_of(results, "peers")
        for model in ("l2", "gbdt")
        for method in PEERS
        if not np.isnan(mean(results, "peers", data, model, method, "queries"))
    ]
    return Section("Others on the same queries", [], [Table("All figures", pd.DataFrame(lines))])


def _training(results: Results) -> Section:
    names = ("accuracy", "auc", "positive_rate", "SEV, mean", "SEV, clusters", "SEV, nearest")
    lines = [
        {
            "data": title_of(data),
            "model": family.upper(),
            "trained for": purpose,
            **{name: mean(results, "training", data, family, purpose, name) for name in names},
        }
        for data in data_of(results, "training")
        for family in training.FAMILIES
        for purpose in training.TRAINED_FOR
        if results.of("training", data, family)
    ]
    return Section("Models trained for it", [], [Table("SEV- of test rows", pd.DataFrame(lines))])
