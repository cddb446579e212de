"""What results ask of the explainer that made them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from sev.explainers._task import Settings, Task
from sev.explanations import Answers
from sev.search import Solution
from sev.space import TableForm
from sev.typing import FloatArray

_ROWS_AT_ONCE = 20_000


class ExplainerSource:
    """The tasks of an explainer, with the settings of one call."""

    def __init__(self, form: TableForm, tasks: list[Task], settings: Settings) -> None:
        self._form = form
        self._tasks = tasks
        self._settings = settings

    def score_rows(self, rows: pd.DataFrame, target: Any) -> FloatArray:
        """The model's own scores of rows, for one class."""
        task = next(task for task in self._tasks if task.scorer.target == target)
        return task.scorer.scores(self._form.to_native(self._form.to_frame(rows)))

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


def _as_solution(answers: Answers) -> Solution:
    return Solution(
        status=answers.status,
        lower_bound=answers.lower_bound,
        offsets=answers.offsets,
        masks=answers.masks,
        complete=answers.complete,
        reasons=answers.reasons,
    )
