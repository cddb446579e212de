"""Explaining one class: its score, its reference, and the backend that answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from sklearn.utils import _safe_indexing

from sev.actions import BoundActions, NearestReferences, PermittedReferences
from sev.backends import Reading, Scorer
from sev.backends.free import FreeSearch, JointSearch
from sev.core import Recent, Solution
from sev.credibility import Credibility, LazyCredibility
from sev.explainers._credible import CredibleVertices
from sev.explainers._free import search_of
from sev.explainers._free_rules import joint_search_of
from sev.explainers._outcome import Outcome, gather_outcome
from sev.explainers._permitted import permit
from sev.explainers._vertices import (
    DtypeTest,
    Vertices,
    check_length,
    reasons_of_bad,
    rounding_of_scores,
    score_rows_safely,
)
from sev.explainers._work import Settings, Work
from sev.references import FittedReference
from sev.space import Familiar, FeatureSpace, FittedReferences, TableForm
from sev.typing import BoolArray, FloatArray, IntArray, Kind, NativeTable

#: Up to this many rows, all sets are listed and checked before the call returns.
_ROWS_SETTLED_AT_ONCE = 256
#: Up to this many rows, a call of the model is worth more than a search for rows that turn out not to be of the class:
#: rows and sets are scored together. GBDT 200 x 3 on four data sets, one call instead of two: 7 to 12 % less time for
#: 500 rows, 2 to 7 % for 3,000, nothing for 6,000.
_ROWS_SCORED_WITH_SETS = 4096
#: Tasks with reference rows of permitted values that are kept for later calls.
_MOST_COMPARED = 16
#: So many rows tell whether those of a call look to be of the class.
_ROWS_LOOKED_AT = 16


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
    bound : BoundActions or None
        What features may become; None where the background is not known well enough (files of older versions).
    has_actions : bool
        Whether there are actions.
    credibility : LazyCredibility or None
        How ordinary rows are among those of the other class; None where that is not known (files of older versions).
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
    bound: BoundActions | None = None
    has_actions: bool = False
    credibility: LazyCredibility | None = None

    def answer(
        self,
        queries: pd.DataFrame,
        settings: Settings,
        *,
        trusted: bool = True,
        assigned: IntArray | None = None,
        scores: FloatArray | None = None,
    ) -> Outcome:
        """Explain rows; those that are not of the class, or on which the model fails, are marked so.

        Parameters
        ----------
        queries : DataFrame
            The rows.
        settings : Settings
            What the user asked for.
        trusted : bool
            Whether the reading of the model, if there is one, may be used.
        assigned : ndarray of int, default=None
            Number of each row's reference row; None: the first that the reference assigns.
        scores : ndarray, default=None
            The model's own scores of the rows, where they are known and finite.

        Returns
        -------
        Outcome
            Answers for all rows, and what is known of them besides.
        """
        # of many rows only the first sets are wanted at once; the others wait until somebody asks
        later = len(queries) > _ROWS_SETTLED_AT_ONCE and not settings.settled and not self.has_actions
        settings = replace(settings, limits=replace(settings.limits, first_only=later))
        native, encoded = None, None
        if trusted and scores is None and self._may_take_one_call(len(queries)):
            native, encoded, looks_positive = self._look_at_rows(queries)
            together = None
            if encoded is not None and looks_positive:
                together = self._answer_in_one_call(queries, encoded, settings, assigned)
            if together is not None:
                return together
        reasons: dict[int, str] = {}
        transformed = None
        if scores is None:
            scores, reasons, transformed = self.score_and_transform(queries, native)
        rows = np.flatnonzero(np.isfinite(scores) & self.scorer.is_positive(scores))
        everything = len(rows) == len(queries)
        positives = queries if everything else queries.iloc[rows]
        if transformed is not None and encoded is None and not everything:
            # the lowest version of scikit-learn takes no rows of arrow tables
            is_arrow = type(transformed).__module__.startswith("pyarrow")
            transformed = None if is_arrow else _safe_indexing(transformed, rows)
        given = None if assigned is None else assigned[rows]
        work = self._start_work(positives, settings, scores[rows], given)
        if trusted:
            known = encoded if encoded is None or everything else encoded[rows]
            solution, result_scores = work.answer_read(transformed, known)
        else:
            solution, result_scores = work.answer_unread()
        return gather_outcome(self, work, solution, result_scores, scores, rows, reasons, later=later)

    def _may_take_one_call(self, n_rows: int) -> bool:
        """Whether rows and their sets can be scored together, if the rows look to be of the class."""
        reading = self.reading
        if reading is None or reading.final_scores_are_the_models or not 0 < n_rows <= _ROWS_SCORED_WITH_SETS:
            return False
        if self.has_actions:  # permitted values are found for rows of the class only
            return False
        # to transform rows only to look at them takes longer than a call of the model for its sets
        return n_rows <= _ROWS_LOOKED_AT or not reading.unwrapped.transforms

    def _look_at_rows(self, queries: pd.DataFrame) -> tuple[NativeTable | None, FloatArray | None, bool]:
        """Rows as the model takes them, where the model may still have them, and in encoded space; whether some of them
        all look to be of the class.
        """
        assert self.reading is not None
        native = self.form.to_native(queries)
        step = -(-len(queries) // _ROWS_LOOKED_AT)
        try:
            encoded, positive = self.reading.encode_and_judge(native, self.scorer, step)
        except Exception:  # a row that the model may refuse as well: found out when it is scored
            return None, None, False
        return None if self.reading.unwrapped.transforms else native, encoded, bool(positive.all())

    def _answer_in_one_call(
        self, queries: pd.DataFrame, encoded: FloatArray, settings: Settings, assigned: IntArray | None
    ) -> Outcome | None:
        """The answers with one call of the model, where the reading says which rows are of the class and the model
        agrees; None otherwise, for the caller to score the rows first.
        """
        n_rows = len(queries)
        everyone = self._start_work(queries, settings, None, assigned)
        found = everyone.search_unscored(encoded)
        if found is None:
            return None
        work, rows, proof, solution = everyone, np.arange(n_rows, dtype=np.int64), *found
        positive = proof.read_as_positive(solution.query_margins)
        if not positive.all():
            rows = np.flatnonzero(positive)
            if not rows.size:
                return None
            work = self._start_work(queries.iloc[rows], settings, None, everyone.assigned[rows])
            proof, solution = work.prove(proof.encoded[rows]), solution.take(rows)
        answered = work.check_unscored(proof, solution, everyone.vertices, rows)
        if answered is None:
            return None
        solution, result_scores, scores = answered
        return gather_outcome(self, work, solution, result_scores, scores, rows, {}, later=settings.limits.first_only)

    def encode_queries(self, queries: pd.DataFrame, settings: Settings) -> FloatArray | None:
        """Rows in encoded space, for :meth:`search_below`; None where that is not possible.

        Parameters
        ----------
        queries : DataFrame
            The rows.
        settings : Settings
            What the user asked for.

        Returns
        -------
        ndarray or None
            One line for each row.
        """
        # whether a set keeps the rules, or is credible, is not known to the reading
        if self.reading is None or self.has_actions or settings.min_credibility > 0:
            return None
        try:
            return self.reading.encoding.encode(queries)
        except Exception:  # one of the rows is such that the model raises
            return None

    def search_below(
        self, queries: pd.DataFrame, settings: Settings, reference: int, encoded: FloatArray, sizes: FloatArray
    ) -> Solution | None:
        """What the reading finds below given sizes for rows on which it is known to be right; None where more than it
        is needed.

        Parameters
        ----------
        queries : DataFrame
            The rows.
        settings : Settings
            What the user asked for.
        reference : int
            Number of the reference row.
        encoded : ndarray
            The rows in encoded space.
        sizes : ndarray
            For each row the size that a set must be smaller than.

        Returns
        -------
        Solution or None
            What was found, or None.
        """
        if self.wrong_references[reference]:
            return None
        assigned = np.full(len(queries), reference, dtype=np.int64)
        return self._start_work(queries, settings, None, assigned).search_below(encoded, sizes)

    def list_sets(self, queries: pd.DataFrame, known: Solution, settings: Settings, references: IntArray) -> Solution:
        """All minimum sets of rows that were answered by the reading, each checked against the model.

        Parameters
        ----------
        queries : DataFrame
            The rows.
        known : Solution
            What :meth:`answer` found for them.
        settings : Settings
            As they were then.
        references : ndarray of int
            Number of each row's reference row among those of all tasks.

        Returns
        -------
        Solution
            The same rows, with all their sets.
        """
        return self._start_work(queries, settings, None, references - self.first_reference).list_sets(known)

    def score_safely(self, queries: pd.DataFrame) -> tuple[FloatArray, dict[int, str]]:
        """The model's own scores; rows on which it fails get NaN and a reason.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.

        Returns
        -------
        tuple of ndarray of float64, dict of int to str
            Scores, and reasons by place of the row.
        """
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

    @cached_property
    def free_search(self) -> FreeSearch:
        """The search over permitted values."""
        return search_of(self)

    @cached_property
    def joint_search(self) -> JointSearch | None:
        """The search over permitted values that keep rules between features, where the family has one."""
        return joint_search_of(self)

    @cached_property
    def wrong_references(self) -> BoolArray:
        """Reference rows that the reading scores otherwise than the model."""
        assert self.reading is not None
        return ~(self.reading.gaps(self.scorer, self.reference_scores, self.encoded_references) <= 1.0)

    @cached_property
    def band(self) -> tuple[float, float]:
        """Margins between which only the model decides."""
        assert self.reading is not None
        return self.reading.band(self.scorer.threshold_of_second_class)

    @cached_property
    def n_features(self) -> int:
        """Number of features, used or not."""
        return len(self.space)

    @cached_property
    def limits(self) -> dict[str, tuple[float, float]]:
        """The smallest and the largest background value of each number; empty where they are not known."""
        return {} if self.bound is None else self.bound.limits()

    @cached_property
    def efforts(self) -> dict[str, tuple[float, float | None]]:
        """For each feature what a step of it costs; empty where the background is not known well enough."""
        return {} if self.bound is None else self.bound.efforts()

    @cached_property
    def dtype_test(self) -> DtypeTest:
        """Whether dtypes matter to the model."""
        return DtypeTest(self.scorer.scores, self.form, self.sample)

    def score_tolerances(self, queries: pd.DataFrame) -> FloatArray:
        """How far two scores of each row may be apart by rounding, in units of the score or of 1 if that is larger.

        That of the reading, where there is one. For a row with something that no background row has, which may be
        answered without the reading, at least that of the numbers in which the model computes.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).
        """
        if self.reading is None:
            return np.full(len(queries), self._rounding)
        tolerance = self.reading.backend.score_tolerance
        strange = self.familiar.strange_features(queries).any(axis=1)
        return np.where(strange, max(tolerance, self._rounding), tolerance)

    @cached_property
    def _rounding(self) -> float:
        """How far two scores of one row may be apart by the rounding of the model itself."""
        return rounding_of_scores(score_rows_safely(self.scorer.scores, self.form, self.sample)[0])

    # -- inside --------------------------------------------------------------------------------------------------------

    def _start_work(
        self, queries: pd.DataFrame, settings: Settings, scores: FloatArray | None, assigned: IntArray | None
    ) -> Work:
        if assigned is None:
            assigned = self.reference.assigned(queries)
        task, settings, permitted = permit(self, queries, settings, assigned)
        own = assigned if permitted is None else permitted.assigned
        vertices = task._make_vertices(queries, settings.kind, own)
        credible = None
        if settings.min_credibility > 0:
            least = settings.min_credibility
            credible = CredibleVertices(task.fitted_credibility, vertices, task.reference.rows, least)
        return Work(task, vertices, settings, scores, assigned, permitted, credible)

    @cached_property
    def nearest(self) -> NearestReferences:
        """Reference rows of permitted values."""
        assert self.bound is not None
        return NearestReferences(self.bound, self.reference.rows)

    def compared_with(self, permitted: PermittedReferences) -> Task:
        """The same task with reference rows of permitted values, scored by the model.

        Parameters
        ----------
        permitted : PermittedReferences
            The rows.

        Returns
        -------
        Task
            Of rows that come again as a rule, the same one as last time: they are scored and encoded once.
        """

        def make() -> Task:
            own = FittedReference(permitted.rows, self.reference.name)
            return replace(self, reference=own, reference_scores=self.score_safely(permitted.rows)[0])

        return make() if permitted.key is None else self._compared.get(permitted.key, make)

    @cached_property
    def _compared(self) -> Recent:
        return Recent(_MOST_COMPARED)

    def vertices_of(
        self, queries: pd.DataFrame, settings: Settings, references: IntArray
    ) -> tuple[Vertices, pd.DataFrame]:
        """Vertices of rows whose reference is known, and the rows that their features are changed to.

        Parameters
        ----------
        queries : DataFrame
            The rows.
        settings : Settings
            As of the call that explained them.
        references : ndarray of int
            Number of each row's reference row among those of all tasks.

        Returns
        -------
        tuple of Vertices, DataFrame
            The vertices, and one row for each query.
        """
        task, settings, permitted = permit(self, queries, settings, references - self.first_reference)
        own = references - self.first_reference if permitted is None else permitted.assigned
        return task._make_vertices(queries, settings.kind, own), task.reference.rows

    @property
    def fitted_credibility(self) -> Credibility:
        """How ordinary rows are among those of the other class; fitted when it is first needed."""
        assert self.credibility is not None
        return self.credibility.get()

    def _make_vertices(self, queries: pd.DataFrame, kind: Kind, assigned: IntArray) -> Vertices:
        mixer = self._fitted_references.mixer(self.form, self.space, queries, assigned, self.dtype_test.matter)
        return Vertices(self.scorer, mixer, queries, assigned, kind)

    @cached_property
    def _fitted_references(self) -> FittedReferences:
        return FittedReferences(self.reference.rows)

    def score_and_transform(
        self, queries: pd.DataFrame, native: NativeTable | None = None
    ) -> tuple[FloatArray, dict[int, str], NativeTable | None]:
        """The model's own scores, and the rows as its final estimator takes them where they are known.

        A pipeline's transform costs more than anything else for a single row, and its result is needed twice.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.
        native : table or array, default=None
            The same as the model takes them, where they have been made already.

        Returns
        -------
        tuple of ndarray of float64, dict of int to str, object
            Scores, reasons by place of the row, and transformed rows or None.
        """
        if self.reading is None:
            return *self.score_safely(queries), None
        try:
            native = self.form.to_native(queries) if native is None else native
            transformed, scores = self.reading.transform_and_score(native, self.scorer)
            check_length(scores, len(queries))
        except Exception:  # some row makes the model raise: found out below
            return *self.score_safely(queries), None
        return scores, reasons_of_bad(scores), transformed
