"""Of several reference rows of each query, the one with the smallest explanation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from sev.core import Answers, Solution, Status
from sev.explainers._outcome import Outcome
from sev.explainers._query_proof import Doubts
from sev.explainers._task import Task
from sev.explainers._work import Settings, limits_below
from sev.typing import BoolArray, FloatArray, IntArray

_SETTLED = (Status.NOT_TARGET.code, Status.ERROR.code)
#: The lower bound of a reference row against which no set crosses, however large.
_NO_SIZE = 1 << 40


def answer_best(task: Task, queries: pd.DataFrame, settings: Settings, *, trusted: bool = True) -> Outcome:
    """Explain rows against the best of their reference rows.

    The first reference row is searched as usual. Another one wins only with a smaller set: sets below the
    known size are searched, none where that is 1. Of equally small explanations the first reference row's is
    kept where it is one of them, else that of the reference row with the smallest number.
    """
    first = task.answer(queries, settings, trusted=trusted)
    if not task.reference.several:
        return first
    search = _Search(task, queries, settings, first, trusted=trusted)
    for reference in search.pairs.others():
        search.try_reference(reference)
    return search.outcome()


class Pairs:
    """The rows that are explained at all, each with the reference rows that it is compared with.

    Parameters
    ----------
    task : Task
        The class.
    queries : DataFrame
        All rows.
    answers : Answers
        Those against the first reference row of each.
    """

    def __init__(self, task: Task, queries: pd.DataFrame, answers: Answers) -> None:
        self._rows = np.flatnonzero(~np.isin(answers.status, _SETTLED))
        self._first = answers.reference[self._rows] - task.first_reference
        self._n_references = len(task.reference.rows)
        #: The reference rows of each query; None: all of them.
        self._candidates = None if task.reference.takes_all else task.reference.candidates(queries.iloc[self._rows])

    def others(self) -> list[int]:
        """Reference rows that are not the first of every query."""
        if self._candidates is None:
            return list(range(self._n_references))
        return np.unique(self._candidates[:, 1:]).tolist() if len(self._rows) else []

    def rows_of(self, reference: int) -> IntArray:
        """Rows that a reference row is compared with, but not as their first."""
        mine: BoolArray = self._first != reference
        if self._candidates is not None:
            mine &= (self._candidates[:, 1:] == reference).any(axis=1)
        return self._rows[mine]


class ProofOverAll:
    """What is proven about each row over all reference rows that were searched so far.

    Parameters
    ----------
    answers : Answers
        Those against the first reference row of each query.
    """

    def __init__(self, answers: Answers) -> None:
        self._none = answers.status == Status.UNEXPLAINABLE.code
        self._bounds: IntArray = np.where(self._none, _NO_SIZE, answers.lower_bound)
        self._all_proven = self._none | (answers.status == Status.OPTIMAL.code)

    def add(self, rows: IntArray, found: Solution | Answers, known: FloatArray) -> None:
        """Add what one more reference row proves for some rows: sets below the known sizes were searched, all where
        these are NaN.
        """
        failed = np.isin(found.status, _SETTLED)  # the model raised: nothing is known about this reference row
        none = found.status == Status.UNEXPLAINABLE.code
        # nothing below the known size: from there on this reference row cannot win
        most = np.where(np.isnan(known), _NO_SIZE, np.nan_to_num(known)).astype(np.int64)
        bounds = np.where(none, _NO_SIZE, np.where(failed, 1, np.minimum(found.lower_bound, most)))
        self._bounds[rows] = np.minimum(self._bounds[rows], bounds)
        self._none[rows] &= none
        self._all_proven[rows] &= none | (found.status == Status.OPTIMAL.code)

    def apply(self, answers: Answers, *, by_cost: bool = False) -> Answers:
        """The status and the bound of each answer, over all reference rows."""
        found, kept = answers.has_set, np.isin(answers.status, _SETTLED)
        is_proven = self._all_proven if by_cost else answers.sizes() <= self._bounds
        proven = np.where(is_proven, Status.OPTIMAL.code, Status.FEASIBLE.code)
        nothing = np.where(self._none, Status.UNEXPLAINABLE.code, Status.UNDECIDED.code)
        return replace(
            answers,
            status=np.where(kept, answers.status, np.where(found, proven, nothing)).astype(np.int8),
            lower_bound=np.where(kept | (~found & self._none), answers.lower_bound, self._bounds),
        )


class _Search:
    """The smallest size of each row so far, the reference row that has it, and what is proven over all."""

    def __init__(self, task: Task, queries: pd.DataFrame, settings: Settings, first: Outcome, *, trusted: bool) -> None:
        self._task, self._queries, self._settings, self._first = task, queries, settings, first
        self._trusted = trusted
        self.pairs = Pairs(task, queries, first.answers)
        self._proof = ProofOverAll(first.answers)
        self._sizes: FloatArray = first.answers.sizes()
        self._winner = first.answers.reference - task.first_reference
        self._encoded = _Encoded(task, queries, settings, np.flatnonzero((self._sizes > 1) & first.read & trusted))

    def try_reference(self, reference: int) -> None:
        """Search one more reference row, for the queries that it belongs to."""
        mine = self.pairs.rows_of(reference)
        mine = mine[~(self._sizes[mine] <= 1)]
        # that nothing is found is a claim like any other: the model checks it
        quick = mine[self._encoded.has(mine)]
        solution = (
            self._task.search_below(
                self._queries.iloc[quick], self._settings, reference, self._encoded.take(quick), self._sizes[quick]
            )
            if quick.size
            else None
        )
        if solution is not None:
            self._take_better(quick, reference, solution)
            mine = np.setdiff1d(mine, quick)
        known = self._sizes[mine]
        for size in np.unique(known).tolist():  # NaN, where nothing is found yet, is last
            rows = mine[np.isnan(known) if np.isnan(size) else known == size]
            limits = limits_below(self._settings.limits, size)
            assigned = np.full(len(rows), reference, dtype=np.int64)
            self._take_better(
                rows, reference, self._answer_rows(rows, assigned, replace(self._settings, limits=limits)).answers
            )

    def _answer_rows(self, rows: IntArray, assigned: IntArray, settings: Settings) -> Outcome:
        """Rows that were scored already, explained against other reference rows."""
        scores = self._first.answers.score[rows]
        queries = self._queries.iloc[rows]
        return self._task.answer(queries, settings, trusted=self._trusted, assigned=assigned, scores=scores)

    def _take_better(self, rows: IntArray, reference: int, found: Solution | Answers) -> None:
        known = self._sizes[rows]
        self._proof.add(rows, found, known)
        sizes = np.where(found.has_set, found.sizes(), np.nan)
        better: BoolArray = (sizes < known) | (np.isnan(known) & ~np.isnan(sizes))
        self._winner[rows[better]] = reference
        self._sizes[rows[better]] = sizes[better]

    def outcome(self) -> Outcome:
        """The answers against the best reference rows, with the proof over all of them."""
        first = self._first
        answers, read, doubts = first.answers, first.read.copy(), first.doubts
        changed = np.flatnonzero(self._winner != answers.reference - self._task.first_reference)
        if changed.size:
            again = self._answer_rows(changed, self._winner[changed], self._settings)
            place = np.arange(len(answers))
            place[changed] = len(answers) + np.arange(len(changed))
            answers = Answers.concatenate([answers, again.answers]).take(place)
            read[changed] = again.read
            moved = {int(changed[row]): reason for row, reason in again.doubts.rows.items()}
            doubts = Doubts(
                {**doubts.rows, **moved},
                max(doubts.familiar, again.doubts.familiar),
                max(doubts.strange, again.doubts.strange),
            )
        return replace(first, answers=self._proof.apply(answers), read=read, doubts=doubts)


class _Encoded:
    """Rows in encoded space, encoded once for all reference rows: those that the reading is known to be right about."""

    def __init__(self, task: Task, queries: pd.DataFrame, settings: Settings, rows: IntArray) -> None:
        encoded = task.encode_queries(queries.iloc[rows], settings) if rows.size else None
        self._lines = np.zeros((0, 0)) if encoded is None else encoded
        self._place = np.full(len(queries), -1, dtype=np.int64)
        if encoded is not None:
            self._place[rows] = np.arange(len(rows))

    def has(self, rows: IntArray) -> BoolArray:
        """Which rows are encoded."""
        return np.asarray(self._place[rows] >= 0)

    def take(self, rows: IntArray) -> FloatArray:
        """Some of the encoded rows."""
        return self._lines[self._place[rows]]
