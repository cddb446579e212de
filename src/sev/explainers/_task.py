"""Explaining one class: its score, its reference, and the backend that answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import _safe_indexing

from sev.backends._protocol import CannotReadError
from sev.backends._reading import Reading
from sev.backends._scores import Scorer
from sev.backends.blackbox import solve_blackbox
from sev.core import Answers, Limits, Problem, Solution, SolutionBuilder, Status, n_words, unpack
from sev.exceptions import FallbackWarning
from sev.references import FittedReference
from sev.space import FeatureSpace, Mixer, TableForm, differing_features
from sev.typing import BoolArray, FloatArray, IntArray, Kind

_NOTHING_ENCODED = np.zeros((0, 0))
#: Up to this many rows, all sets are listed and checked before the call returns.
_ROWS_SETTLED_AT_ONCE = 256
_SETS_PER_CALL = 100_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Settings:
    """What a user asked of one call.

    With ``settled``, all sets of all rows are listed at once, which is quicker when they are all going to be read.
    """

    kind: Kind
    allowed: BoolArray
    limits: Limits
    settled: bool = False


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
    first_reference: int = 0

    def answer(self, queries: pd.DataFrame, settings: Settings) -> Answers:
        """Explain rows; those that are not of the class, or on which the model fails, are marked so."""
        scores, reasons, transformed = self._score_and_transform(queries)
        status = np.full(len(queries), Status.NOT_TARGET.code, dtype=np.int8)
        status[list(reasons)] = Status.ERROR.code
        rows = np.flatnonzero(np.isfinite(scores) & self.scorer.is_positive(scores))
        positives = queries if len(rows) == len(queries) else queries.iloc[rows]
        if transformed is not None and len(rows) < len(queries):
            transformed = _safe_indexing(transformed, rows)
        assigned = self.reference.assigned(positives)
        # of many rows only the first sets are wanted at once; the others wait until somebody asks
        later = len(queries) > _ROWS_SETTLED_AT_ONCE and not settings.settled
        limits = replace(settings.limits, first_only=later)
        solution = self._solve(positives, assigned, replace(settings, limits=limits), transformed)
        solution, result_scores = self._checked(positives, assigned, solution, settings, first_only=later)
        waits = solution.has_set & ((np.diff(solution.offsets) > 1) | ~solution.complete) & later
        found = np.zeros(len(queries), dtype=np.int64)
        found[rows] = np.diff(solution.offsets)
        return Answers(
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

    def list_sets(self, queries: pd.DataFrame, known: Solution, settings: Settings) -> Solution:
        """All minimum sets of rows that are known to be of the class, each checked against the model.

        Parameters
        ----------
        queries : DataFrame
            The rows.
        known : Solution
            What :meth:`answer` found for them.
        settings : Settings
            As they were then.
        """
        assigned = self.reference.assigned(queries)
        if self.reading is not None and getattr(self.reading.backend, "lists_sets_later", False):
            known = self._solve(queries, assigned, settings)
        return self._checked(queries, assigned, known, settings, first_only=False)[0]

    def score_safely(self, queries: pd.DataFrame) -> tuple[FloatArray, dict[int, str]]:
        """The model's own scores; rows on which it fails get NaN and a reason."""
        try:
            scores = self.scorer.scores(self.form.to_native(queries))
        except Exception as error:  # the model may raise anything
            if len(queries) == 1:
                return np.array([np.nan]), {0: f"{type(error).__name__}: {error}"}
            half = len(queries) // 2
            one, one_reasons = self.score_safely(queries.iloc[:half])
            two, two_reasons = self.score_safely(queries.iloc[half:])
            shifted = {half + row: reason for row, reason in two_reasons.items()}
            return np.concatenate([one, two]), {**one_reasons, **shifted}
        return scores, _reasons_of_bad(scores)

    # -- inside --------------------------------------------------------------------------------------------------------

    def _score_and_transform(self, queries: pd.DataFrame) -> tuple[FloatArray, dict[int, str], Any]:
        """The model's own scores, and the rows as its final estimator takes them where the two are made together.

        A pipeline's transform costs more than anything else for a single row, and its result is needed twice.
        """
        if self.reading is None or not self.reading.final_scores_are_the_models:
            return *self.score_safely(queries), None
        try:
            transformed = self.reading.unwrapped.transform(self.form.to_native(queries))
            scores = self.scorer.scores_of(self.reading.final_outputs(transformed))
        except Exception:  # some row makes the model raise: found out below
            return *self.score_safely(queries), None
        return scores, _reasons_of_bad(scores), transformed

    def _solve(
        self, queries: pd.DataFrame, assigned: IntArray, settings: Settings, transformed: Any = None
    ) -> Solution:
        """Solve rows, one reference after the other."""
        if not len(queries):
            return SolutionBuilder(0, n_words(len(self.space))).build()
        groups = np.unique(assigned)
        if len(groups) == 1:
            return self._solve_group(queries, int(groups[0]), settings, transformed)
        parts = []
        for group in groups.tolist():
            rows = np.flatnonzero(assigned == group)
            some = None if transformed is None else _safe_indexing(transformed, rows)
            parts.append((rows, self._solve_group(queries.iloc[rows], group, settings, some)))
        return Solution.merge(parts)

    def _solve_group(self, queries: pd.DataFrame, reference: int, settings: Settings, transformed: Any) -> Solution:
        assigned = np.full(len(queries), reference, dtype=np.int64)
        if settings.kind == "plus" and self.scorer.is_positive(self.reference_scores[reference : reference + 1])[0]:
            return _nothing_needed(len(queries), len(self.space))
        if self.reading is None:
            return self._solve_blackbox(queries, assigned, settings)
        try:
            problem = self._exact_problem(queries, assigned, settings, transformed)
        except CannotReadError as error:
            warnings.warn(f"{len(queries)} rows are explained as a black box: {error}.", FallbackWarning, stacklevel=2)
            return self._solve_blackbox(queries, assigned, settings)
        return self.reading.backend.solve(problem)

    def _exact_problem(
        self, queries: pd.DataFrame, assigned: IntArray, settings: Settings, transformed: Any
    ) -> Problem:
        assert self.reading is not None
        encoding = self.reading.encoding
        encoded = encoding.encode(queries) if transformed is None else self.reading.backend.encode(transformed)
        others = self._encoded_references
        encoding.own_new_columns(queries, self.reference.rows, assigned, encoded, others)
        low, high = self.reading.band(self.scorer.threshold_of_second_class)
        problem = self._problem(queries, assigned, settings)
        reference = others[assigned[0]]
        return replace(
            problem,
            low=low,
            high=high,
            # compiled kernels take plain arrays only; a chunk is small enough to copy
            queries=np.require(encoded, requirements=["C", "W"]),
            reference=np.require(reference, requirements=["C", "W"]),
            column_feature=encoding.column_feature,
        )

    @cached_property
    def _encoded_references(self) -> FloatArray:
        assert self.reading is not None
        return self.reading.encoding.encode(self.reference.rows)

    def _problem(self, queries: pd.DataFrame, assigned: IntArray, settings: Settings) -> Problem:
        minus = settings.kind == "minus"
        differs = differing_features(self.space, queries, self.reference.rows, assigned)
        return Problem(
            kind=settings.kind,
            direction=-self.scorer.sign if minus else self.scorer.sign,
            low=0.0,
            high=0.0,
            queries=_NOTHING_ENCODED,
            reference=_NOTHING_ENCODED[0:0].ravel(),
            column_feature=np.zeros(0, dtype=np.int64),
            active=np.ascontiguousarray(differs & settings.allowed),
            evaluate=self._evaluator(queries, assigned, settings.kind),
            is_across=self._is_across(settings.kind),
            across_sign=-1 if minus else 1,
            limits=settings.limits,
        )

    def _solve_blackbox(self, queries: pd.DataFrame, assigned: IntArray, settings: Settings) -> Solution:
        """Search with the model's own scores only; rows that are the same are searched once."""
        if settings.limits.time_limit is not None and len(queries) > 1:
            parts = [
                (np.array([row]), self._solve_blackbox(queries.iloc[[row]], assigned[[row]], settings))
                for row in range(len(queries))
            ]
            return Solution.merge(parts)
        twins, first = pd.factorize(pd.MultiIndex.from_frame(queries.assign(**{"": assigned})), use_na_sentinel=False)
        if len(first) == len(queries):
            return solve_blackbox(self._problem(queries, assigned, settings))
        unique = np.full(len(first), -1, dtype=np.int64)
        unique[twins[::-1]] = np.arange(len(queries), dtype=np.int64)[::-1]
        solution = solve_blackbox(self._problem(queries.iloc[unique], assigned[unique], settings))
        return solution.take(twins)

    def _evaluator(
        self, queries: pd.DataFrame, assigned: IntArray, kind: Kind
    ) -> Callable[[IntArray, BoolArray], FloatArray]:
        mixer = Mixer(self.form, self.space, queries, self.reference.rows, assigned)

        def evaluate(rows: IntArray, sets: BoolArray) -> FloatArray:
            if not len(rows):
                return np.zeros(0)
            return self.scorer.scores(mixer.native(rows, sets if kind == "minus" else ~sets))

        return evaluate

    def _is_across(self, kind: Kind) -> Callable[[FloatArray], BoolArray]:
        if kind == "plus":
            return self.scorer.is_positive
        return lambda scores: ~self.scorer.is_positive(scores)

    def _checked(
        self, queries: pd.DataFrame, assigned: IntArray, solution: Solution, settings: Settings, *, first_only: bool
    ) -> tuple[Solution, FloatArray]:
        """Put sets through the model; rows where it disagrees are searched again as a black box.

        Gives the solution and the model's own score after the change of each row's first set.
        """
        evaluate = self._evaluator(queries, assigned, settings.kind)
        first_only = first_only or self.reading is None  # a black box was asked about every set already
        rows, scores = self._set_scores(evaluate, solution, first_only)
        wrong = np.unique(rows[~self._is_across(settings.kind)(scores)])
        if wrong.size and self.reading is not None:
            solution = self._searched_again(queries, assigned, solution, wrong, settings)
            rows, scores = self._set_scores(evaluate, solution, first_only)
        result = np.full(len(queries), np.nan)
        found, first = np.unique(rows, return_index=True)
        result[found] = scores[first]
        return solution, result

    def _set_scores(
        self, evaluate: Callable[[IntArray, BoolArray], FloatArray], solution: Solution, first_only: bool
    ) -> tuple[IntArray, FloatArray]:
        """The model's own scores after the change of each set: the row of each, in order, and its score."""
        if first_only:
            rows = np.flatnonzero(solution.has_set)
            masks = solution.masks[solution.offsets[rows]]
        else:
            rows = np.repeat(np.arange(solution.n_rows, dtype=np.int64), np.diff(solution.offsets))
            masks = solution.masks
        scores = np.empty(len(rows))
        for start in range(0, len(rows), _SETS_PER_CALL):
            some = slice(start, start + _SETS_PER_CALL)
            scores[some] = evaluate(rows[some], unpack(masks[some], len(self.space)))
        return rows, scores

    def _searched_again(
        self, queries: pd.DataFrame, assigned: IntArray, solution: Solution, wrong: IntArray, settings: Settings
    ) -> Solution:
        """The same solution with some rows, where the model disagreed, searched as a black box."""
        warnings.warn(
            f"The model did not confirm the explanation of {len(wrong)} row(s); they are searched as a black box.",
            FallbackWarning,
            stacklevel=3,
        )
        again = self._solve_blackbox(queries.iloc[wrong], assigned[wrong], settings)
        kept = np.setdiff1d(np.arange(len(queries)), wrong)
        return Solution.merge([(kept, solution.take(kept)), (wrong, again)])


def _reasons_of_bad(scores: FloatArray) -> dict[int, str]:
    bad = np.flatnonzero(~np.isfinite(scores))
    return {int(row): f"the model's score is {scores[row]}" for row in bad}


def _spread(everything: np.ndarray, rows: IntArray, values: np.ndarray) -> np.ndarray:
    everything[rows] = values
    return everything


def _nothing_needed(n_rows: int, n_features: int) -> Solution:
    """The reference is already positive: the empty set, for every row."""
    return Solution(
        status=np.full(n_rows, Status.OPTIMAL.code, dtype=np.int8),
        lower_bound=np.zeros(n_rows, dtype=np.int64),
        offsets=np.arange(n_rows + 1, dtype=np.int64),
        masks=np.zeros((n_rows, n_words(n_features)), dtype=np.uint64),
        complete=np.ones(n_rows, dtype=np.bool_),
    )
