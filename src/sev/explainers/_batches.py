"""Many rows: in chunks that keep memory flat, over several workers, with a progress bar, and safe to interrupt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from sev.core import Answers, Status, n_words, warn_user
from sev.exceptions import FallbackWarning, InterruptedExplanation
from sev.explainers._chosen import answer_chosen
from sev.explainers._outcome import Outcome
from sev.explainers._query_proof import Doubts
from sev.explainers._task import Task
from sev.explainers._work import Settings
from sev.typing import IntArray

_CELLS_PER_CHUNK = 1 << 20
_ROWS_PER_BLACK_BOX_CHUNK = 256
_STEPS_OF_A_BAR = 50


def answer_all(
    tasks: list[Task], queries: pd.DataFrame, settings: Settings, *, n_jobs: int = 1, progress: bool = False
) -> Answers:
    """Explain all rows, in order.

    Where the reading of the model is found to differ from the model on mixed rows, no row of the kind is left to it:
    these are explained again as a black box. What is found depends on the rows of the call, not on their order or on
    how they are shared out.

    Raises
    ------
    InterruptedExplanation
        On Ctrl-C; it holds the answers of the rows that were done.
    """
    n_features = tasks[0].n_features
    if not len(queries):
        return answers_of_unseen(0, n_features)
    settings = replace(settings, n_together=len(queries))
    chunks = list(_make_chunks(len(queries), queries.shape[1], tasks, n_jobs, progress))
    done: list[Outcome] = []
    bar = progress_bar(len(queries), progress)
    try:
        for outcome in _answer_chunks(tasks, queries, settings, chunks, n_jobs):
            done.append(outcome)
            bar.update(len(outcome))
    except KeyboardInterrupt:
        n_done = sum(map(len, done))
        rest = answers_of_unseen(len(queries) - n_done, n_features)
        answers = Answers.concatenate([*(part.answers for part in done), rest])
        raise InterruptedExplanation(n_done, len(queries), answers) from None
    finally:
        bar.close()
    outcome = _join_outcomes(done)
    doubted = _doubted_rows(outcome)
    _warn_of_doubts(outcome, doubted)
    if not doubted:
        return outcome.answers
    return _answered_again(tasks, queries, settings, outcome.answers, np.array(sorted(doubted)), n_jobs)


def answer_chunk(tasks: list[Task], queries: pd.DataFrame, settings: Settings, *, trusted: bool = True) -> Outcome:
    """Explain the rows of one chunk; a pure function, so that any worker anywhere may run it."""
    if len(tasks) == 1:
        return answer_chosen(tasks[0], queries, settings, trusted=trusted)
    predicted = _find_predicted_classes(tasks, queries)
    parts, places = [], []
    for number, task in enumerate(tasks):
        rows = np.flatnonzero(predicted == number)
        if rows.size:
            parts.append(answer_chosen(task, queries.iloc[rows], settings, trusted=trusted))
            places.append(rows)
    return _join_outcomes(parts, np.concatenate(places))


def _answered_again(
    tasks: list[Task], queries: pd.DataFrame, settings: Settings, answers: Answers, rows: IntArray, n_jobs: int
) -> Answers:
    """The same answers with some rows explained as a black box."""
    n_features = tasks[0].n_features
    some = queries.iloc[rows]
    chunks = list(_cut_rows(len(rows), _ROWS_PER_BLACK_BOX_CHUNK, n_jobs))
    kept = np.setdiff1d(np.arange(len(queries)), rows)
    order = np.argsort(np.concatenate([kept, rows]), kind="stable")
    done: list[Answers] = []
    try:
        for outcome in _answer_chunks(tasks, some, settings, chunks, n_jobs, trusted=False):
            done.append(outcome.answers)
    except KeyboardInterrupt:
        rest = answers_of_unseen(len(rows) - sum(len(part) for part in done), n_features)
        merged = Answers.concatenate([answers.take(kept), *done, rest]).take(order)
        raise InterruptedExplanation(len(queries) - len(rest), len(queries), merged) from None
    return Answers.concatenate([answers.take(kept), *done]).take(order)


def _doubted_rows(outcome: Outcome) -> dict[int, str]:
    """Rows answered by a reading that turned out not to be the model for rows of their kind, and why."""
    doubts = outcome.doubts
    reasons = {False: doubts.familiar, True: doubts.familiar or doubts.strange}
    if not reasons[True]:
        return {}
    rows = np.flatnonzero(outcome.read & (outcome.strange | bool(doubts.familiar)))
    return {int(row): reasons[bool(outcome.strange[row])] for row in rows}


def _warn_of_doubts(outcome: Outcome, doubted: dict[int, str]) -> None:
    counts = Counter([*outcome.doubts.rows.values(), *doubted.values()])
    for reason, count in sorted(counts.items()):
        warn_user(
            f"{count} row{'s are' if count > 1 else ' is'} explained as a black box: sets are tried by calling "
            f"the model, and an answer is proven only where the budget of predictions was enough. Why: {reason}.",
            FallbackWarning,
        )


def _join_outcomes(parts: list[Outcome], places: IntArray | None = None) -> Outcome:
    """Outcomes of consecutive rows, or of rows at given places, as one."""
    if len(parts) == 1 and places is None:
        return parts[0]
    shifts = np.cumsum([0, *(len(part.answers) for part in parts)])
    at = np.arange(shifts[-1]) if places is None else places
    order = np.argsort(at, kind="stable")
    answers = Answers.concatenate([part.answers for part in parts])
    return Outcome(
        answers=answers if places is None else answers.take(order),
        read=np.concatenate([part.read for part in parts])[order],
        strange=np.concatenate([part.strange for part in parts])[order],
        doubts=Doubts(
            {
                int(at[shift + row]): reason
                for shift, part in zip(shifts[:-1].tolist(), parts, strict=True)
                for row, reason in part.doubts.rows.items()
            },
            max(part.doubts.familiar for part in parts),
            max(part.doubts.strange for part in parts),
        ),
    )


def _find_predicted_classes(tasks: list[Task], queries: pd.DataFrame) -> IntArray:
    """Number of each row's own predicted class: the one that is furthest above its threshold, the later one of a
    tie.
    """
    leads = np.column_stack([task.score_safely(queries)[0] - task.scorer.threshold for task in tasks])
    leads = np.nan_to_num(leads, nan=-np.inf)
    return (len(tasks) - 1 - np.argmax(leads[:, ::-1], axis=1)).astype(np.int64)


def _answer_chunks(
    tasks: list[Task],
    queries: pd.DataFrame,
    settings: Settings,
    chunks: list[slice],
    n_jobs: int,
    *,
    trusted: bool = True,
) -> Iterator[Outcome]:
    if n_jobs == 1 or len(chunks) == 1:
        for chunk in chunks:
            some = queries if chunk == slice(0, len(queries)) else queries.iloc[chunk]
            yield answer_chunk(tasks, some, settings, trusted=trusted)
        return
    workers = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    yield from workers(delayed(answer_chunk)(tasks, queries.iloc[chunk], settings, trusted=trusted) for chunk in chunks)


def _make_chunks(n_rows: int, n_columns: int, tasks: list[Task], n_jobs: int, progress: bool) -> Iterator[slice]:
    size = max(1, _CELLS_PER_CHUNK // n_columns)
    if any(task.reading is None for task in tasks):
        size = _ROWS_PER_BLACK_BOX_CHUNK
    if progress:
        size = min(size, max(1, -(-n_rows // _STEPS_OF_A_BAR)))
    return _cut_rows(n_rows, size, n_jobs)


def _cut_rows(n_rows: int, size: int, n_jobs: int) -> Iterator[slice]:
    if n_jobs != 1:
        size = min(size, -(-n_rows // (4 * max(1, abs(n_jobs)))))
    for first in range(0, n_rows, size):
        yield slice(first, min(first + size, n_rows))


def answers_of_unseen(n_rows: int, n_features: int) -> Answers:
    """Rows that nobody looked at."""
    return Answers(
        status=np.full(n_rows, Status.UNDECIDED.code, dtype=np.int8),
        lower_bound=np.zeros(n_rows, dtype=np.int64),
        score=np.full(n_rows, np.nan),
        result_score=np.full(n_rows, np.nan),
        target=np.zeros(n_rows, dtype=np.int64),
        reference=np.zeros(n_rows, dtype=np.int64),
        offsets=np.zeros(n_rows + 1, dtype=np.int64),
        masks=np.zeros((0, n_words(n_features)), dtype=np.uint64),
        complete=np.zeros(n_rows, dtype=np.bool_),
        listed=np.ones(n_rows, dtype=np.bool_),
        size_without_limit=np.full(n_rows, np.nan),
        first_of_all=np.zeros(n_rows, dtype=np.bool_),
    )


class NoBar:
    """Shows nothing."""

    def update(self, count: int) -> None:
        pass

    def close(self) -> None:
        pass


def progress_bar(n_rows: int, progress: bool) -> NoBar:
    """A bar that counts rows, or nothing."""
    if not progress:
        return NoBar()
    from tqdm.auto import tqdm

    return tqdm(total=n_rows, unit=" rows", desc="Explaining")
