"""What results ask of the explainer that made them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from sev.explainers._batches import answer_all
from sev.explainers._hashing import table_hash
from sev.explainers._origin import Origin
from sev.explainers._task import Task
from sev.explainers._vertices import check_length
from sev.explainers._work import Settings
from sev.explanations import Answers
from sev.search import Solution
from sev.space import TableForm
from sev.typing import FloatArray

_ROWS_AT_ONCE = 20_000


class ExplainerSource:
    """The tasks of an explainer, with the settings of one call."""

    def __init__(self, form: TableForm, tasks: list[Task], settings: Settings, origin: Origin) -> None:
        self._form = form
        self._tasks = tasks
        self._settings = settings
        self._origin = origin

    def score_rows(self, rows: pd.DataFrame, target: Any) -> FloatArray:
        """The model's own scores of rows, for one class, each scored in the dtypes that it would have alone."""
        task = next(task for task in self._tasks if task.scorer.target == target)
        scores = np.empty(len(rows))
        for places, frame in self._form.restored_rows(rows):
            some = task.scorer.scores(self._form.to_native(frame))
            check_length(some, len(places))
            scores[places] = some
        return scores

    def list_sets(self, queries: pd.DataFrame, answers: Answers) -> Answers:
        """The same answers with all minimum sets listed and checked."""
        waiting = np.flatnonzero(~answers.listed)
        parts = []
        for first in range(0, len(waiting), _ROWS_AT_ONCE):
            rows = waiting[first : first + _ROWS_AT_ONCE]
            for task in self._tasks:
                mine = rows[answers.target[rows] == task.number]
                if mine.size:
                    known = _as_solution(answers.take(mine))
                    parts.append((mine, task.list_sets(queries.iloc[mine], known, self._settings)))
        return answers.with_sets(Solution.merge(parts), np.sort(waiting)) if parts else answers

    def unrestricted(self) -> ExplainerSource:
        """The same with every feature allowed."""
        allowed = np.ones_like(self._settings.allowed)
        return ExplainerSource(self._form, self._tasks, replace(self._settings, allowed=allowed), self._origin)

    def answer(self, queries: pd.DataFrame) -> Answers:
        """Explain rows."""
        return answer_all(self._tasks, queries, self._settings)

    def about(self) -> dict[str, Any]:
        """Names, hashes and settings, as plain values, for records and reports."""
        rows = pd.concat([task.reference.rows for task in self._tasks], ignore_index=True)
        limits = self._settings.limits
        origin = self._origin
        return {
            "model": origin.model_name,
            "package": origin.package,
            "backend": origin.backend,
            "reference": self._tasks[0].reference.name,
            "n_background": origin.n_background,
            "hashes": {
                "model": origin.model_hash,
                "background": origin.background_hash,
                "reference": table_hash(rows),
            },
            "limits": {
                "max_size": limits.max_size,
                "max_sets": limits.max_sets,
                "time_limit": limits.time_limit,
                "max_predictions": limits.max_predictions,
            },
        }


def _as_solution(answers: Answers) -> Solution:
    return Solution(
        status=answers.status,
        lower_bound=answers.lower_bound,
        offsets=answers.offsets,
        masks=answers.masks,
        complete=answers.complete,
        reasons=answers.reasons,
    )
