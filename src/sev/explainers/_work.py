"""The rows of one class in one call: searched, then put through the model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sev.backends import CannotReadError
from sev.backends.blackbox import solve_blackbox
from sev.core import Limits, Problem, Solution, SolutionBuilder, Status, n_words, unpack
from sev.explainers._query_proof import Doubts, QueryProof
from sev.explainers._vertices import Vertices
from sev.typing import BoolArray, FloatArray, IntArray, Kind

if TYPE_CHECKING:
    from sev.explainers._task import Task

_NOTHING_ENCODED = np.zeros((0, 0))
_SETS_PER_CALL = 100_000
#: Two scores of one row that are further apart than this do not come from one function: rounding in batches of
#: different sizes is smaller.
_SAME_SCORE = 1e-4


@dataclass(frozen=True, kw_only=True, eq=False)
class Settings:
    """What a user asked of one call.

    With ``settled``, all sets of all rows are listed at once, which is quicker when they are all going to be read.
    """

    kind: Kind
    allowed: BoolArray
    limits: Limits
    settled: bool = False


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
    """

    def __init__(self, task: Task, vertices: Vertices, settings: Settings, scores: FloatArray | None) -> None:
        self.vertices = vertices
        self.doubts = Doubts()
        self.read = np.zeros(len(vertices.queries), dtype=np.bool_)
        self.strange = np.zeros(len(vertices.queries), dtype=np.bool_)
        self._task = task
        self._settings = settings
        self._scores = scores
        self._n_rows = len(vertices.queries)

    def answer_read(self, transformed: Any) -> tuple[Solution, FloatArray]:
        """Search with the reading where that is right, and the model's own score after the change of each first set."""
        if self._task.reading is None or not self._n_rows:
            return self.answer_unread()
        try:
            proof = self._proof(transformed)
        except CannotReadError as error:
            self.doubts = Doubts(dict.fromkeys(range(self._n_rows), str(error)), str(error), str(error))
            return self.answer_unread()
        assert self._scores is not None
        proof.compare_queries(self._scores)
        proof.compare_references(self._task.reference_scores)
        rows = np.setdiff1d(np.arange(self._n_rows), list(proof.doubts.rows))
        solution = self._search(proof, rows)
        result = self._check(proof, solution)
        for row in self.vertices.failures:  # no search finds more about them
            proof.doubts.rows.pop(row, None)
        self.doubts, self.strange = proof.doubts, proof.is_strange
        again = np.array(sorted(self.doubts.rows), dtype=np.int64)
        self.read[np.setdiff1d(np.arange(self._n_rows), again)] = True
        if again.size:
            solution, result[again] = self._replace(solution, again)
        return self._finish(solution), result

    def answer_unread(self, rows: IntArray | None = None) -> tuple[Solution, FloatArray]:
        """Search with the model's own scores only."""
        chosen = np.arange(self._n_rows, dtype=np.int64) if rows is None else rows
        # rows that are the same are searched once
        first, twins = _twins(self.vertices.queries.iloc[chosen], self.vertices.assigned[chosen])
        solution = self._search_blackbox(chosen[first])
        result = self._check_blackbox(chosen, first, twins, solution)
        solution = solution.take(twins)
        return (self._finish(solution) if rows is None else solution), result

    def list_sets(self, known: Solution) -> Solution:
        """All sets of rows that the reading has answered."""
        reading = self._task.reading
        if reading is not None and getattr(reading.backend, "lists_sets_later", False):
            known = self._search(self._proof(None), np.arange(self._n_rows, dtype=np.int64))
        rows, sets = self._all_sets(known)
        scores = self._evaluate(rows, sets)
        refused = np.unique(rows[~self.vertices.is_across(scores)])
        if refused.size:
            known, _ = self._replace(known, refused)
        return self._finish(known)

    # -- the search ----------------------------------------------------------------------------------------------------

    def _proof(self, transformed: Any) -> QueryProof:
        task, vertices = self._task, self.vertices
        assert task.reading is not None
        encoding = task.reading.encoding
        encoded = encoding.encode(vertices.queries) if transformed is None else task.reading.backend.encode(transformed)
        others = task.encoded_references
        encoding.own_new_columns(vertices.queries, task.reference.rows, vertices.assigned, encoded, others)
        strange = task.familiar.strange_features(vertices.queries)
        return QueryProof(task.reading, task.scorer, vertices, encoded, others, strange, self._active)

    @cached_property
    def _active(self) -> BoolArray:
        return np.ascontiguousarray(self.vertices.differing & self._settings.allowed)

    def _search(self, proof: QueryProof, rows: IntArray) -> Solution:
        """Solve some rows with the reading, one reference after the other; the others are left undecided."""
        assigned = self.vertices.assigned
        parts = []
        for reference in np.unique(assigned[rows]).tolist():
            some = rows[assigned[rows] == reference]
            if self._is_positive_already(reference):
                parts.append((some, _nothing_needed(len(some), len(self._task.space))))
            else:
                assert self._task.reading is not None
                parts.append((some, self._task.reading.backend.solve(self._exact_problem(proof, some, reference))))
        if len(parts) == 1 and len(rows) == self._n_rows:
            return parts[0][1]
        left = np.setdiff1d(np.arange(self._n_rows), rows)
        return Solution.merge([*parts, (left, SolutionBuilder(len(left), n_words(len(self._task.space))).build())])

    def _is_positive_already(self, reference: int) -> bool:
        """Whether "plus" needs no feature at all."""
        score = self._task.reference_scores[reference : reference + 1]
        return self._settings.kind == "plus" and bool(self._task.scorer.is_positive(score)[0])

    def _exact_problem(self, proof: QueryProof, rows: IntArray, reference: int) -> Problem:
        reading = self._task.reading
        assert reading is not None
        low, high = reading.band(self._task.scorer.threshold_of_second_class)
        return replace(
            self._problem(rows),
            low=low,
            high=high,
            # compiled kernels take plain arrays only; a chunk is small enough to copy
            queries=np.require(
                proof.encoded if len(rows) == self._n_rows else proof.encoded[rows], requirements=["C", "W"]
            ),
            reference=np.require(self._task.encoded_references[reference], requirements=["C", "W"]),
            column_feature=reading.encoding.column_feature,
        )

    def _problem(self, rows: IntArray) -> Problem:
        minus = self._settings.kind == "minus"
        sign = self._task.scorer.sign

        def evaluate(numbers: IntArray, sets: BoolArray) -> FloatArray:
            return self.vertices.scores(rows[numbers], sets)

        return Problem(
            kind=self._settings.kind,
            direction=-sign if minus else sign,
            low=0.0,
            high=0.0,
            queries=_NOTHING_ENCODED,
            reference=_NOTHING_ENCODED[0:0].ravel(),
            column_feature=np.zeros(0, dtype=np.int64),
            active=np.ascontiguousarray(self._active[rows]),
            evaluate=evaluate,
            is_across=self.vertices.is_across,
            across_sign=-1 if minus else 1,
            limits=self._settings.limits,
        )

    def _search_blackbox(self, rows: IntArray) -> Solution:
        """Solve some rows with the model's own scores."""
        ready = np.array([self._is_positive_already(one) for one in self.vertices.assigned[rows]], dtype=np.bool_)
        done, left = np.flatnonzero(ready), np.flatnonzero(~ready)
        parts = [(done, _nothing_needed(len(done), len(self._task.space)))]
        if self._settings.limits.time_limit is None:
            parts.append((left, solve_blackbox(self._problem(rows[left]))))
        else:
            parts += [(left[[place]], solve_blackbox(self._problem(rows[left[[place]]]))) for place in range(len(left))]
        return Solution.merge(parts)

    # -- the check -----------------------------------------------------------------------------------------------------

    def _check(self, proof: QueryProof, solution: Solution) -> FloatArray:
        """Put sets, claims that there is none, and samples through the model, in one call of it; the model's own score
        after the change of each row's first set.
        """
        rows, sets = self._first_sets(solution) if self._settings.limits.first_only else self._all_sets(solution)
        none, changed = proof.vertices_of_unexplainable(solution)
        sampled, samples = proof.sampled_vertices()
        claims = len(rows) + len(none)
        together, all_sets = np.concatenate([rows, none, sampled]), np.concatenate([sets, changed, samples])
        scores = self._evaluate(together, all_sets, needed=claims)
        proof.compare(rows, sets, scores[: len(rows)], share=True)
        proof.compare(together[len(rows) :], all_sets[len(rows) :], scores[len(rows) :])
        proof.compare_encoding(sampled, samples)
        across = self.vertices.is_across(scores)
        proof.refuse(np.unique(rows[~across[: len(rows)]]), "the model did not confirm the explanation")
        proof.refuse(np.unique(none[across[len(rows) : claims]]), "the model has an explanation where none was read")
        return _first_scores(rows, scores[: len(rows)], self._n_rows)

    def _check_blackbox(self, rows: IntArray, first: IntArray, twins: IntArray, solution: Solution) -> FloatArray:
        """Score queries and first sets again: a model that returns other scores than before has no explanation.

        ``solution`` is that of the rows at ``first``; ``twins`` says which of them each row equals.
        """
        places, sets = self._first_sets(solution)
        nothing = np.zeros((len(first), len(self._task.space)), dtype=np.bool_)
        if self._settings.kind == "plus":
            nothing = ~nothing  # the reference with every feature of the query
        asked = np.concatenate([rows[first], rows[first[places]]])
        scores = self._evaluate(asked, np.concatenate([nothing, sets]))
        again, after = scores[: len(first)][twins], scores[len(first) :]
        if self._scores is not None:
            before = self._scores[rows]
            moved = np.abs(again - before) > _SAME_SCORE * np.maximum(1.0, np.abs(before))
            moved |= self._task.scorer.is_positive(again) != self._task.scorer.is_positive(before)
            for place in np.flatnonzero(moved & ~np.isnan(again)).tolist():
                self._fail(int(rows[place]), float(before[place]), float(again[place]))
        for place in places[~self.vertices.is_across(after)].tolist():
            self._fail(int(rows[first[place]]))
        for place, twin in enumerate(rows[first[twins]].tolist()):
            if twin in self.vertices.failures:
                self.vertices.failures.setdefault(int(rows[place]), self.vertices.failures[twin])
        return _first_scores(places, after, len(first))[twins]

    def _fail(self, row: int, *scores: float) -> None:
        shown = f": {scores[0]!r} and {scores[1]!r}" if scores else ""
        self.vertices.failures.setdefault(row, f"the model returned different scores for the same row{shown}")

    def _evaluate(self, rows: IntArray, sets: BoolArray, needed: int | None = None) -> FloatArray:
        """The model's own scores; a failure on one of the vertices after those that are needed stops no row."""
        if needed is not None and needed < len(rows):
            before = dict(self.vertices.failures)
            scores = self._evaluate(rows, sets)
            if len(before) < len(self.vertices.failures):
                self.vertices.failures = before
                others = self._evaluate(rows[needed:], sets[needed:])
                self.vertices.failures = before
                scores = np.concatenate([self._evaluate(rows[:needed], sets[:needed]), others])
            return scores
        scores = np.empty(len(rows))
        for start in range(0, len(rows), _SETS_PER_CALL):
            some = slice(start, start + _SETS_PER_CALL)
            scores[some] = self.vertices.scores(rows[some], sets[some])
        return scores

    def _first_sets(self, solution: Solution) -> tuple[IntArray, BoolArray]:
        rows = np.flatnonzero(solution.has_set)
        return rows, unpack(solution.masks[solution.offsets[rows]], len(self._task.space))

    def _all_sets(self, solution: Solution) -> tuple[IntArray, BoolArray]:
        rows = np.repeat(np.arange(solution.n_rows, dtype=np.int64), np.diff(solution.offsets))
        return rows, unpack(solution.masks, len(self._task.space))

    def _replace(self, solution: Solution, rows: IntArray) -> tuple[Solution, FloatArray]:
        """The same solution with some rows searched without the reading, and their scores after the first change."""
        again, result = self.answer_unread(rows)
        kept = np.setdiff1d(np.arange(self._n_rows), rows)
        return Solution.merge([(kept, solution.take(kept)), (rows, again)]), result

    def _finish(self, solution: Solution) -> Solution:
        return solution.with_errors(self.vertices.failures).with_proofs()


