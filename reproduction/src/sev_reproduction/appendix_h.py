"""Appendix H: tables of explanations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sev.references import Auto

from sev_reproduction import _measure, _peers
from sev_reproduction._data import TITLES, sampled_rows
from sev_reproduction._plan import DATA, Plan
from sev_reproduction._section import Section, Table
from sev_reproduction._task import Results, Task

NAME = "appendix_h"
TITLE = "Appendix H: examples of explanations"
NEEDS_QUERIES = True

EXAMPLES = 3
#: Minimum sets that are shown of one explanation.
SETS = 4
_ROWS = 60


def tasks(plan: Plan) -> list[Task]:
    """One split of every data set."""
    return [Task(NAME, data, split, "gbdt") for data in plan.runnable for split in plan.splits_of(data)[:1]]


def run(task: Task, plan: Plan) -> dict[str, Any]:
    """A few rows of different sizes, with the sets of both kinds."""
    fitted = _peers.gbdt(task, plan)
    explainer = _measure.explainer_of(
        fitted.model, fitted.X_train, fitted.y_train, reference=Auto(observed_integers=False)
    )
    rows = fitted.X_test.iloc[sampled_rows(len(fitted.X_test), task.split, plan.max_test_rows)]
    positive = np.asarray(_measure.quietly(fitted.model.predict_proba, rows))[:, 1] >= 0.5
    rows = rows[positive].iloc[:_ROWS]
    minus = _measure.quietly(explainer.explain, rows, time_limit=plan.time_limit)
    examples = []
    for place in _different(minus.sizes):
        both = [
            _measure.quietly(explainer.explain, rows.iloc[[place]], kind=kind, time_limit=plan.time_limit)[0]
            for kind in ("plus", "minus")
        ]
        examples.append(_example(both))
    return {"examples": examples}


def _different(sizes: Any) -> list[int]:
    """The first row of each size, the smallest first; then further rows."""
    known = [place for place in range(len(sizes)) if not np.isnan(sizes[place])]
    _, first = np.unique(np.asarray(sizes)[known], return_index=True)
    chosen = [known[place] for place in first.tolist()]
    return [*chosen, *(place for place in known if place not in chosen)][:EXAMPLES]


def _example(both: list[Any]) -> dict[str, Any]:
    """Query, reference and sets, in the columns that some set changes."""
    used = {c for one in both for names in one.sets[:SETS] for name in names for c in one.columns[name]}
    columns = [column for column in both[0].query.index if column in used]
    lines: list[list[str]] = []
    for one in both:
        frame = one.to_frame()[columns]
        if not lines:
            lines += [[name, *map(_format_value, frame.loc[name])] for name in ("query", "reference")]
        names = [name for name in frame.index if name not in ("query", "reference")]
        lines += [[name, *map(_format_value, frame.loc[name])] for name in names[:SETS]]
    sets = [len(one.sets) for one in both]
    return {"columns": [str(column) for column in columns], "lines": lines, "n_sets": sets}


def _format_value(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value)


def section(results: Results, paper: Mapping[str, Any]) -> Section:
    """One table for each example."""
    tables = []
    for data in DATA:
        for one in results.of(NAME, data):
            for number, example in enumerate(one.result["examples"], start=1):
                plus, minus = example["n_sets"]
                tables.append(
                    Table(
                        f"{TITLES[data]}, example {number}: {plus} set{'s' if plus != 1 else ''} of SEV+ and {minus} "
                        "of SEV- in all",
                        pd.DataFrame(example["lines"], columns=["", *example["columns"]]),
                    )
                )
    sentences = [
        "Explanations of rows that the paper's GBDT predicts positive: the query, the reference, and for each minimum "
        f"set only the values that it changes; at most {SETS} sets of each kind are shown, and only columns that one "
        "of them changes. SEV+ takes values of the query into the reference, SEV- values of the reference into the "
        "query. Where the mean reference is itself positive, the median or a real row is taken instead.",
    ]
    return Section(TITLE, sentences if tables else ["Not run."], tables)
