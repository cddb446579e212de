"""What results ask of the explainer that made them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from sev.explainers._task import Settings, Task
from sev.explanations import Answers
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
        listed: list[Any] = []
        complete = np.zeros(len(waiting), dtype=np.bool_)
        for first in range(0, len(waiting), _ROWS_AT_ONCE):
            rows = waiting[first : first + _ROWS_AT_ONCE]
            sets: dict[int, Any] = {}
            for task in self._tasks:
                mine = np.flatnonzero(answers.target[rows] == task.number)
                if not mine.size:
                    continue
                solution = task.list_sets(queries.iloc[rows[mine]], self._settings)
                complete[first + mine] = solution.complete
                sets.update(
                    {
                        int(row): solution.masks[solution.offsets[k] : solution.offsets[k + 1]]
                        for k, row in enumerate(mine)
                    }
                )
            listed.extend(sets[place] for place in range(len(rows)))
        return answers.with_sets(waiting, listed, complete)
