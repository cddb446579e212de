"""Many rows: in chunks that keep memory flat, over several workers, with a progress bar, and safe to interrupt."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from sev.core import Answers, Status, n_words
from sev.exceptions import InterruptedExplanation
from sev.explainers._task import Settings, Task
from sev.typing import IntArray

_CELLS_PER_CHUNK = 1 << 20
_ROWS_PER_BLACK_BOX_CHUNK = 256
_STEPS_OF_A_BAR = 50


def answer_all(
    tasks: list[Task], queries: pd.DataFrame, settings: Settings, *, n_jobs: int = 1, progress: bool = False
) -> Answers:
    """Explain all rows, in order.

    Raises
    ------
    InterruptedExplanation
        On Ctrl-C; it holds the answers of the rows that were done.
    """
    n_features = len(tasks[0].space)
    if not len(queries):
        return _unasked(0, n_features)
    chunks = list(_chunks(len(queries), queries.shape[1], tasks, n_jobs, progress))
    done: list[Answers] = []
    bar = _bar(len(queries), progress)
    try:
        for answers in _answers(tasks, queries, settings, chunks, n_jobs):
            done.append(answers)
            bar.update(len(answers))
    except KeyboardInterrupt:
        n_done = sum(len(part) for part in done)
        rest = _unasked(len(queries) - n_done, n_features)
        raise InterruptedExplanation(n_done, len(queries), Answers.concatenate([*done, rest])) from None
    finally:
        bar.close()
    return Answers.concatenate(done)


def answer_chunk(tasks: list[Task], queries: pd.DataFrame, settings: Settings) -> Answers:
    """Explain the rows of one chunk; a pure function, so that any worker anywhere may run it."""
    if len(tasks) == 1:
        return tasks[0].answer(queries, settings)
    predicted = _predicted(tasks, queries)
    parts, places = [], []
    for number, task in enumerate(tasks):
        rows = np.flatnonzero(predicted == number)
        if rows.size:
            parts.append(task.answer(queries.iloc[rows], settings))
            places.append(rows)
    return Answers.concatenate(parts).take(np.argsort(np.concatenate(places), kind="stable"))


def _predicted(tasks: list[Task], queries: pd.DataFrame) -> IntArray:
    """Number of each row's own predicted class: the one that is furthest above its threshold, the later one of a
    tie.
    """
    leads = np.column_stack([task.score_safely(queries)[0] - task.scorer.threshold for task in tasks])
    leads = np.nan_to_num(leads, nan=-np.inf)
    return (len(tasks) - 1 - np.argmax(leads[:, ::-1], axis=1)).astype(np.int64)


def _answers(
    tasks: list[Task], queries: pd.DataFrame, settings: Settings, chunks: list[slice], n_jobs: int
) -> Iterator[Answers]:
    if n_jobs == 1 or len(chunks) == 1:
        for chunk in chunks:
            yield answer_chunk(tasks, queries.iloc[chunk], settings)
        return
    workers = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    yield from workers(delayed(answer_chunk)(tasks, queries.iloc[chunk], settings) for chunk in chunks)


def _chunks(n_rows: int, n_columns: int, tasks: list[Task], n_jobs: int, progress: bool) -> Iterator[slice]:
    size = max(1, _CELLS_PER_CHUNK // n_columns)
    if any(task.reading is None for task in tasks):
        size = _ROWS_PER_BLACK_BOX_CHUNK
    if n_jobs != 1:
        size = min(size, -(-n_rows // (4 * max(1, abs(n_jobs)))))
    if progress:
        size = min(size, max(1, -(-n_rows // _STEPS_OF_A_BAR)))
    for first in range(0, n_rows, size):
        yield slice(first, min(first + size, n_rows))


def _unasked(n_rows: int, n_features: int) -> Answers:
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
    )


class _NoBar:
    def update(self, count: int) -> None:
        pass

    def close(self) -> None:
        pass


def _bar(n_rows: int, progress: bool) -> _NoBar:
    if not progress:
        return _NoBar()
    from tqdm.auto import tqdm

    return tqdm(total=n_rows, unit=" rows", desc="Explaining")
