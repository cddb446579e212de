"""Explaining one class: its score, its reference, and the backend that answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import _safe_indexing

from sev.backends import Reading, Scorer
from sev.core import Answers, Solution, Status
from sev.explainers._query_proof import Doubts, Familiar
from sev.explainers._vertices import DtypeTest, Vertices, check_length, reasons_of_bad, score_rows_safely
from sev.explainers._work import Settings, Work
from sev.references import FittedReference
from sev.space import FeatureSpace, TableForm
from sev.typing import BoolArray, FloatArray, IntArray, Kind

#: Up to this many rows, all sets are listed and checked before the call returns.
_ROWS_SETTLED_AT_ONCE = 256


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """Answers to some rows, and how far the reading of the model was right about them.

    Parameters
    ----------
    answers : Answers
        One for each row.
    read : ndarray of bool
        Rows that were answered by the reading.
    strange : ndarray of bool
        Rows that hold something that no background row does.
    doubts : Doubts
        Where reading and model differ; its rows are answered without the reading already.
    """

    answers: Answers
    read: BoolArray
    strange: BoolArray
    doubts: Doubts


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """One class to explain.

    Parameters
    ----------
    number : int
        Place of the class among those that the explainer explains.
    scorer : Scorer
        The model's own score of the class.
    reference : FittedReference
        What features are changed to.
    reference_scores : ndarray
        The model's own scores of the reference rows.
    reading : Reading or None
        The model in an exact form; None: a black box.
    form, space : TableForm, FeatureSpace
        What rows look like and which columns move together.
    sample : DataFrame
        Representative background rows.
    first_reference : int
        Number of this task's first reference row among those of all tasks.
    """

    number: int
    scorer: Scorer
    reference: FittedReference
    reference_scores: FloatArray
    reading: Reading | None
    form: TableForm
    space: FeatureSpace
    sample: pd.DataFrame
    first_reference: int = 0

    def answer(self, queries: pd.DataFrame, settings: Settings, *, trusted: bool = True) -> Outcome:
        """Explain rows; those that are not of the class, or on which the model fails, are marked so.

        Parameters
        ----------
        queries : DataFrame
            The rows.
        settings : Settings
            What the user asked for.
        trusted : bool
            Whether the reading of the model, if there is one, may be used.
        """
        scores, reasons, transformed = self._score_and_transform(queries)
        rows = np.flatnonzero(np.isfinite(scores) & self.scorer.is_positive(scores))
        everything = len(rows) == len(queries)
        positives = queries if everything else queries.iloc[rows]
        if transformed is not None and not everything:
            transformed = _safe_indexing(transformed, rows)
        # of many rows only the first sets are wanted at once; the others wait until somebody asks
        later = len(queries) > _ROWS_SETTLED_AT_ONCE and not settings.settled
        limits = replace(settings.limits, first_only=later)
        work = Work(self, self._vertices(positives, settings.kind), replace(settings, limits=limits), scores[rows])
        solution, result_scores = work.answer_read(transformed) if trusted else work.answer_unread()
        waits = work.read & solution.has_set & ((np.diff(solution.offsets) > 1) | ~solution.complete) & later
        status = np.full(len(queries), Status.NOT_TARGET.code, dtype=np.int8)
        status[list(reasons)] = Status.ERROR.code
        found = _spread(np.zeros(len(queries), dtype=np.int64), rows, np.diff(solution.offsets))
        assigned = work.vertices.assigned
        answers = Answers(
            status=_spread(status, rows, solution.status),
            lower_bound=_spread(np.zeros(len(queries), dtype=np.int64), rows, solution.lower_bound),
            score=scores,
            result_score=_spread(np.full(len(queries), np.nan), rows, result_scores),
            target=np.full(len(queries), self.number, dtype=np.int64),
            reference=_spread(np.zeros(len(queries), dtype=np.int64), rows, assigned) + self.first_reference,
            offsets=np.concatenate([[0], np.cumsum(found)]),
            masks=solution.masks,
            complete=_spread(np.ones(len(queries), dtype=np.bool_), rows, solution.complete),
            listed=_spread(np.ones(len(queries), dtype=np.bool_), rows, ~waits),
            reasons={**reasons, **{int(rows[row]): reason for row, reason in solution.reasons.items()}},
        )
        return Outcome(
            answers=answers,
            read=_spread(np.zeros(len(queries), dtype=np.bool_), rows, work.read),
            strange=_spread(np.zeros(len(queries), dtype=np.bool_), rows, work.strange),
            doubts=replace(work.doubts, rows={int(rows[row]): reason for row, reason in work.doubts.rows.items()}),
        )

    def list_sets(self, queries: pd.DataFrame, known: Solution, settings: Settings) -> Solution:
        """All minimum sets of rows that were answered by the reading, each checked against the model.

        Parameters
        ----------
        queries : DataFrame
            The rows.
        known : Solution
            What :meth:`answer` found for them.
        settings : Settings
            As they were then.
        """
        work = Work(self, self._vertices(queries, settings.kind), settings, None)
        return work.list_sets(known)

    def score_safely(self, queries: pd.DataFrame) -> tuple[FloatArray, dict[int, str]]:
        """The model's own scores; rows on which it fails get NaN and a reason."""
        return score_rows_safely(self.scorer.scores, self.form, queries)

    @cached_property
    def familiar(self) -> Familiar:
        """What the background's columns hold."""
        return Familiar(self.sample, self.space)

    @cached_property
    def encoded_references(self) -> FloatArray:
        """Reference rows in encoded space."""
        assert self.reading is not None
        return self.reading.encoding.encode(self.reference.rows)

    # -- inside --------------------------------------------------------------------------------------------------------

    @cached_property
    def _dtype_test(self) -> DtypeTest:
        return DtypeTest(self.scorer.scores, self.form, self.sample)

    def _vertices(self, queries: pd.DataFrame, kind: Kind) -> Vertices:
        assigned = self.reference.assigned(queries)
        return Vertices(
            self.scorer, self.form, self.space, queries, self.reference.rows, assigned, kind, self._dtype_test
        )

    def _score_and_transform(self, queries: pd.DataFrame) -> tuple[FloatArray, dict[int, str], Any]:
        """The model's own scores, and the rows as its final estimator takes them where the two are made together.

        A pipeline's transform costs more than anything else for a single row, and its result is needed twice.
        """
        if self.reading is None or not self.reading.final_scores_are_the_models:
            return *self.score_safely(queries), None
        try:
            transformed = self.reading.unwrapped.transform(self.form.to_native(queries))
            scores = self.scorer.scores_of(self.reading.final_outputs(transformed))
            check_length(scores, len(queries))
        except Exception:  # some row makes the model raise: found out below
            return *self.score_safely(queries), None
        return scores, reasons_of_bad(scores), transformed


def _spread(everything: np.ndarray, rows: IntArray, values: np.ndarray) -> np.ndarray:
    everything[rows] = values
    return everything
