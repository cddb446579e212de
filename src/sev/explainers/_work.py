"""The rows of one class in one call: searched, then put through the model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sev.backends import CannotReadError, SolvesEach
from sev.backends.blackbox import solve_blackbox
from sev.core import Limits, Problem, Solution, unpack
from sev.explainers._found_sets import group_by_reference, locate_sets, scores_of_first_sets, solve_with_empty_sets
from sev.explainers._query_proof import Doubts, QueryProof
from sev.explainers._same_rows import find_twins
from sev.explainers._vertices import Vertices
from sev.typing import BoolArray, FloatArray, IntArray, Kind, Minimise, NativeTable, Order, Values

if TYPE_CHECKING:
    from sev.explainers._credible import CredibleVertices
    from sev.explainers._permitted import Permitted
    from sev.explainers._task import Task


_NOTHING_ENCODED = np.zeros((0, 0))
_SETS_PER_CALL = 100_000
#: The score of a vertex that does not count: finite, because a score that is not stops a row.
_FAR = float(np.finfo(np.float64).max)
#: Two scores of one row that are further apart than this do not come from one function: rounding in batches of
#: different sizes is smaller.
_SAME_SCORE = 1e-4


@dataclass(frozen=True, kw_only=True, eq=False)
class Settings:
    """What a user asked of one call.

    With ``settled``, all sets of all rows are listed at once, which is quicker when they are all going to be read.
    ``allowed`` has one entry a feature, or one line a row.
    ``n_together`` is the number of rows of the call, of which a worker may see only some.

    Parameters
    ----------
    kind : {"minus", "plus"}
        Which question.
    allowed : ndarray of bool
        Features that may be used.
    limits : Limits
        Where the search stops early.
    settled : bool, default=False
        Whether all sets of all rows are listed at once.
    values, minimise, order, min_credibility
        As for :meth:`sev.Explainer.explain`.
    n_together : int, default=0
        Number of rows of the call.
    """

    kind: Kind
    allowed: BoolArray
    limits: Limits
    settled: bool = False
    values: Values = "reference"
    minimise: Minimise = "features"
    order: Order = "margin"
    min_credibility: float = 0.0
    n_together: int = 0

    @property
    def chooses_values(self) -> bool:
        """Whether the search is one over values of features, not over sets of reference values alone."""
        return self.values != "reference" or self.minimise == "cost"


@dataclass(frozen=True, kw_only=True, eq=False)
class _Check:
    """Vertices for the model to score: of sets, then of claims that there is none, then samples.

    ``margins`` are the reading's of the sets, None where the search did not come by them.
    """

    rows: IntArray
    sets: BoolArray
    n_sets: int
    n_none: int
    margins: FloatArray | None


class Work:
    """The rows of one class in one call, from the search to the check by the model.

    Parameters
    ----------
    task : Task
        The class.
    vertices : Vertices
        The rows, all of the class.
    settings : Settings
        What the user asked for.
    scores : ndarray or None
        The model's own scores of the rows; None where they are known to be right.
    assigned : ndarray of int
        Number of each row's reference row in the class; under actions the vertices have rows of their own.
    permitted : Permitted, default=None
        Rules that results must keep, and the cost of changes; None where there are no actions.
    credible : CredibleVertices, default=None
        Which results are credible; None where they need not be.
    """

    def __init__(
        self,
        task: Task,
        vertices: Vertices,
        settings: Settings,
        scores: FloatArray | None,
        assigned: IntArray,
        permitted: Permitted | None = None,
        credible: CredibleVertices | None = None,
    ) -> None:
        self.vertices = vertices
        self.assigned = assigned
        self.doubts = Doubts()
        self.read = np.zeros(len(vertices.queries), dtype=np.bool_)
        self.strange = np.zeros(len(vertices.queries), dtype=np.bool_)
        self._task = task
        self._settings = settings
        self._scores = scores
        self._n_rows = len(vertices.queries)
        self._permitted = permitted
        self._credible = credible

    def answer_read(
        self, transformed: NativeTable | None, encoded: FloatArray | None = None
    ) -> tuple[Solution, FloatArray]:
        """Search with the reading where that is right, and the model's own score after the change of each first set.

        The rows as the final estimator takes them, and in encoded space, are made here where they are not known.
        """
        if self._task.reading is None or not self._n_rows:
            return self.answer_unread()
        try:
            proof = self.prove(self._encode_rows(transformed) if encoded is None else encoded)
        except CannotReadError as error:
            self.doubts = Doubts(dict.fromkeys(range(self._n_rows), str(error)), str(error), str(error))
            return self.answer_unread()
        assert self._scores is not None
        solution = self._search_all(proof)
        proof.compare_queries(solution, self._scores)
        proof.refuse_references(self._task.wrong_references)
        for row in proof.doubts.rows:  # what the search met on the way to a wrong answer says nothing
            self.vertices.failures.pop(row, None)
        opened = np.zeros(0, dtype=np.int64)  # rows all of whose sets break a rule: larger ones may keep it
        if self._permitted is not None:
            solution, opened = self._permitted.arrange(solution, np.arange(self._n_rows, dtype=np.int64))
        check = self._choose_vertices(proof, solution)
        result = self._judge_vertices(
            proof, check, self._score_sets(check.rows, check.sets, needed=check.n_sets + check.n_none)
        )
        for row in self.vertices.failures:  # no search finds more about them
            proof.doubts.rows.pop(row, None)
        self.doubts, self.strange = proof.doubts, proof.is_strange
        again = np.union1d(sorted(self.doubts.rows), opened).astype(np.int64)
        self.read[:] = True
        self.read[again] = False
        if again.size:
            solution, result[again] = self._search_again(solution, again)
        return self._finish_solution(solution), result

    def search_below(self, encoded: FloatArray, sizes: FloatArray) -> Solution | None:
        """What the reading finds for rows of one reference on which it is known to be right, below given sizes; None
        where an encoded column has no feature of its own.
        """
        task, assigned = self._task, self.vertices.assigned
        assert task.reading is not None
        try:
            task.reading.encoding.own_new_columns(
                self.vertices.queries, task.reference.rows, assigned, encoded, task.encoded_references
            )
        except CannotReadError:
            return None
        parts = []
        for size in np.unique(sizes).tolist():
            rows = np.flatnonzero(sizes == size)
            limits = limits_below(self._settings.limits, size)
            parts.append((rows, self._search_rows(encoded, rows, int(assigned[0]), limits)))
        return Solution.merge(parts).with_proofs()

    def search_unscored(self, encoded: FloatArray) -> tuple[QueryProof, Solution] | None:
        """Search rows that the model has not scored yet; None where one is such that the model may refuse it."""
        try:
            proof = self.prove(encoded)
        except Exception:  # found out when the rows are scored
            return None
        return proof, self._search_all(proof)

    def check_unscored(
        self, proof: QueryProof, solution: Solution, everyone: Vertices, places: IntArray
    ) -> tuple[Solution, FloatArray, FloatArray] | None:
        """As :meth:`answer_read`, for rows that have not been scored yet: one call of the model for all rows and sets.

        These are the rows at some places among everyone's. Returns also the scores of everyone; None where something is
        out of the ordinary (other rows of the class than these, a model that fails, a reading that differs).
        """
        if self.vertices.failures or everyone.failures:
            return None
        check = self._choose_vertices(proof, solution)
        n_rows = len(everyone.queries)
        rows = np.arange(n_rows, dtype=np.int64)
        try:
            scores = everyone.apply(
                self._task.scorer.scores,
                np.concatenate([rows, places[check.rows]]),
                np.concatenate([self._sets_of_queries(rows), check.sets]),
            )
        except Exception:  # found out which rows it is when they are scored first
            return None
        if len(scores) != n_rows + len(check.rows) or not np.isfinite(scores).all():
            return None
        own, others = scores[:n_rows], scores[n_rows:]
        if not np.array_equal(np.flatnonzero(self._task.scorer.is_positive(own)), places):
            return None
        proof.compare_queries(solution, own[places])
        proof.refuse_references(self._task.wrong_references)
        result = self._judge_vertices(proof, check, others)
        if proof.doubts.rows or self.vertices.failures:
            return None
        self.strange = proof.is_strange
        self.read[:] = True
        return self._finish_solution(solution), result, own

    def answer_unread(self, rows: IntArray | None = None) -> tuple[Solution, FloatArray]:
        """Search with the model's own scores only."""
        chosen = np.arange(self._n_rows, dtype=np.int64) if rows is None else rows
        # rows that are the same are searched once
        first, twins = find_twins(self.vertices.queries.iloc[chosen], self.vertices.assigned[chosen])
        solution = self._search_blackbox(chosen[first])
        result = self._check_blackbox(chosen, first, twins, solution)
        solution = solution.take(twins)
        return (self._finish_solution(solution) if rows is None else solution), result

    def list_sets(self, known: Solution) -> Solution:
        """All sets of rows that the reading has answered."""
        reading = self._task.reading
        if reading is not None and reading.backend.lists_sets_later:
            known = self._search_all(self.prove(self._encode_rows(None)))
        rows, places = locate_sets(known, first_only=False)
        scores = self._score_sets(rows, unpack(known.masks[places], self._task.n_features))
        refused = np.unique(rows[~self.vertices.is_across(scores)])
        if refused.size:
            known, _ = self._search_again(known, refused)
        return self._finish_solution(known)

    # -- the search ----------------------------------------------------------------------------------------------------

    def _encode_rows(self, transformed: NativeTable | None) -> FloatArray:
        """The rows in encoded space; ``transformed`` is what the final estimator takes, where it is known."""
        reading = self._task.reading
        assert reading is not None
        if transformed is not None:
            return reading.backend.encode(transformed)
        return reading.encoding.encode(self.vertices.queries)

    def prove(self, encoded: FloatArray) -> QueryProof:
        """What compares reading and model on these rows.

        Raises
        ------
        CannotReadError
            When an encoded column, which varies here for the first time, depends on more than one feature.
        """
        task, vertices = self._task, self.vertices
        assert task.reading is not None
        others = task.encoded_references
        task.reading.encoding.own_new_columns(vertices.queries, task.reference.rows, vertices.assigned, encoded, others)
        strange = task.familiar.strange_features(vertices.queries, vertices.dtypes)
        n_together = self._settings.n_together
        return QueryProof(task.reading, task.scorer, vertices, encoded, others, strange, self._active, n_together)

    @cached_property
    def _active(self) -> BoolArray:
        return np.ascontiguousarray(self.vertices.differing & self._settings.allowed)

    def _search_all(self, proof: QueryProof) -> Solution:
        """Solve all rows with the reading, one reference after the other."""
        parts = []
        found = self._search_each(proof)
        if found is not None:
            return found
        for reference, some in group_by_reference(self.vertices.assigned):
            parts.append((some, self._search_rows(proof.encoded, some, reference, self._settings.limits)))
        return parts[0][1] if len(parts) == 1 else Solution.merge(parts)

    def _search_rows(self, encoded: FloatArray, rows: IntArray, reference: int, limits: Limits) -> Solution:
        """Solve some rows that are compared with one reference."""
        if self._is_positive_already(reference):
            return solve_with_empty_sets(len(rows), self._task.n_features)
        assert self._task.reading is not None
        return self._task.reading.backend.solve(self._exact_problem(encoded, rows, reference, limits))

    def _search_each(self, proof: QueryProof) -> Solution | None:
        """Solve rows that have many references at once, where the family can."""
        reading, assigned = self._task.reading, self.vertices.assigned
        if self._settings.kind != "minus" or self._credible or len(np.unique(assigned)) < 2:
            return None
        if reading is None or not isinstance(reading.backend, SolvesEach):
            return None
        rows = np.arange(self._n_rows, dtype=np.int64)
        problem = self._exact_problem(proof.encoded, rows, int(assigned[0]), self._settings.limits)
        return reading.backend.solve_each(problem, self._task.encoded_references[assigned])

    def _is_positive_already(self, reference: int) -> bool:
        """Whether "plus" needs no feature at all."""
        score = self._task.reference_scores[reference : reference + 1]
        return self._settings.kind == "plus" and bool(self._task.scorer.is_positive(score)[0])

    def _exact_problem(self, encoded: FloatArray, rows: IntArray, reference: int, limits: Limits) -> Problem:
        reading = self._task.reading
        assert reading is not None
        low, high = self._task.band
        second = None if self._credible is None else self._credible.second_sum(rows, reference)
        return replace(
            self._make_problem(rows),
            limits=limits,
            low=low,
            high=high,
            # compiled kernels take plain arrays only; a chunk is small enough to copy
            queries=np.require(encoded if len(rows) == self._n_rows else encoded[rows], requirements=["C", "W"]),
            reference=np.require(self._task.encoded_references[reference], requirements=["C", "W"]),
            column_feature=reading.encoding.column_feature,
            second=second,
            second_is_all=second is not None and (self._permitted is None or not self._permitted.rules),
        )

    def _make_problem(self, rows: IntArray) -> Problem:
        minus = self._settings.kind == "minus"
        sign = self._task.scorer.sign

        def evaluate(numbers: IntArray, sets: BoolArray) -> FloatArray:
            scores = self.vertices.scores(rows[numbers], sets)
            if self._permitted is not None or self._credible is not None:  # a vertex that does not count is not across
                scores = np.where(self._find_counted_sets(rows[numbers], sets), scores, _FAR if minus else -_FAR)
            return scores

        def accepts(numbers: IntArray, sets: BoolArray) -> BoolArray:
            return self._find_counted_sets(rows[numbers], sets)

        return Problem(
            kind=self._settings.kind,
            direction=-sign if minus else sign,
            low=0.0,
            high=0.0,
            queries=_NOTHING_ENCODED,
            reference=_NOTHING_ENCODED[0:0].ravel(),
            column_feature=np.zeros(0, dtype=np.int64),
            active=self._active if len(rows) == self._n_rows else self._active[rows],
            evaluate=evaluate,
            is_across=self.vertices.is_across,
            across_sign=-1 if minus else 1,
            limits=self._settings.limits,
            accepts=None if self._credible is None else accepts,
        )

    def _find_counted_sets(self, rows: IntArray, sets: BoolArray) -> BoolArray:
        """Which vertices count: they keep the rules and are credible."""
        counts = np.ones(len(rows), dtype=np.bool_)
        if self._permitted is not None:
            counts &= self._permitted.kept(rows, sets)
        if self._credible is not None:
            counts &= self._credible.kept(rows, sets)
        return counts

    def _search_blackbox(self, rows: IntArray) -> Solution:
        """Solve some rows with the model's own scores."""
        ready = np.array([self._is_positive_already(one) for one in self.vertices.assigned[rows]], dtype=np.bool_)
        done, left = np.flatnonzero(ready), np.flatnonzero(~ready)
        parts = [(done, solve_with_empty_sets(len(done), self._task.n_features))]
        if self._settings.limits.time_limit is None:
            parts.append((left, solve_blackbox(self._make_problem(rows[left]))))
        else:
            parts += [
                (left[[place]], solve_blackbox(self._make_problem(rows[left[[place]]]))) for place in range(len(left))
            ]
        solution = Solution.merge(parts)
        return solution if self._permitted is None else self._permitted.arrange(solution, rows)[0]

    # -- the check -----------------------------------------------------------------------------------------------------

    def _choose_vertices(self, proof: QueryProof, solution: Solution) -> _Check:
        """Sets, claims that there is none, and samples, which the model is to score."""
        rows, places = locate_sets(solution, first_only=self._settings.limits.first_only)
        if proof.doubts.rows:
            kept = ~np.isin(rows, list(proof.doubts.rows))
            rows, places = rows[kept], places[kept]
        none, changed = proof.vertices_of_unexplainable(solution)
        sampled, samples = proof.sampled_vertices()
        return _Check(
            rows=np.concatenate([rows, none, sampled]),
            sets=np.concatenate([unpack(solution.masks[places], self._task.n_features), changed, samples]),
            n_sets=len(rows),
            n_none=len(none),
            margins=None if solution.set_margins is None else solution.set_margins[places],
        )

    def _judge_vertices(self, proof: QueryProof, check: _Check, scores: FloatArray) -> FloatArray:
        """Compare the model's own scores of vertices with what was claimed; its score of each row's first set."""
        sets = slice(check.n_sets)
        claims = slice(check.n_sets, check.n_sets + check.n_none)
        samples = slice(check.n_sets + check.n_none, None)
        proof.compare_vertices(check.rows, check.sets, scores, check.n_sets, check.margins)
        proof.compare_encoding(check.rows[samples], check.sets[samples])
        across = self.vertices.is_across(scores)
        if self._credible is not None:  # that there is no credible set says nothing about others
            across[claims] &= self._find_counted_sets(check.rows[claims], check.sets[claims])
        if not across[sets].all():
            proof.refuse(np.unique(check.rows[sets][~across[sets]]), "the model did not confirm the explanation")
        if across[claims].any():
            rows = np.unique(check.rows[claims][across[claims]])
            proof.refuse(rows, "by the model's own scores there is an explanation where the exact search found none")
        return scores_of_first_sets(check.rows[sets], scores[sets], self._n_rows)

    def _sets_of_queries(self, rows: IntArray) -> BoolArray:
        """The sets whose vertices are the queries themselves."""
        sets = np.zeros((len(rows), self._task.n_features), dtype=np.bool_)
        return sets if self._settings.kind == "minus" else ~sets  # the reference with every feature of the query

    def _check_blackbox(self, rows: IntArray, first: IntArray, twins: IntArray, solution: Solution) -> FloatArray:
        """Score queries and first sets again: a model that returns other scores than before has no explanation.

        ``solution`` is that of the rows at ``first``; ``twins`` says which of them each row equals.
        """
        places, masks = locate_sets(solution, first_only=True)
        sets = unpack(solution.masks[masks], self._task.n_features)
        asked = np.concatenate([rows[first], rows[first[places]]])
        scores = self._score_sets(asked, np.concatenate([self._sets_of_queries(rows[first]), sets]))
        again, after = scores[: len(first)][twins], scores[len(first) :]
        if self._scores is not None:
            before = self._scores[rows]
            moved = np.abs(again - before) > _SAME_SCORE * np.maximum(1.0, np.abs(before))
            moved |= self._task.scorer.is_positive(again) != self._task.scorer.is_positive(before)
            for place in np.flatnonzero(moved & ~np.isnan(again)).tolist():
                self._fail_row(int(rows[place]), float(before[place]), float(again[place]))
        for place in places[~self.vertices.is_across(after)].tolist():
            self._fail_row(int(rows[first[place]]))
        for place, twin in enumerate(rows[first[twins]].tolist()):
            if twin in self.vertices.failures:
                self.vertices.failures.setdefault(int(rows[place]), self.vertices.failures[twin])
        return scores_of_first_sets(places, after, len(first))[twins]

    def _fail_row(self, row: int, *scores: float) -> None:
        shown = f": {scores[0]!r} and {scores[1]!r}" if scores else ""
        self.vertices.failures.setdefault(row, f"the model returned different scores for the same row{shown}")

    def _score_sets(self, rows: IntArray, sets: BoolArray, needed: int | None = None) -> FloatArray:
        """The model's own scores; a failure on one of the vertices after those that are needed stops no row."""
        if needed is not None and needed < len(rows):
            before = dict(self.vertices.failures)
            scores = self._score_sets(rows, sets)
            if len(before) < len(self.vertices.failures):
                self.vertices.failures = dict(before)
                others = self._score_sets(rows[needed:], sets[needed:])
                self.vertices.failures = before
                scores = np.concatenate([self._score_sets(rows[:needed], sets[:needed]), others])
            return scores
        scores = np.empty(len(rows))
        for start in range(0, len(rows), _SETS_PER_CALL):
            some = slice(start, start + _SETS_PER_CALL)
            scores[some] = self.vertices.scores(rows[some], sets[some])
        return scores

    def _search_again(self, solution: Solution, rows: IntArray) -> tuple[Solution, FloatArray]:
        """The same solution with some rows searched without the reading, and their scores after the first change."""
        again, result = self.answer_unread(rows)
        kept = np.setdiff1d(np.arange(self._n_rows), rows)
        return Solution.merge([(kept, solution.take(kept)), (rows, again)]), result

    def _finish_solution(self, solution: Solution) -> Solution:
        if self.vertices.failures:
            solution = solution.with_errors(self.vertices.failures)
        return solution.with_proofs()


def limits_below(limits: Limits, size: float) -> Limits:
    """The same limits for a search that only sets of fewer features matter to; NaN: any size."""
    if np.isnan(size):
        return limits
    most = int(size) - 1 if limits.max_size is None else min(int(size) - 1, limits.max_size)
    return replace(limits, max_size=most, first_only=True, within_size=True)
