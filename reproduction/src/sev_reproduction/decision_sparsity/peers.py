"""What users would pick instead: DiCE, and NICE where it is installed, on the same queries as three ways of SEV."""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import sev

from sev_reproduction import _measure
from sev_reproduction._plan import Plan
from sev_reproduction._task import Task
from sev_reproduction.decision_sparsity._answers import closest, figures
from sev_reproduction.decision_sparsity._setting import Setting, setting, tasks_of

NAME = "peers"

#: Of the sev variants: reference and values.
_WAYS = {"one": ("mean", "reference"), "nearest": ("nearest", "reference"), "clusters": (None, "reference")}


def tasks(plan: Plan) -> list[Task]:
    """The follow-up compares on its L2 logistic regression; boosted trees are what people have."""
    return tasks_of(NAME, plan, ("l2", "gbdt"))


def run(task: Task, plan: Plan) -> dict[str, Any]:
    """Figures of every method on a sample of the queries."""
    on = _Sampled(setting(task, plan), plan.max_queries)
    found = {f"SEV, {name}": _smallest(on, plan, *way) for name, way in _WAYS.items()}
    if not len(on.rows):
        return found
    found["DiCE"] = _dice(on, task.split)
    if find_spec("nice") is not None:
        found["NICE"] = _nice(on)
    return found


class _Sampled(Setting):
    """A setting with fewer queries: others take seconds for one."""

    def __init__(self, whole: Setting, limit: int) -> None:
        self.__dict__.update(whole.__dict__)
        self.rows = whole.rows.iloc[:limit]


def _smallest(on: Setting, plan: Plan, reference: Any, values: str) -> dict[str, Any]:
    explainer = on.explainer(on.clusters if reference is None else reference)
    start = time.process_time()
    many = _measure.quietly(explainer.explain, on.rows, values=values, time_limit=plan.time_limit)
    seconds = time.process_time() - start
    return figures(on, many.sizes, [closest(on, one) for one in many], seconds)


def _dice(on: Setting, seed: int) -> dict[str, Any]:
    table = _measure.quietly(
        sev.compare_methods,
        on.model,
        on.X_train,
        on.y_train,
        on.rows,
        methods=["dice"],
        max_queries=len(on.rows),
        random_state=seed,
        reference="mean",
        allow_positive_reference=True,
    ).set_index("query")
    changed: list[pd.Series | None] = []
    sizes = []
    for name, row in on.rows.iterrows():
        line = table.loc[name] if name in table.index else None
        if line is None or pd.isna(line["flips"]):
            changed.append(None)
            sizes.append(np.nan)
            continue
        result = row.astype(object)
        for feature, value in line["changes"].items():
            result[feature] = value
        changed.append(result)
        sizes.append(float(line["flips"]))
    return figures(on, sizes, changed, float(table["seconds"].sum()))


def _nice(on: Setting) -> dict[str, Any]:
    from nice import NICE

    codes = _Codes(on)
    start = time.process_time()
    method = NICE(
        predict_fn=lambda rows: np.column_stack([1 - (score := on.scores(codes.decode(rows))), score]),
        X_train=codes.encode(on.X_train),
        y_train=np.asarray(on.y_train),
        cat_feat=codes.categories,
        num_feat=codes.numbers,
        optimization="sparsity",
        justified_cf=True,
    )
    sizes: list[float] = []
    changed: list[pd.Series | None] = []
    for place in range(len(on.rows)):
        encoded = codes.encode(on.rows.iloc[[place]])
        try:
            result = np.asarray(method.explain(encoded), dtype=float).reshape(1, -1)
        except (ValueError, IndexError):
            result = encoded
        row = codes.decode(result)
        if on.scores(row)[0] >= 0.5:
            sizes.append(np.nan)
            changed.append(None)
        else:
            sizes.append(float((result != encoded).sum()))
            changed.append(row.iloc[0])
    return figures(on, sizes, changed, time.process_time() - start)


class _Codes:
    """Rows as arrays of numbers, with categories as codes, and back."""

    def __init__(self, on: Setting) -> None:
        self._frame = on.X_train
        self.numbers = [place for place, name in enumerate(on.X_train.columns) if name in on.numbers]
        self.categories = [place for place, name in enumerate(on.X_train.columns) if name not in on.numbers]
        self._values = {place: pd.Index(on.X_train.iloc[:, place].astype(object).unique()) for place in self.categories}

    def encode(self, rows: pd.DataFrame) -> Any:
        """Codes; a category that training rows do not have is -1."""
        found = np.empty(rows.shape)
        for place in range(rows.shape[1]):
            column = rows.iloc[:, place]
            known = self._values.get(place)
            found[:, place] = column.astype(float) if known is None else known.get_indexer(column.astype(object))
        return found

    def decode(self, rows: Any) -> pd.DataFrame:
        """Raw rows."""
        columns = {}
        for place, name in enumerate(self._frame.columns):
            values = np.asarray(rows)[:, place]
            known = self._values.get(place)
            columns[name] = values if known is None else known.to_numpy()[values.astype(int)]
        return pd.DataFrame(columns)
