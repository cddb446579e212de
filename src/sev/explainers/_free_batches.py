"""Many rows with ``values="typical"`` or "any": in chunks, over several workers, with a bar, and safe to interrupt."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from sev.core import LazyList, unpack
from sev.exceptions import InterruptedExplanation
from sev.explainers._batches import answers_of_unseen, progress_bar
from sev.explainers._free_answers import FreeAnswers, RowFeatures
from sev.explainers._free_best import answer_free_chunk, can_list_later
from sev.explainers._task import Task
from sev.explainers._work import Settings
from sev.typing import BoolArray

#: Rows of the first chunk, and the most of any: as many as took about so many seconds before.
_FIRST_ROWS, _MOST_ROWS, _SECONDS = 64, 4096, 0.5
#: Rows of a chunk at least, also on a busy machine: smaller ones spend their time on what every chunk costs.
_LEAST_ROWS = 16
#: Rows that one of several workers takes at once.
_ROWS_OF_WORKER = 1024
#: Of more rows only the first sets are found at once, where that is possible; the others when somebody reads them.
_ROWS_LISTED_AT_ONCE = 1


def answer_free(
    tasks: list[Task],
    queries: pd.DataFrame,
    settings: Settings,
    *,
    usable: BoolArray | None = None,
    firsts: BoolArray | None = None,
    n_jobs: int = 1,
    progress: bool = False,
) -> FreeAnswers:
    """Explain all rows, in order; ``usable`` and ``firsts`` are those of :class:`RowFeatures`.

    Raises
    ------
    InterruptedExplanation
        On Ctrl-C; it holds the :class:`FreeAnswers` of the chunks that were done.
    """
    done: list[FreeAnswers] = []
    bar = progress_bar(len(queries), progress)
    try:
        for part in _answer_parts(tasks, queries, settings, RowFeatures(usable, firsts), n_jobs):
            done.append(part)
            bar.update(len(part.answers))
    except KeyboardInterrupt:
        n_done = sum(len(part.answers) for part in done)
        rest = _make_unseen(len(queries) - n_done, queries, len(tasks[0].space))
        raise InterruptedExplanation(n_done, len(queries), FreeAnswers.concatenate([*done, rest])) from None
    finally:
        bar.close()
    return FreeAnswers.concatenate(done)


def _answer_parts(
    tasks: list[Task], queries: pd.DataFrame, settings: Settings, features: RowFeatures, n_jobs: int
) -> Iterator[FreeAnswers]:
    """Answers of one chunk after the other."""

    def answer(rows: slice) -> FreeAnswers:
        return answer_free_chunk(tasks, queries.iloc[rows], settings, features=features.take(rows), first_only=later)

    later = len(queries) > _ROWS_LISTED_AT_ONCE and can_list_later(tasks, settings)
    if n_jobs != 1 and len(queries) > _ROWS_OF_WORKER:
        starts = range(0, len(queries), _ROWS_OF_WORKER)
        yield from Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
            delayed(answer)(slice(start, start + _ROWS_OF_WORKER)) for start in starts
        )
        return
    first, n_rows = 0, _MOST_ROWS if _are_quick(tasks, settings) else _FIRST_ROWS
    while first < max(len(queries), 1):
        start = time.perf_counter()
        yield answer(slice(first, first + n_rows))
        seconds = time.perf_counter() - start
        first += n_rows
        n_rows = int(np.clip(n_rows * _SECONDS / max(seconds, 1e-9), _LEAST_ROWS, min(16 * n_rows, _MOST_ROWS)))


def _are_quick(tasks: list[Task], settings: Settings) -> bool:
    """Whether no row takes long: the sets of a sum are found at once, where every answer counts."""
    return (
        settings.minimise == "features"
        and not settings.min_credibility > 0
        and all(task.reading is not None and task.reading.backend.family in ("linear", "additive") for task in tasks)
        and all(task.bound is not None and not task.bound.rules for task in tasks)
    )


def list_free(tasks: list[Task], queries: pd.DataFrame, known: FreeAnswers, settings: Settings) -> FreeAnswers:
    """The same answers with all minimum sets of each row.

    Parameters
    ----------
    tasks : list of Task
        The classes.
    queries : DataFrame
        The rows.
    known : FreeAnswers
        What was found for them, of some rows only the first set.
    settings : Settings
        As they were then.
    """
    waits = ~known.answers.listed
    rows, others = np.flatnonzero(waits), np.flatnonzero(~waits)
    answers = known.answers.take(rows)
    firsts = unpack(answers.masks[answers.offsets[:-1]], len(tasks[0].space))
    found = answer_free(tasks, queries.iloc[rows], replace(settings, settled=True), firsts=firsts)
    together = FreeAnswers.concatenate([known.take(others), known.take(rows).with_others(found)])
    return together.take(np.argsort(np.concatenate([others, rows]), kind="stable"))


def _make_unseen(n_rows: int, queries: pd.DataFrame, n_features: int) -> FreeAnswers:
    """Rows that nobody looked at."""
    return FreeAnswers(
        answers=answers_of_unseen(n_rows, n_features),
        results=queries.iloc[:0].reset_index(drop=True),
        searched=np.full(n_rows, "all", dtype="<U10"),
        enough=LazyList.of(()),
        costs=np.full(n_rows, np.nan),
    )