def _first_scores(rows: IntArray, scores: FloatArray, n_rows: int) -> FloatArray:
    """Of the scores of each row's sets the first; NaN for rows without a set."""
    result = np.full(n_rows, np.nan)
    found, first = np.unique(rows, return_index=True)
    result[found] = scores[first]
    return result


def _twins(queries: pd.DataFrame, assigned: IntArray) -> tuple[IntArray, IntArray]:
    """The first of each set of rows that are the same, and for each row which of these it is."""
    codes = [assigned]
    for place in range(queries.shape[1]):
        values = queries.iloc[:, place]
        # True, 1 and 1.0, and None and NaN, are different cells where a column holds objects
        cells: Any = values
        if values.dtype == object:
            written = [value if isinstance(value, str) else repr(value) for value in values]
            cells = pd.Series([(type(value), text) for value, text in zip(values, written, strict=True)], dtype=object)
        elif values.dtype in (np.float64, np.float32):
            cells = values.to_numpy().view(f"u{values.dtype.itemsize}")  # NaN as a value and as a missing one differ
        codes.append(pd.factorize(cells, use_na_sentinel=False)[0])
    _, first, twins = np.unique(np.column_stack(codes), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place_of = np.empty_like(order)
    place_of[order] = np.arange(len(order))
    return first[order].astype(np.int64), place_of[twins.ravel()].astype(np.int64)


def _nothing_needed(n_rows: int, n_features: int) -> Solution:
    """The reference is already positive: the empty set, for every row."""
    return Solution(
        status=np.full(n_rows, Status.OPTIMAL.code, dtype=np.int8),
        lower_bound=np.zeros(n_rows, dtype=np.int64),
        offsets=np.arange(n_rows + 1, dtype=np.int64),
        masks=np.zeros((n_rows, n_words(n_features)), dtype=np.uint64),
        complete=np.ones(n_rows, dtype=np.bool_),
    )
