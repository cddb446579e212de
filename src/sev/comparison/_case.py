"""What every method is given: the model, its reference, the rows to explain, and the rules for all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from sev.comparison._coding import Coding
from sev.explainers import Explainer, Task
from sev.space import FeatureSpace, Mixer, TableForm
from sev.typing import BoolArray, FloatArray, IntArray, NativeTable


class NotApplicable(Exception):
    """A method that cannot say anything about this kind of model."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """One model and the rows that all methods explain.

    Parameters
    ----------
    explainer : Explainer
        The smallest sets; it owns the reference, the features and the model's own decision.
    background : DataFrame
        Background rows, in the common form.
    labels : ndarray or None
        Their labels.
    queries : DataFrame
        Rows to explain, in the common form; the model predicts the target for each.
    random_state : int
        Seed; each query has its own, drawn from this and its values.
    """

    explainer: Explainer
    background: pd.DataFrame
    labels: np.ndarray | None
    queries: pd.DataFrame
    random_state: int

    @property
    def _task(self) -> Task:
        return self.explainer.tasks[0]

    @property
    def form(self) -> TableForm:
        """Columns, dtypes and container of the rows."""
        return self.explainer.form

    @property
    def space(self) -> FeatureSpace:
        """Which columns move together."""
        return self.explainer.space

    @property
    def target_index(self) -> int:
        """Place of the class being explained among the model's classes."""
        return self._task.scorer.target_index

    @property
    def references(self) -> pd.DataFrame:
        """The reference rows, in the common form."""
        return self._task.reference.rows

    @cached_property
    def assigned(self) -> IntArray:
        """For each query, the number of its reference row."""
        return self._task.reference.assigned(self.queries)

    @cached_property
    def allowed(self) -> BoolArray:
        """Features that may be changed."""
        return ~self.explainer.space.select(self.explainer.restricted)

    @cached_property
    def differs(self) -> BoolArray:
        """For each query and feature: is it other than in the reference?"""
        return self._mixer.differing()

    @cached_property
    def _mixer(self) -> Mixer:
        return Mixer(self.form, self.space, self.queries, self.references, self.assigned)

    @cached_property
    def coding(self) -> Coding:
        """Rows as numbers and categories, for packages that take no text."""
        return Coding(self.form, self.space, self.background, self.queries)

    def seed(self, query: int) -> int:
        """A seed for one query, from its values: the same whatever other queries there are, in whatever order."""
        return int(np.random.SeedSequence([self.random_state, self._hashes[query]]).generate_state(1)[0] % (2**31))

    @cached_property
    def _hashes(self) -> list[int]:
        return [int(one) for one in pd.util.hash_pandas_object(self.queries, index=False)]

    # -- the model's own answers ---------------------------------------------------------------------------------------

    def scores(self, rows: pd.DataFrame) -> FloatArray:
        """The model's own scores of the class being explained."""
        return self._score_rows(self.form.to_native(rows))

    def mixed_scores(self, query: int, from_reference: BoolArray) -> FloatArray:
        """Scores of a query with some features set to its reference; one line of ``from_reference`` for each."""
        rows = np.full(len(from_reference), query, dtype=np.int64)
        return self._score_rows(self._mixer.native(rows, from_reference))

    def is_positive(self, scores: FloatArray) -> BoolArray:
        """Which scores mean the class being explained."""
        return self._task.scorer.is_positive(scores)

    def centred(self, rows: pd.DataFrame) -> FloatArray:
        """Scores from 0 to 1 with the threshold at 0.5, as packages expect; probabilities cut at 0.5 stay."""
        scorer = self._task.scorer
        scores, cut = self.scores(rows), scorer.threshold
        if scorer.response == "decision_function" or scorer.leads or not 0.0 < cut < 1.0:
            return 1.0 / (1.0 + np.exp(-np.clip(scores - cut, -500.0, 500.0)))
        return np.where(scores >= cut, 0.5 + 0.5 * (scores - cut) / (1.0 - cut), 0.5 * scores / cut)

    def _score_rows(self, rows: NativeTable) -> FloatArray:
        return self._task.scorer.scores(rows)
