"""Of several reference rows of each query, the one with the smallest explanation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from sev.core import Answers, Solution, Status
from sev.explainers._query_proof import Doubts
from sev.explainers._task import Outcome, Task
from sev.explainers._work import Settings
from sev.typing import BoolArray, FloatArray, IntArray

_SETTLED = (Status.NOT_TARGET.code, Status.ERROR.code)


def answer_best(task: Task, queries: pd.DataFrame, settings: Settings, *, trusted: bool = True) -> Outcome:
    """Explain rows against the best of their reference rows.

    The first reference row is searched as usual. Another can only win with a smaller set, so that it is searched below
    the size that is known, and not at all where that is 1. Of equally small explanations the first reference row's is
    kept where it is one of them, else that of the reference row with the smallest number.
    """
    first = task.answer(queries, settings, trusted=trusted)
    if not task.reference.several:
        return first
    search = _Search(task, queries, settings, first, trusted=trusted)
    for reference in search.others():
        search.try_reference(reference)
    return search.outcome()


class _Search:
    """The smallest size of each row so far, the reference row that has it, and what is proven over all."""

    def __init__(self, task: Task, queries: pd.DataFrame, settings: Settings, first: Outcome, *, trusted: bool) -> None:
        self._task, self._queries, self._settings, self._first = task, queries, settings, first
        self._trusted = trusted
        answers = first.answers
        self._rows = np.flatnonzero(~np.isin(answers.status, _SETTLED))
        self._candidates = task.reference.candidates(queries.iloc[self._rows])
        self._sizes: FloatArray = answers.sizes()
        self._winner = answers.reference - task.first_reference
        self._bounds = answers.lower_bound.copy()
        self._none = answers.status == Status.UNEXPLAINABLE.code

    def others(self) -> list[int]:
        """Reference rows that are not the first of every query."""
        return np.unique(self._candidates[:, 1:]).tolist() if len(self._rows) else []

    def try_reference(self, reference: int) -> None:
        """Search one more reference row, for the queries that it belongs to."""
        mine = self._rows[(self._candidates[:, 1:] == reference).any(axis=1) & (self._candidates[:, 0] != reference)]
        sizes = self._sizes[mine]
        for size in np.unique(sizes[sizes != 1]).tolist():  # NaN, where nothing is found yet, is last
            rows = mine[np.isnan(sizes) if np.isnan(size) else sizes == size]
            self._take(rows, reference, self._searched(rows, reference, _smaller_than(self._settings, size)), size)

    def _searched(self, rows: IntArray, reference: int, settings: Settings) -> Solution | Answers:
        queries, assigned = self._queries.iloc[rows], np.full(len(rows), reference, dtype=np.int64)
        # that nothing is found is a claim like any other: the model checks it
        if self._trusted and settings.limits.within_size and self._first.read[rows].all():
            solution = self._task.search(queries, settings, assigned)
            if solution is not None:
                return solution
        return self._task.answer(queries, settings, trusted=self._trusted, assigned=assigned).answers

    def _take(self, rows: IntArray, reference: int, found: Solution | Answers, known: float) -> None:
        sizes = np.where(found.has_set, found.sizes(), np.nan)
        failed = found.status == Status.ERROR.code  # the model raised: nothing is known about this reference row
        # nothing below the known size: from there on this reference row cannot win
        bounds = found.lower_bound if np.isnan(known) else np.minimum(found.lower_bound, int(known))
        self._bounds[rows] = np.minimum(self._bounds[rows], np.where(failed, 1, bounds))
        self._none[rows] &= found.status == Status.UNEXPLAINABLE.code
        better: BoolArray = ~np.isnan(sizes)
        self._winner[rows[better]] = reference
        self._sizes[rows[better]] = sizes[better]

    def outcome(self) -> Outcome:
        """The answers against the best reference rows, with the proof over all of them."""
        first = self._first
        answers, read, doubts = first.answers, first.read.copy(), first.doubts
        changed = np.flatnonzero(self._winner != answers.reference - self._task.first_reference)
        if changed.size:
            again = self._task.answer(
                self._queries.iloc[changed], self._settings, trusted=self._trusted, assigned=self._winner[changed]
            )
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
        return replace(first, answers=self._with_proofs(answers), read=read, doubts=doubts)

    def _with_proofs(self, answers: Answers) -> Answers:
        """The status and the bound of each answer, over all reference rows."""
        found = answers.has_set
        proven = np.where(answers.sizes() <= self._bounds, Status.OPTIMAL.code, Status.FEASIBLE.code)
        nothing = np.where(self._none, Status.UNEXPLAINABLE.code, Status.UNDECIDED.code)
        kept = np.isin(answers.status, _SETTLED)
        return replace(
            answers,
            status=np.where(kept, answers.status, np.where(found, proven, nothing)).astype(np.int8),
            lower_bound=np.where(kept | (~found & self._none), answers.lower_bound, self._bounds),
        )


def _smaller_than(settings: Settings, size: float) -> Settings:
    if np.isnan(size):
        return settings
    most = int(size) - 1 if settings.limits.max_size is None else min(int(size) - 1, settings.limits.max_size)
    return replace(settings, limits=replace(settings.limits, max_size=most, first_only=True, within_size=True))
