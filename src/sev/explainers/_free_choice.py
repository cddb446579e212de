"""Values of a set's own: which results are credible, and which set comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.credibility import FittedFunction
from sev.explainers._distances import distances_of_sets, feature_distances
from sev.explainers._vertices import score_rows_safely
from sev.explainers._work import Settings
from sev.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from sev.explainers._task import Task


class CredibleRows:
    """How ordinary whole rows are, and which of them are credible.

    Parameters
    ----------
    task : Task
        The class, with its credibility.
    least : float
        The least credibility.
    """

    def __init__(self, task: Task, least: float) -> None:
        self._form = task.form
        self._credibility = task.fitted_credibility
        self._more_than = self._credibility.more_than(least)
        #: Rows on which a function of the user's own failed, and what happened.
        self.failures: dict[int, str] = {}

    def kept(self, rows: IntArray, results: pd.DataFrame) -> BoolArray:
        """Which results are credible; those that cannot be measured count, so that the search for their row ends: it
        is an error.
        """
        values = self._measure_ordinariness(rows, results)
        return np.isnan(values) | (values > self._more_than)

    def shares(self, rows: IntArray, results: pd.DataFrame) -> FloatArray:
        """The credibility of results."""
        return self._credibility.shares(self._measure_ordinariness(rows, results))

    def _measure_ordinariness(self, rows: IntArray, results: pd.DataFrame) -> FloatArray:
        measure = self._credibility.measure
        if not isinstance(measure, FittedFunction):
            return measure.ordinariness(measure.encode(results))
        values, reasons = score_rows_safely(
            measure.ordinariness_of_rows, self._form, results, who="the credibility function"
        )
        for place, reason in reasons.items():
            self.failures.setdefault(int(rows[place]), reason)
        return values


def order_of_sets(
    task: Task, queries: pd.DataFrame, settings: Settings, owner: IntArray, sets: BoolArray, results: pd.DataFrame
) -> IntArray:
    """The places of sets in the order that was asked for, row by row; of equals the one that came first.

    Parameters
    ----------
    task : Task
        The class.
    queries : DataFrame
        The rows.
    settings : Settings
        What was asked for.
    owner, sets, results
        For each set its row, its features, and the changed row.
    """
    if settings.order == "closest":
        moves = feature_distances(task, queries.iloc[owner], results)
        keys: tuple[FloatArray | IntArray, ...] = distances_of_sets(moves, np.arange(len(owner)), sets)
    else:
        keys = (-CredibleRows(task, 0.0).shares(owner, results),)
    return np.lexsort((np.arange(len(owner)), *reversed(keys), owner)).astype(np.int64)
