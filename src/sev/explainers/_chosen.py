"""Which of a row's sets count, and which of them comes first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from sev.core import Answers, Status, unpack
from sev.explainers._best import answer_best
from sev.explainers._credible import CredibleVertices
from sev.explainers._distances import MOST_ORDERED, distances_of_sets, feature_distances
from sev.explainers._outcome import Outcome
from sev.explainers._query_proof import Doubts
from sev.explainers._same_rows import find_twins
from sev.explainers._task import Task
from sev.explainers._work import Settings
from sev.typing import FloatArray, IntArray


def answer_chosen(task: Task, queries: pd.DataFrame, settings: Settings, *, trusted: bool = True) -> Outcome:
    """Explain rows, with the sets that count in the order that was asked for."""
    if settings.order == "margin":
        return _answer_credible(task, queries, settings, trusted=trusted)
    limits = settings.limits
    wide = replace(settings, limits=replace(limits, max_sets=max(limits.max_sets, MOST_ORDERED)))
    outcome = _answer_credible(task, queries, wide, trusted=trusted)
    return replace(outcome, answers=_arrange_sets(task, queries, outcome.answers, settings))


def _answer_credible(task: Task, queries: pd.DataFrame, settings: Settings, *, trusted: bool) -> Outcome:
    """Explain rows with credible results only, where these are wanted.

    Rows are explained without the limit first, which is the price of it. Where a minimum set is credible, it is a
    minimum set with the limit, too; only the other rows are searched again.
    """
    if not settings.min_credibility > 0:
        return answer_best(task, queries, settings, trusted=trusted)
    plain = answer_best(task, queries, replace(settings, min_credibility=0.0), trusted=trusted)
    sizes = plain.answers.sizes()
    answers, rest = _keep_credible(task, queries, plain.answers, settings)
    outcome = replace(plain, answers=answers)
    if rest.size:
        # rows that are the same are searched once
        first, twins = find_twins(queries.iloc[rest], answers.reference[rest])
        again = answer_best(task, queries.iloc[rest[first]], settings, trusted=trusted)
        outcome = _put_in(outcome, _take_outcome(again, twins), rest)
    known = ~np.isin(outcome.answers.status, (Status.NOT_TARGET.code, Status.ERROR.code))
    return replace(outcome, answers=replace(outcome.answers, size_without_limit=np.where(known, sizes, np.nan)))


def _keep_credible(task: Task, queries: pd.DataFrame, answers: Answers, settings: Settings) -> tuple[Answers, IntArray]:
    """The same answers without sets that are not credible, and the rows that must be searched again."""
    rows = np.flatnonzero(answers.has_set)
    vertices, references = task.vertices_of(queries.iloc[rows], settings, answers.reference[rows])
    credible = CredibleVertices(task.fitted_credibility, vertices, references, settings.min_credibility)
    owner = np.repeat(np.arange(len(rows), dtype=np.int64), np.diff(answers.offsets)[rows])
    kept = credible.kept(owner, unpack(answers.masks, len(task.space)))
    left = np.bincount(owner[kept], minlength=len(rows))
    # a set that is not proven to be a smallest one may have smaller ones that are not credible beside it
    again = rows[(left == 0) | (answers.status[rows] != Status.OPTIMAL.code)]
    counts = np.diff(answers.offsets)
    firsts = answers.offsets[:-1][rows]
    moved = rows[(left > 0) & ~kept[firsts]]
    counts[rows] = left
    kept_answers = replace(
        answers,
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        masks=answers.masks[kept],
        set_margins=None,
    )
    failures = {int(rows[row]): reason for row, reason in vertices.failures.items()}
    scored = _score_first(task, queries, kept_answers, np.setdiff1d(moved, again), settings)
    return scored.with_errors(failures), np.setdiff1d(again, sorted(failures)).astype(np.int64)


def _take_outcome(outcome: Outcome, rows: IntArray) -> Outcome:
    """The same for some rows, which may repeat."""
    doubts = outcome.doubts
    reasons = {place: doubts.rows[row] for place, row in enumerate(rows.tolist()) if row in doubts.rows}
    return Outcome(
        answers=outcome.answers.take(rows),
        read=outcome.read[rows],
        strange=outcome.strange[rows],
        doubts=replace(doubts, rows=reasons),
    )


def _put_in(outcome: Outcome, again: Outcome, rows: IntArray) -> Outcome:
    """The same outcome with some rows answered anew."""
    place = np.arange(len(outcome.answers))
    place[rows] = len(outcome.answers) + np.arange(len(rows))
    read, strange = outcome.read.copy(), outcome.strange.copy()
    read[rows], strange[rows] = again.read, again.strange
    doubts = outcome.doubts
    return replace(
        outcome,
        answers=Answers.concatenate([outcome.answers, again.answers]).take(place),
        read=read,
        strange=strange,
        doubts=Doubts(
            {**doubts.rows, **{int(rows[row]): reason for row, reason in again.doubts.rows.items()}},
            max(doubts.familiar, again.doubts.familiar),
            max(doubts.strange, again.doubts.strange),
        ),
    )


# -- the order ---------------------------------------------------------------------------------------------------------


def _arrange_sets(task: Task, queries: pd.DataFrame, answers: Answers, settings: Settings) -> Answers:
    """The same answers with the sets of each row in another order, and no more of them than are wanted."""
    rows = np.flatnonzero(answers.has_set)
    if not rows.size:
        return answers
    vertices, references = task.vertices_of(queries.iloc[rows], settings, answers.reference[rows])
    counts = np.diff(answers.offsets)
    owner = np.repeat(np.arange(len(rows), dtype=np.int64), counts[rows])
    sets = unpack(answers.masks, len(task.space))
    if settings.order == "closest":
        moves = feature_distances(task, queries.iloc[rows], references.iloc[vertices.assigned])
        keys: tuple[FloatArray | IntArray, ...] = distances_of_sets(moves, owner, sets)
    else:
        credible = CredibleVertices(task.fitted_credibility, vertices, references, 0.0)
        keys = (-credible.shares(owner, sets),)
    order = np.lexsort((np.arange(len(owner)), *reversed(keys), owner))
    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts[rows]) - counts[rows], counts[rows])
    wanted = order[place < settings.limits.max_sets]
    first = order[place == 0]
    moved = rows[first != np.cumsum(counts[rows]) - counts[rows]]
    left = np.minimum(counts, settings.limits.max_sets)
    arranged = replace(
        answers,
        offsets=np.concatenate([[0], np.cumsum(left)]).astype(np.int64),
        masks=answers.masks[wanted],
        complete=answers.complete & (left == counts),
        first_of_all=answers.complete,
        set_margins=None,
    )
    failures = {int(rows[row]): reason for row, reason in vertices.failures.items()}
    return _score_first(task, queries, arranged, moved, settings).with_errors(failures)


def _score_first(task: Task, queries: pd.DataFrame, answers: Answers, rows: IntArray, settings: Settings) -> Answers:
    """The same answers with the model's own score after the change of the first set of some rows."""
    if not rows.size:
        return answers
    vertices, _ = task.vertices_of(queries.iloc[rows], settings, answers.reference[rows])
    first = answers.offsets[:-1][rows]
    scores = answers.result_score.copy()
    scores[rows] = vertices.scores(np.arange(len(rows)), unpack(answers.masks[first], len(task.space)))
    failures = {int(rows[row]): reason for row, reason in vertices.failures.items()}
    return replace(answers, result_score=scores).with_errors(failures)
