"""Values that a search chooses, against the best of several reference rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from sev.explainers._best import Pairs, ProofOverAll
from sev.explainers._free import FreeWork
from sev.explainers._free_answers import NO_FEATURES, FreeAnswers, RowFeatures
from sev.explainers._task import Task
from sev.explainers._work import Settings, limits_below
from sev.typing import BoolArray, FloatArray, IntArray


def answer_free_chunk(
    tasks: list[Task],
    queries: pd.DataFrame,
    settings: Settings,
    *,
    features: RowFeatures = NO_FEATURES,
    first_only: bool = False,
) -> FreeAnswers:
    """Explain the rows of one chunk; with ``first_only``, sets after the first may be left out for now."""
    if len(tasks) == 1:
        return _answer_rows(tasks[0], queries, settings, features, first_only)
    leads = np.column_stack([task.score_safely(queries)[0] - task.scorer.threshold for task in tasks])
    predicted = len(tasks) - 1 - np.argmax(np.nan_to_num(leads, nan=-np.inf)[:, ::-1], axis=1)
    parts, places = [], []
    for number, task in enumerate(tasks):
        rows = np.flatnonzero(predicted == number)
        if rows.size:
            parts.append(_answer_rows(task, queries.iloc[rows], settings, features.take(rows), first_only))
            places.append(rows)
    return (
        FreeAnswers.concatenate(parts).take(np.argsort(np.concatenate(places), kind="stable"))
        if parts
        else _answer_rows(tasks[0], queries, settings, features, first_only)
    )


def can_list_later(tasks: list[Task], settings: Settings) -> bool:
    """Whether the first set of each row is the same when the others are listed later.

    It is not where these decide which set comes first, or are what is left when some break a rule, and where a search
    ends by the clock.
    """
    return (
        not settings.settled
        and settings.minimise == "features"
        and settings.values != "reference"
        and settings.limits.time_limit is None
        and all(task.bound is not None and not task.bound.rules for task in tasks)
        and (settings.values == "any" or not any(task.reference.several for task in tasks))
    )


def _answer_rows(
    task: Task, queries: pd.DataFrame, settings: Settings, features: RowFeatures, first_only: bool
) -> FreeAnswers:
    """Explain rows; where results must be credible, with the sizes of the smallest sets whether they are or not."""
    found = _answer_best(task, queries, settings, features, first_only)
    if not settings.min_credibility > 0:
        return found
    without = _answer_best(task, queries, replace(settings, min_credibility=0.0), features, False).answers.sizes()
    return replace(found, answers=replace(found.answers, size_without_limit=without))


def _answer_best(
    task: Task, queries: pd.DataFrame, settings: Settings, features: RowFeatures, first_only: bool
) -> FreeAnswers:
    """Explain rows against the best of their reference rows.

    As with reference values, another reference row than the first can only win with fewer features, or at less cost
    where that is wanted; of equals the first is kept. Where any value is permitted, reference rows do not matter.
    """
    first = FreeWork(task, settings, first_only=first_only).answer(queries, features=features)
    if not task.reference.several or settings.values == "any":
        return first
    pairs = Pairs(task, queries, first.answers)
    search = _Search(first, settings)
    for reference in pairs.others():
        for rows, some in search.to_try(pairs.rows_of(reference)):
            assigned = np.full(len(rows), reference, dtype=np.int64)
            search.take(rows, FreeWork(task, some).answer(queries.iloc[rows], assigned, features.take(rows)))
    return search.answers()


class _Search:
    """The best answer of each row so far, and what is proven over all reference rows."""

    def __init__(self, first: FreeAnswers, settings: Settings) -> None:
        self._settings = settings
        self._by_cost = settings.minimise == "cost"
        self._proof = ProofOverAll(first.answers)
        self._parts = [first]
        self._place = np.arange(len(first.answers), dtype=np.int64)
        self._sizes: FloatArray = first.answers.sizes()
        self._costs = first.costs.copy()
        self._searched = first.searched.copy()

    def to_try(self, rows: IntArray) -> Iterator[tuple[IntArray, Settings]]:
        """Which of some rows another reference row may still win, and what to search for."""
        if self._by_cost:
            if rows.size:
                yield rows, self._settings
            return
        sizes = self._sizes[rows]
        for size in np.unique(sizes[~(sizes <= 1)]).tolist():  # NaN, where nothing is found yet, is last
            some = rows[np.isnan(sizes) if np.isnan(size) else sizes == size]
            yield some, replace(self._settings, limits=limits_below(self._settings.limits, size))

    def take(self, rows: IntArray, found: FreeAnswers) -> None:
        """One more reference row for some rows."""
        known = np.full(len(rows), np.nan) if self._by_cost else self._sizes[rows]
        self._proof.add(rows, found.answers, known)
        before, after = (self._costs[rows], found.costs) if self._by_cost else (known, found.answers.sizes())
        better: BoolArray = found.answers.has_set & ((after < before) | np.isnan(before))
        self._place[rows[better]] = sum(len(part.answers) for part in self._parts) + np.flatnonzero(better)
        self._sizes[rows[better]] = found.answers.sizes()[better]
        self._costs[rows[better]] = found.costs[better]
        self._searched[rows[found.searched == "candidates"]] = "candidates"
        self._parts.append(found)

    def answers(self) -> FreeAnswers:
        """The best answers, with the proof over all reference rows."""
        found = FreeAnswers.concatenate(self._parts).take(self._place)
        answers = self._proof.apply(found.answers, by_cost=self._by_cost)
        return replace(found, answers=answers, searched=self._searched)
