"""Calls of the model: many vertices at a time, within the time, and with its failures kept to the rows concerned."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

import numpy as np

from sev.backends.blackbox._rows import RowSearch
from sev.core import Problem, SolutionBuilder
from sev.typing import BoolArray, FloatArray

#: Cells (vertices times features) scored in one call of the model.
_CELLS_PER_CALL = 1 << 19
_LEAST_PER_CALL = 64
#: Share of the time left that one call may take, by the speed of the calls before it.
_SHARE_OF_TIME = 0.25

Request = tuple[RowSearch, BoolArray]


class ModelCalls:
    """The model of a problem, within a time limit.

    Parameters
    ----------
    problem : Problem
        What is searched.
    builder : SolutionBuilder
        Takes the errors of rows at which the model fails.
    """

    def __init__(self, problem: Problem, builder: SolutionBuilder) -> None:
        self._problem = problem
        self._builder = builder
        self.most_per_call = max(_LEAST_PER_CALL, _CELLS_PER_CALL // max(1, problem.n_features))
        limit = problem.limits.time_limit
        self._deadline = None if limit is None else time.monotonic() + limit * problem.n_rows
        self._seconds_per_vertex: float | None = None

    @property
    def is_timed(self) -> bool:
        """Whether there is a time limit."""
        return self._deadline is not None

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    def score(self, requests: Iterable[Request]) -> Iterator[tuple[RowSearch, BoolArray, FloatArray]]:
        """Score sets of several rows, as many in one call as it takes; yields the rows' parts in order.

        Rows at which the model fails are set aside, the others go on. When the time is over, the rows whose sets are
        left are cut.
        """
        waiting: list[Request] = []
        capacity = self._next_size()
        for row, sets in requests:
            start = 0
            while start < len(sets):
                part = sets[start : start + capacity]
                waiting.append((row, part))
                start += len(part)
                capacity -= len(part)
                if not capacity:
                    yield from self._call_model(waiting)
                    waiting, capacity = [], self._next_size()
        if waiting:
            yield from self._call_model(waiting)

    def _next_size(self) -> int:
        """Vertices for the next call: one at first where the time is limited, since the model may be slow."""
        if self._deadline is None:
            return self.most_per_call
        if self._seconds_per_vertex is None:
            return 1
        seconds = max(0.0, self._deadline - time.monotonic()) * _SHARE_OF_TIME
        return int(np.clip(seconds / max(self._seconds_per_vertex, 1e-9), 1, self.most_per_call))

    def _call_model(self, batch: list[Request]) -> list[tuple[RowSearch, BoolArray, FloatArray]]:
        batch = [(row, sets) for row, sets in batch if not row.done]
        if self.is_late:
            for row, _ in batch:
                row.cut = True
            return []
        if not batch:
            return []
        numbers = np.concatenate([np.full(len(sets), row.number, dtype=np.int64) for row, sets in batch])
        together = np.concatenate([sets for _, sets in batch])
        started = time.monotonic()
        try:
            scores = self._problem.evaluate(numbers, together)
            if scores.shape != (len(together),):
                raise ValueError(f"the model returned scores of shape {scores.shape} for {len(together)} rows")
        except Exception as error:  # the model may raise anything
            if len(batch) == 1:
                self._fail_row(batch[0][0], f"{type(error).__name__}: {error}")
                return []
            return [answer for part in batch for answer in self._call_model([part])]
        self._seconds_per_vertex = (time.monotonic() - started) / len(together)
        answers = []
        ends = np.cumsum([len(sets) for _, sets in batch])
        for (row, sets), some in zip(batch, np.split(scores, ends[:-1]), strict=True):
            if np.isfinite(some).all():
                answers.append((row, sets, some))
            else:
                self._fail_row(row, f"the model's score of a changed row is {some[~np.isfinite(some)][0]}")
        return answers

    def _fail_row(self, row: RowSearch, reason: str) -> None:
        if not row.done:
            self._builder.error(row.number, reason)
            row.done = True
