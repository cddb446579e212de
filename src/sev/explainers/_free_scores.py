"""The model's scores of queries and of changed rows: of a few queries together, in one call of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.explainers._vertices import score_rows_safely
from sev.typing import FloatArray

if TYPE_CHECKING:
    from sev.explainers._task import Task


class LaterScores:
    """Scores changed rows, and with the first of them the queries: a call costs more than a few rows more.

    Parameters
    ----------
    task : Task
        The class.
    queries : DataFrame
        The rows to be explained.
    """

    def __init__(self, task: Task, queries: pd.DataFrame) -> None:
        self._task = task
        self._queries = queries
        self._known: tuple[FloatArray, dict[int, str]] | None = None

    def score(self, frame: pd.DataFrame) -> tuple[FloatArray, dict[int, str]]:
        """Scores of changed rows; those on which the model fails get NaN and a reason."""
        n_queries = len(self._queries)
        # in one table both would get dtypes that hold either, which the model may take otherwise
        if self._known is not None or not len(frame) or not self._queries.dtypes.equals(frame.dtypes):
            return self._score_frame(frame)
        scores, reasons = self._score_frame(pd.concat([self._queries, frame], ignore_index=True))
        self._known = (scores[:n_queries], {row: one for row, one in reasons.items() if row < n_queries})
        return scores[n_queries:], {row - n_queries: one for row, one in reasons.items() if row >= n_queries}

    def of_queries(self) -> tuple[FloatArray, dict[int, str]]:
        """Scores of the queries."""
        if self._known is None:
            self._known = self._score_frame(self._queries)
        return self._known

    def _score_frame(self, frame: pd.DataFrame) -> tuple[FloatArray, dict[int, str]]:
        return score_rows_safely(self._task.scorer.scores, self._task.form, frame)


def encode_clear(task: Task, queries: pd.DataFrame) -> FloatArray | None:
    """Queries in the columns of the reading, if that says of all of them that they are surely of the class."""
    reading = task.reading
    assert reading is not None
    try:
        encoded = reading.encoding.encode(queries)
        margins = reading.backend.margins(encoded)
    except Exception:  # the model takes a row that its reading does not
        return None
    low, high = reading.band(task.scorer.threshold_of_second_class)
    clear = margins > high if task.scorer.sign > 0 else margins < low
    return encoded if bool(np.all(clear)) else None
