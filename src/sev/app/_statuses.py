"""Score, status and size of every row of the table, worked out while nobody waits."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sev.app._table import Table
from sev.backends import SearchStopped, stopping_when
from sev.core import Status, n_words, pack, unpack
from sev.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

    from sev.explainers import Explainer

#: Rows of one step; it adapts to how long steps take.
_MOST_AT_ONCE = 256
#: Seconds of one step that are aimed at, so that a person's request never waits long.
_STEP = 0.1
#: Seconds for one row.
_ROW_SECONDS = 1.0
_UNKNOWN = -1


class Statuses:
    """What is known of each row of a table for one model.

    Parameters
    ----------
    table : Table
        The rows.
    explainer : Explainer
        Explains them with its own settings.
    is_busy : callable
        Whether a person waits for an answer: the next step then comes a little later.
    """

    def __init__(self, table: Table, explainer: Explainer, is_busy: Callable[[], bool]) -> None:
        self._table, self._explainer, self._is_busy = table, explainer, is_busy
        n_rows, words = table.n_rows, n_words(len(explainer.feature_names))
        self.status: NDArray[np.int8] = np.full(n_rows, _UNKNOWN, dtype=np.int8)
        self.size: NDArray[np.int16] = np.full(n_rows, -1, dtype=np.int16)
        self.lower_bound: NDArray[np.int16] = np.zeros(n_rows, dtype=np.int16)
        self.score: FloatArray = np.full(n_rows, np.nan)
        self._first = np.zeros((n_rows, words), dtype=np.uint64)
        self._any = np.zeros((n_rows, words), dtype=np.uint64)
        self._wanted: deque[int] = deque(maxlen=2000)
        self._wake, self._stop = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._next, self._n_known = 0, 0

    # -- what is known -------------------------------------------------------------------------------------------------

    @property
    def n_known(self) -> int:
        """Rows that are known."""
        return self._n_known

    @property
    def is_complete(self) -> bool:
        """Whether all rows are known."""
        return self._n_known == self._table.n_rows

    @property
    def known(self) -> BoolArray:
        """Which rows are known."""
        return self.status != _UNKNOWN

    def with_status(self, names: Iterable[str]) -> BoolArray:
        """Rows that have one of some statuses."""
        return np.isin(self.status, [Status(name).code for name in names])

    def first_set(self, row: int) -> list[str]:
        """The features of the first smallest set."""
        marks = unpack(self._first[row : row + 1], len(self._explainer.feature_names))[0]
        return [name for name, mark in zip(self._explainer.feature_names, marks, strict=True) if mark]

    def first_sets(self, rows: IntArray) -> BoolArray:
        """The first smallest sets of some rows, of shape (n_rows, n_features)."""
        return unpack(self._first[rows], len(self._explainer.feature_names))

    def uses(self, feature: str) -> BoolArray:
        """Rows one of whose smallest sets has a feature."""
        number = self._explainer.feature_names.index(feature)
        bit = np.uint64(1) << np.uint64(number % 64)
        return (self._any[:, number // 64] & bit) != 0

    # -- the work ------------------------------------------------------------------------------------------------------

    def want(self, rows: Iterable[int]) -> int:
        """Put rows before all others; returns how many of them are not known yet."""
        missing = [row for row in rows if self.status[row] == _UNKNOWN]
        self._wanted.extend(missing)
        if missing:
            self._wake.set()
        return len(missing)

    def start(self) -> None:
        """Begin in a thread of its own, or go on after it was stopped."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._compute_until_stopped, name="sev-statuses", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it after the current step."""
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _compute_until_stopped(self) -> None:
        with suppress(SearchStopped), stopping_when(self._stop.is_set):
            self._compute_all()

    def _compute_all(self) -> None:
        at_once = 16
        while not self._stop.is_set():
            rows = self._next_rows(at_once)
            if not rows.size:
                if self.is_complete:
                    return
                continue
            self._give_way()
            start = time.perf_counter()
            self.compute(rows)
            seconds = time.perf_counter() - start
            at_once = max(1, min(_MOST_AT_ONCE, at_once * 2 if seconds < _STEP else at_once // 2 + 1))

    def _give_way(self) -> None:
        """Wait while people wait, but not for ever."""
        for _ in range(20):
            if not self._is_busy() or self._stop.wait(0.01):
                return

    def _next_rows(self, at_once: int) -> IntArray:
        self._wake.clear()
        wanted: list[int] = []
        while self._wanted and len(wanted) < at_once:
            row = self._wanted.popleft()
            if self.status[row] == _UNKNOWN and row not in wanted:
                wanted.append(row)
        if wanted:
            return np.array(sorted(wanted), dtype=np.int64)
        while self._next < self._table.n_rows:
            last = min(self._next + at_once, self._table.n_rows)
            rows = self._next + np.flatnonzero(self.status[self._next : last] == _UNKNOWN)
            self._next = last
            if rows.size:
                return rows
        return np.zeros(0, dtype=np.int64)

    def compute(self, rows: IntArray) -> None:
        """Explain some rows and keep what came out; a row that does not fit, or on which the model fails, is an error.

        Parameters
        ----------
        rows : ndarray of int
            Numbers of rows.
        """
        status = np.full(len(rows), Status.ERROR.code, dtype=np.int8)
        try:
            frame, _ = self._table.frame(rows, self._explainer.form)
            if len(frame):
                self._explain_frame(rows, frame, status)
        except Exception:  # a model may raise anything; the list shows an error, and one row asked for tells why
            status[:] = Status.ERROR.code
        self.status[rows] = status  # last: readers on other threads look at it first
        self._n_known += len(rows)

    def _explain_frame(self, rows: IntArray, frame: pd.DataFrame, status: NDArray[np.int8]) -> None:
        many = self._explainer.explain(frame, time_limit=_ROW_SECONDS)
        places = frame.index.to_numpy()
        answers = many.answers
        status[places] = answers.status
        mine = rows[places]
        self.score[mine] = answers.score
        self.size[mine] = np.nan_to_num(many.sizes, nan=-1).astype(np.int16)
        self.lower_bound[mine] = answers.lower_bound
        names = {name: number for number, name in enumerate(many.feature_names)}
        first = np.zeros((len(mine), len(names)), dtype=np.bool_)
        every = np.zeros_like(first)
        found = np.flatnonzero(answers.has_set)
        sets = unpack(answers.masks, len(names))
        first[found] = sets[answers.offsets[found]]
        every[found] = np.logical_or.reduceat(sets, answers.offsets[found], axis=0) if found.size else False
        self._first[mine], self._any[mine] = pack(first), pack(every)
