"""Exact search with nothing but the model's own scores.

All rows of a problem go through the levels together, so that one call of the model scores vertices of many rows.
Levels one and two are tried for everyone; then a greedy descent gives each row left an upper bound; then the levels
go on until something crosses, which is the proof that nothing smaller does, or until a limit ends the search.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sev.backends.blackbox._levels import subsets
from sev.core import Problem, Solution, SolutionBuilder, n_words, pack
from sev.typing import BoolArray, FloatArray, IntArray

#: Cells (vertices times features) put to the model in one call.
_CELLS_PER_CALL = 1 << 19
_GREEDY_AFTER = 2


@dataclass
class _Row:
    """Where the search for one row stands."""

    number: int
    features: IntArray
    asked: int = 0
    best: tuple[int, ...] | None = None  # smallest set found by the greedy descent
    sets: list[BoolArray] = field(default_factory=list)
    scores: list[FloatArray] = field(default_factory=list)
    done: bool = False
    cut: bool = False  # a limit ended the level in its middle


def solve_blackbox(problem: Problem) -> Solution:
    """Find all minimum sets of every row, asking only :meth:`Problem.evaluate`."""
    return _Search(problem).run()


class _Search:
    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._builder = SolutionBuilder(problem.n_rows, n_words(problem.n_features))
        limits = problem.limits
        self._max_size = problem.n_features if limits.max_size is None else limits.max_size
        self._most_rows = limits.max_predictions
        self._deadline = None if limits.time_limit is None else time.monotonic() + limits.time_limit * problem.n_rows
        self._per_call = max(64, _CELLS_PER_CALL // max(1, problem.n_features))

    def run(self) -> Solution:
        rows = [_Row(number, np.flatnonzero(active)) for number, active in enumerate(self._problem.active)]
        size = 0
        while rows:
            size += 1
            if size > _GREEDY_AFTER:
                self._descend([row for row in rows if row.best is None])
            rows = [row for row in rows if not row.done and self._may_try(row, size)]
            for batch in self._batches(rows, size):
                self._ask(batch)
            for row in rows:
                self._close_level(row, size)
            rows = [row for row in rows if not row.done]
        return self._builder.build()

    # -- one level -----------------------------------------------------------------------------------------------------

    def _may_try(self, row: _Row, size: int) -> bool:
        """Whether a row's next level is within all limits; if not, its answer is recorded."""
        n_active = len(row.features)
        if size > n_active:
            self._builder.unexplainable(row.number, n_active=n_active)
            row.done = True
        elif size > self._max_size or self._out_of_budget(row):
            self._stop(row, size)
        return not row.done

    def _batches(self, rows: list[_Row], size: int) -> Iterator[list[tuple[_Row, BoolArray]]]:
        """Vertices of one level over all rows, as many as one call of the model takes."""
        batch: list[tuple[_Row, BoolArray]] = []
        room = self._per_call
        for row in rows:
            for places in subsets(len(row.features), size, self._per_call):
                if row.done or row.cut:
                    break
                if self._out_of_budget(row):
                    row.cut = True
                    break
                if batch and len(places) > room:
                    yield batch
                    batch, room = [], self._per_call
                sets = np.zeros((len(places), self._problem.n_features), dtype=np.bool_)
                np.put_along_axis(sets, row.features[places], True, axis=1)
                row.asked += len(sets)
                batch.append((row, sets))
                room -= len(sets)
        if batch:
            yield batch

    def _ask(self, batch: list[tuple[_Row, BoolArray]]) -> None:
        for row, sets, scores in self._evaluate(batch):
            crosses = self._problem.is_across(scores)
            if crosses.any():
                row.sets.append(sets[crosses])
                row.scores.append(scores[crosses])

    def _close_level(self, row: _Row, size: int) -> None:
        if row.done:
            return
        if row.sets:
            sets, scores = np.concatenate(row.sets), np.concatenate(row.scores)
            order = np.argsort(-self._problem.across_sign * scores, kind="stable")
            most = self._problem.limits.max_sets
            self._builder.found(
                row.number,
                pack(sets[order[:most]]),
                lower_bound=size,
                complete=not row.cut and len(sets) <= most,
            )
            row.done = True
        elif row.cut:
            self._stop(row, size)

    # -- limits --------------------------------------------------------------------------------------------------------

    def _out_of_budget(self, row: _Row) -> bool:
        if self._most_rows is not None and row.asked >= self._most_rows:
            return True
        return self._deadline is not None and time.monotonic() > self._deadline

    def _stop(self, row: _Row, size: int) -> None:
        """End a row's search: sets smaller than ``size`` are proven not to cross."""
        if row.best is None and not row.done:
            self._descend([row])
        if row.done:
            return
        if row.best is not None and len(row.best) <= self._max_size:
            sets = np.zeros((1, self._problem.n_features), dtype=np.bool_)
            sets[0, list(row.best)] = True
            proven = len(row.best) == size
            self._builder.found(row.number, pack(sets), lower_bound=size, complete=False, proven=proven)
        else:
            self._builder.undecided(row.number, lower_bound=size)
        row.done = True

    # -- greedy descent ------------------------------------------------------------------------------------------------

    def _descend(self, rows: list[_Row]) -> None:
        """Change the feature that moves the score most, again and again, until the row crosses."""
        chosen: dict[int, list[int]] = {row.number: [] for row in rows}
        going = [row for row in rows if len(row.features)]
        while going:
            steps = [(row, self._one_more(row, chosen[row.number])) for row in going if not row.done]
            going = []
            for row, sets, scores in self._evaluate(steps):
                row.asked += len(sets)
                best = int(np.argmax(self._problem.across_sign * scores))
                chosen[row.number] = np.flatnonzero(sets[best]).tolist()
                if self._problem.is_across(scores[best : best + 1])[0]:
                    row.best = tuple(chosen[row.number])
                elif len(chosen[row.number]) < len(row.features):
                    going.append(row)

    def _one_more(self, row: _Row, chosen: list[int]) -> BoolArray:
        free = np.setdiff1d(row.features, chosen)
        sets = np.zeros((len(free), self._problem.n_features), dtype=np.bool_)
        sets[:, chosen] = True
        sets[np.arange(len(free)), free] = True
        return sets

    # -- the model -----------------------------------------------------------------------------------------------------

    def _evaluate(self, batch: list[tuple[_Row, BoolArray]]) -> list[tuple[_Row, BoolArray, FloatArray]]:
        """Scores of all vertices in one call; rows on which the model fails are set aside, the others go on."""
        batch = [(row, sets) for row, sets in batch if not row.done]
        if not batch:
            return []
        numbers = np.concatenate([np.full(len(sets), row.number, dtype=np.int64) for row, sets in batch])
        together = np.concatenate([sets for _, sets in batch])
        try:
            scores = self._problem.evaluate(numbers, together)
        except Exception as error:  # the model may raise anything
            if len(batch) == 1:
                self._fail(batch[0][0], f"{type(error).__name__}: {error}")
                return []
            return [answer for part in batch for answer in self._evaluate([part])]
        answers = []
        for (row, sets), some in zip(batch, _split(scores, batch), strict=True):
            if np.isfinite(some).all():
                answers.append((row, sets, some))
            else:
                self._fail(row, f"the model's score is {some[~np.isfinite(some)][0]}")
        return answers

    def _fail(self, row: _Row, reason: str) -> None:
        if not row.done:
            self._builder.error(row.number, reason)
            row.done = True


def _split(scores: FloatArray, batch: list[tuple[_Row, BoolArray]]) -> list[FloatArray]:
    ends = np.cumsum([len(sets) for _, sets in batch])
    return np.split(scores, ends[:-1])
