"""What each feature can do alone, within what is permitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.actions import ChoiceDestinations, NumberDestinations, reference_destinations
from sev.backends.free import CandidateSearch, move_rows
from sev.core import Limits, Status
from sev.explainers._alone_values import find_intervals, values_to_score
from sev.explainers._free import FreeWork
from sev.explainers._options import DEFAULT_MAX_PREDICTIONS
from sev.explainers._vertices import score_rows_safely
from sev.explainers._work import Settings
from sev.typing import BoolArray, IntArray, Values

if TYPE_CHECKING:
    from sev.explainers._explainer import Explainer
    from sev.explainers._task import Task

#: Rows that are looked at together; each has the values of all its features scored.
_ROWS_AT_ONCE = 64


def find_alone(explainer: Explainer, queries: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """For each explained row and feature, whether it can change the decision alone, and with which of its values."""
    number = np.full(len(queries), -1, dtype=np.int64)
    for task in explainer.tasks:
        scores, _ = task.score_safely(queries)
        mine = np.isfinite(scores) & task.scorer.is_positive(scores)
        if len(explainer.tasks) > 1:
            many = explainer.explain_rows(queries, replace(settings, values="reference"))
            mine &= many.answers.target == task.number
        number[mine] = task.number
    usable = np.broadcast_to(settings.allowed, (len(queries), len(explainer.space)))
    found = alone_in_rows(explainer.tasks, queries, number, usable, settings.values)
    labels = queries.index.to_numpy(dtype=object)
    found.insert(0, "row", labels[found.pop("place").to_numpy(dtype=np.int64)] if len(found) else found.pop("place"))
    return found.set_index(["row", "feature"]).sort_index(kind="stable", level="row")


def alone_in_rows(
    tasks: Sequence[Task], queries: pd.DataFrame, number: IntArray, usable: BoolArray, values: Values
) -> pd.DataFrame:
    """What features can do alone, a line for each row and feature in the order of the rows.

    Parameters
    ----------
    tasks : sequence of Task
        The classes being explained.
    queries : DataFrame
        Rows of the common form.
    number : ndarray of int, shape (n_rows,)
        The task of each row; -1 leaves a row out.
    usable : ndarray of bool, shape (n_rows, n_features)
        Features to look at.
    values : {"reference", "typical", "any"}
        What features may become.
    """
    parts = []
    for task in tasks:
        rows = np.flatnonzero(number == task.number)
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            some = rows[first : first + _ROWS_AT_ONCE]
            lines = _alone_in_some(task, queries.iloc[some], usable[some], values)
            parts.append(lines.assign(place=some[lines["row"].to_numpy(dtype=np.int64)]))
    columns = ["place", "feature", "works", "share", "n_values", "searched"]
    if not parts:
        return pd.DataFrame({name: [] for name in columns})
    lines = pd.concat(parts, ignore_index=True)
    return lines.sort_values("place", kind="stable", ignore_index=True)[columns]


def _alone_in_some(task: Task, queries: pd.DataFrame, usable: BoolArray, values: Values) -> pd.DataFrame:
    assert task.bound is not None
    assigned = task.reference.assigned(queries)
    anywhere: BoolArray = np.asarray(usable.any(axis=0))
    references = task.reference.rows
    if values == "reference":
        has_actions = task.has_actions
        destinations = reference_destinations(
            task.bound, queries, references, assigned, anywhere, has_actions=has_actions
        )
    else:
        destinations = task.bound.destinations(queries, references, assigned, values, anywhere)
    observed = task.bound.observed()
    intervals = find_intervals(task, queries, destinations)
    wanted = [
        (row, feature)
        for row, feature in zip(*np.nonzero(usable), strict=True)
        if isinstance(destinations.features[feature], (NumberDestinations, ChoiceDestinations))
    ]
    listed = [
        values_to_score(destinations.features[feature], row, observed.get(feature), intervals.get(int(feature)))
        for row, feature in wanted
    ]
    line = np.repeat(np.arange(len(wanted)), [len(one.targets) for one in listed])
    parts = np.concatenate([np.zeros(0), *(one.parts for one in listed)])
    crosses = np.zeros(0, dtype=np.bool_)
    if line.size:
        pairs = np.array(wanted, dtype=np.int64)[line]
        sets = np.zeros((len(line), len(task.space)), dtype=np.bool_)
        targets = np.zeros(sets.shape)
        sets[np.arange(len(line)), pairs[:, 1]] = True
        targets[np.arange(len(line)), pairs[:, 1]] = np.concatenate([one.targets for one in listed])
        moved = move_rows(queries, task.space, destinations, pairs[:, 0], sets, targets)
        crosses = task.scorer.is_negative(score_rows_safely(task.scorer.scores, task.form, moved)[0])
        for rule in task.bound.rules:
            kept = ~rule.broken(task.bound.cells(rule, queries))
            crosses &= ~(kept[pairs[:, 0]] & rule.broken(task.bound.cells(rule, moved)))
    works = np.bincount(line[crosses], minlength=len(wanted)) > 0
    good = np.bincount(line[crosses], parts[crosses], minlength=len(wanted))
    whole = np.bincount(line, parts, minlength=len(wanted))
    n_values = np.array([one.n_values for one in listed], dtype=np.int64)
    searched = np.array(["all" if one.complete else "candidates" for one in listed], dtype=object)
    for place, has_value in _settle_features(
        task, queries, assigned, wanted, ~works & (searched != "all"), values
    ).items():
        if has_value:  # one that is not among the candidates
            works[place], good[place] = True, 1.0
            whole[place], n_values[place] = whole[place] + 1.0, n_values[place] + 1
        else:
            searched[place] = "all"
    return pd.DataFrame(
        {
            "row": [row for row, _ in wanted],
            "feature": [task.space.names[feature] for _, feature in wanted],
            "works": works,
            "share": np.divide(good, whole, out=np.zeros(len(wanted)), where=whole > 0),
            "n_values": n_values,
            "searched": searched,
        }
    )


def _settle_features(
    task: Task,
    queries: pd.DataFrame,
    assigned: IntArray,
    wanted: Sequence[tuple[int, int]],
    is_open: BoolArray,
    values: Values,
) -> dict[int, bool]:
    """Whether any value of a feature of a row works alone, where the family's own search proves it: by place."""
    found: dict[int, bool] = {}
    if isinstance(task.free_search, CandidateSearch):
        return found
    places = np.flatnonzero(is_open)
    pairs = np.array(wanted, dtype=np.int64).reshape(-1, 2)[places]
    for feature in np.unique(pairs[:, 1]).tolist():
        mine = np.flatnonzero(pairs[:, 1] == feature)
        allowed = np.zeros(len(task.space), dtype=np.bool_)
        allowed[feature] = True
        limits = Limits(max_size=1, max_sets=1, max_predictions=DEFAULT_MAX_PREDICTIONS)
        settings = Settings(kind="minus", allowed=allowed, limits=limits, values=values)
        rows = pairs[mine, 0]
        answers = FreeWork(task, settings).answer(queries.iloc[rows], assigned[rows])
        for place, status, searched in zip(
            places[mine].tolist(), answers.answers.status.tolist(), answers.searched.tolist(), strict=True
        ):
            if status in (Status.OPTIMAL.code, Status.FEASIBLE.code):
                found[place] = True
            elif status == Status.UNEXPLAINABLE.code and searched == "all":
                found[place] = False
    return found
