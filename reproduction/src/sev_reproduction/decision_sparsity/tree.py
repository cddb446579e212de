"""SEV of single decision trees: conditions as the follow-up counts them, features, and exact answers."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from sev_reproduction import _measure
from sev_reproduction._plan import Plan
from sev_reproduction._task import Task
from sev_reproduction.decision_sparsity._setting import Setting, setting, tasks_of

NAME = "tree"


def tasks(plan: Plan) -> list[Task]:
    """A CART tree of depth four on every split, the follow-up's baseline."""
    return tasks_of(NAME, plan, ("tree",))


def run(task: Task, plan: Plan) -> dict[str, Any]:
    """Sizes of the same queries, counted in three ways."""
    on = setting(task, plan)
    start = time.process_time()
    conditions, features = count_on_paths(on)
    walked = time.process_time() - start
    found: dict[str, Any] = {
        **_measure.quality(on.model, on.X_test, on.y_test, "test"),
        "queries": len(on.rows),
        "conditions, theirs": _mean(conditions),
        "features on the path": _mean(features),
        "condition counts exceed features": float(np.mean(conditions > features)) if len(on.rows) else None,
        "milliseconds, theirs": 1000.0 * walked / max(1, len(on.rows)),
    }
    explainer = on.explainer("mean")
    for name, values in (("any", "any"), ("reference", "reference")):
        start = time.process_time()
        many = _measure.quietly(explainer.explain, on.rows, values=values, max_sets=1, time_limit=plan.time_limit)
        found |= {
            f"features, {name}": many.mean_size(),
            f"milliseconds, {name}": 1000.0 * (time.process_time() - start) / max(1, len(on.rows)),
            f"without_answer, {name}": float(np.isnan(many.sizes).mean()) if len(on.rows) else None,
        }
    return found


def count_on_paths(on: Setting) -> tuple[Any, Any]:
    """For each query the fewest conditions, and the fewest features, that keep it from a negative leaf.

    A condition counts each time: a feature that is tested twice on the way counts twice.
    """
    encoded = np.asarray(_measure.quietly(on.model[:-1].transform, on.rows), dtype=np.float32)
    inside = on.model[-1].tree_
    feature = feature_of_columns(on)
    conditions = np.full(len(encoded), np.inf)
    features = np.full(len(encoded), np.inf)
    for path in _negative_paths(inside):
        unmet = np.zeros((len(encoded), len(path)), dtype=bool)
        for place, (column, threshold, left) in enumerate(path):
            unmet[:, place] = (encoded[:, column] <= threshold) != left
        conditions = np.minimum(conditions, unmet.sum(axis=1))
        owners = np.array([feature[column] for column, _, _ in path])
        different = np.zeros(len(encoded), dtype=int)
        for owner in np.unique(owners):
            different += unmet[:, owners == owner].any(axis=1)
        features = np.minimum(features, different)
    return conditions, features


def feature_of_columns(on: Setting) -> list[Any]:
    """The raw column of each encoded column: numbers first, then the blocks of the others."""
    found = list(on.numbers)
    texts = [name for name in on.X_train.columns if name not in on.numbers]
    if texts:
        one_hot = on.model[0].named_transformers_["onehotencoder"]
        for name, categories in zip(texts, one_hot.categories_, strict=True):
            found += [name] * (1 if len(categories) == 2 else len(categories))
    return found


def _negative_paths(inside: Any) -> list[list[tuple[int, float, bool]]]:
    """The conditions on the way to each leaf that is not positive: column, threshold, whether to the left."""
    found: list[list[tuple[int, float, bool]]] = []
    waiting: list[tuple[int, list[tuple[int, float, bool]]]] = [(0, [])]
    while waiting:
        node, path = waiting.pop()
        left, right = int(inside.children_left[node]), int(inside.children_right[node])
        if left < 0:
            shares = inside.value[node, 0]
            if shares[1] / shares.sum() < 0.5:
                found.append(path)
            continue
        test = int(inside.feature[node]), float(inside.threshold[node])
        waiting += [(left, [*path, (*test, True)]), (right, [*path, (*test, False)])]
    return found


def _mean(values: Any) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None
