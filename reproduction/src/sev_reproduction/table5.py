"""Table 5 and appendix D: how long an explanation takes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from sev_reproduction import _measure, _peers
from sev_reproduction._data import TITLES, sampled_rows
from sev_reproduction._plan import DATA, Plan
from sev_reproduction._section import Section, Table
from sev_reproduction._task import Results, Task

NAME = "table5"
TITLE = "Table 5 and appendix D: seconds for an explanation"
NEEDS_QUERIES = True

QUERIES = 30
#: Rows of which the slowest query is looked for.
TAIL_QUERIES = 300

_PAPER = {"sev": "sev_minus", "shap-tree": "tree_shap", "shap-kernel": "kernel_shap", "lime": "lime", "dice": "dice"}
_LIMITS = (0.1, 0.5, 1.0)


def tasks(plan: Plan) -> list[Task]:
    """One split for each data set: times are compared within one run."""
    return [Task(NAME, data, split, "gbdt") for data in plan.runnable for split in plan.splits_of(data)[:1]]


def run(task: Task, plan: Plan) -> dict[str, Any]:
    """All methods on the same rows, one query at a time; then SEV- alone on more rows."""
    fitted = _peers.gbdt(task, plan)
    table = _peers.compared(fitted, fitted.X_test, list(_PAPER), min(QUERIES, plan.max_queries), task.split)
    explainer = _measure.explainer_of(fitted.model, fitted.X_train, fitted.y_train)
    rows = fitted.X_test.iloc[sampled_rows(len(fitted.X_test), task.split, plan.max_test_rows)]
    positive = np.asarray(_measure.quietly(fitted.model.predict_proba, rows))[:, 1] >= 0.5
    queries = rows[positive].iloc[: min(TAIL_QUERIES, 10 * plan.max_queries)]
    _measure.quietly(explainer.explain, queries.iloc[:1])  # what is loaded once is no part of a query
    seconds, sizes = [], []
    for place in range(len(queries)):
        start = time.perf_counter()
        one = _measure.quietly(explainer.explain, queries.iloc[[place]])[0]
        seconds.append(time.perf_counter() - start)
        sizes.append(one.size)
    return {
        "methods": _peers.kept(table),
        "tail_seconds": seconds,
        "tail_sizes": sizes,
        "tail_all_at_once": _all_at_once(explainer, queries),
        "reference_score": _measure.reference_score(explainer),
    }


def _all_at_once(explainer: Any, queries: pd.DataFrame) -> float:
    """Seconds for each row when all are explained in one call."""
    start = time.perf_counter()
    _measure.quietly(explainer.explain, queries)
    return (time.perf_counter() - start) / len(queries)


def section(results: Results, paper: Mapping[str, Any]) -> Section:
    """Medians of all methods, and the tails of SEV- and Kernel SHAP."""
    medians, tails = [], []
    for data in DATA:
        for one in results.of(NAME, data):
            medians += _medians(data, one.result, paper["median_explanation_seconds_gbdt"][data])
            tails += _tails(data, one.result, paper["explanation_time_tail_gbdt"][data])
    if not medians:
        return Section(TITLE, ["Not run."])
    slowest = [
        f"{line['data']} {line['slowest, s: ours']} s (paper {line['slowest, s: paper']} s)"
        for line in tails
        if line["method"] == "SEV-"
    ]
    return Section(
        TITLE,
        [
            "Seconds for one query at a time, one core, from the raw row to the answer: encoding the row counts for "
            "every method, getting ready does not, nor does the walk from SHAP's and LIME's numbers to a flip. SEV- "
            "lists up to a hundred minimum sets, proves that none is smaller and checks each against the model. "
            "The paper's times are of other machines and of encoded rows: compare the methods of one line.",
            f"All methods explain the same {QUERIES} rows at most. The tail of SEV- is over up to {TAIL_QUERIES} "
            "positive test rows, that of Kernel SHAP over the rows of the first table.",
            f"Slowest query of SEV-: {', '.join(slowest)}.",
        ],
        [
            Table("Median seconds, GBDT, one split", pd.DataFrame(medians)),
            Table("Tails", pd.DataFrame(tails)),
        ],
    )


def _medians(data: str, result: dict[str, Any], printed: Mapping[str, Any]) -> list[dict[str, Any]]:
    lines = []
    for whose in ("paper", "ours"):
        line: dict[str, Any] = {"data": TITLES[data], "whose": whose}
        for method, name in _PAPER.items():
            title = {"shap-tree": "Tree SHAP", "shap-kernel": "Kernel SHAP", "lime": "LIME"}.get(
                method, _peers.TITLES[method]
            )
            if whose == "paper":
                line[title] = "crashed" if printed[name] is None else f"{printed[name]:.4f}"
            else:
                seconds = _peers.numbers([result["methods"]], method, "seconds")
                line[title] = f"{np.nanmedian(seconds):.4f}" if np.isfinite(seconds).any() else "no answer"
        line["SEV-, all rows at once"] = "" if whose == "paper" else f"{result['tail_all_at_once']:.4f}"
        line["queries"] = "" if whose == "paper" else len(result["methods"]["sev"]["seconds"])
        lines.append(line)
    return lines


def _tails(data: str, result: dict[str, Any], printed: Mapping[str, Any]) -> list[dict[str, Any]]:
    ours = {
        "sev_minus": np.array(result["tail_seconds"], dtype=np.float64),
        "kernel_shap": _peers.numbers([result["methods"]], "shap-kernel", "seconds"),
    }
    lines = []
    for method, title in (("sev_minus", "SEV-"), ("kernel_shap", "Kernel SHAP")):
        seconds = ours[method]
        line: dict[str, Any] = {
            "data": TITLES[data],
            "method": title,
            "slowest, s: paper": f"{printed[method]['max_s']:.2f}",
            "slowest, s: ours": f"{seconds.max():.2f}",
        }
        for limit in _LIMITS:
            line[f"below {limit:g} s, %: paper"] = f"{printed[method][f'below_{limit:g}s']:.1f}"
            line[f"below {limit:g} s, %: ours"] = f"{100 * (seconds < limit).mean():.1f}"
        line["queries"] = len(seconds)
        lines.append(line)
    return lines
