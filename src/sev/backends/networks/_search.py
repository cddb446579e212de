"""Level-by-level search over the vertices of a few rows, within a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sev.backends.networks._beam import beam
from sev.backends.networks._budget import Budget
from sev.backends.networks._pool import Pool, furthest_first
from sev.backends.networks._subsets import subsets
from sev.backends.networks._vertices import Vertices
from sev.core import Problem, SolutionBuilder, pack
from sev.typing import BoolArray, FloatArray, IntArray

#: Numbers in one array of a chunk: small enough for the processor's cache, large enough for its matrix products.
CHUNK_NUMBERS = 1 << 18
SMALLEST_CHUNK = 64

#: Against the clock, sets of one and two features are tried first, for they are soon done; then beams.
_BEAM_AT = 3


class ModelRaisedError(Exception):
    """The model itself raised on some vertex; carries what it said."""


@dataclass
class Level:
    """What one level brought for one row."""

    pool: Pool
    finished: bool = True
    error: str | None = None


@dataclass
class Search:
    """Search for rows with the same number of active features.

    Parameters
    ----------
    problem : Problem
        What to solve.
    vertices : Vertices
        Of these rows, numbered 0, 1, ...
    rows : ndarray of int
        Their numbers in the problem.
    active : ndarray of int, shape (n_rows, n_active)
        Their active features, ascending.
    budget : Budget
        For each row; with several rows it must have no deadline.
    """

    problem: Problem
    vertices: Vertices
    rows: IntArray
    active: IntArray
    budget: Budget

    def __post_init__(self) -> None:
        """Turn the band of the problem the way of the vertices: more is further across."""
        low, high = self.problem.low, self.problem.high
        self._low, self._high = (low, high) if self.problem.direction > 0 else (-high, -low)
        self.chunk = min(self.vertices.batch, max(SMALLEST_CHUNK, CHUNK_NUMBERS // self.vertices.width))

    @property
    def n_active(self) -> int:
        """Features to choose from."""
        return self.active.shape[1]

    def run(self, builder: SolutionBuilder) -> None:
        """Answer all rows."""
        max_size = self.problem.limits.max_size
        deepest = self.n_active if max_size is None else min(self.n_active, max_size)
        open_rows = np.arange(len(self.rows))
        known: dict[int, BoolArray] = {}  # the smallest sets known without proof
        left = self.budget.levels
        for size in range(1, deepest + 1):
            n_sets = math.comb(self.n_active, size)
            if (size == _BEAM_AT and self.budget.deadline < math.inf) or n_sets > left:
                open_rows = self._try_greedily(builder, open_rows, deepest, known)
            still_open = []
            for block in self._split_rows(open_rows, n_sets):
                for row, level in zip(block, self._search_level(block, size, left), strict=True):
                    if not self._settle_row(builder, int(row), size, level, known.get(int(row))):
                        still_open.append(row)
            open_rows = np.array(still_open, dtype=np.int64)
            left -= n_sets
        for row in self.rows[open_rows].tolist():
            if deepest == self.n_active:
                builder.unexplainable(row, n_active=self.n_active)
            else:
                builder.undecided(row, lower_bound=deepest + 1)

    def _try_greedily(
        self, builder: SolutionBuilder, rows: IntArray, deepest: int, known: dict[int, BoolArray]
    ) -> IntArray:
        """Look for small sets before a level that may not be finished; returns the rows that are still open."""
        open_rows = []
        for row in rows[~np.isin(rows, list(known))]:
            try:
                found = beam(self, row[None], deepest)
            except ModelRaisedError as error:
                builder.error(int(self.rows[row]), str(error))
                continue
            open_rows.append(row)
            if found is not None:
                known[int(row)] = found
        return np.array([*rows[np.isin(rows, list(known))], *open_rows], dtype=np.int64)

    def _settle_row(self, builder: SolutionBuilder, row: int, size: int, level: Level, found: BoolArray | None) -> bool:
        """Record the answer of a row if this level decides it or the budget has ended."""
        number = int(self.rows[row])
        if level.error is not None:
            builder.error(number, level.error)
            return True
        if level.finished and not level.pool.total:
            return False
        max_sets = self.problem.limits.max_sets
        if level.pool.total:
            sets = self._as_bool(level.pool.candidates())
            if not level.finished and found is not None and found.sum(axis=1)[0] == size:
                sets = np.unique(np.concatenate([sets, found]), axis=0)
            complete = level.finished and level.pool.total <= max_sets
            proven = True
        elif found is not None:
            sets, complete, proven = found, False, bool(found.sum(axis=1)[0] == size)
        else:
            builder.undecided(number, lower_bound=size)
            return True
        if len(sets) > 1:
            reached, _ = self.vertices.refine(np.full(len(sets), row), sets)
            sets = furthest_first(sets, reached, max_sets)
        masks = pack(self._as_features(np.full(len(sets), row), sets))
        builder.found(number, masks, lower_bound=size, complete=complete, proven=proven)
        return True

    def _split_rows(self, rows: IntArray, n_sets: int) -> list[IntArray]:
        """Rows that fit into one chunk together."""
        together = max(1, self.chunk // n_sets)
        return [rows[begin : begin + together] for begin in range(0, len(rows), together)]

    def _search_level(self, rows: IntArray, size: int, limit: float) -> list[Level]:
        """Try all sets of one size; when the model raises, find the row on which it does."""
        try:
            return self._try_level(rows, size, limit)
        except ModelRaisedError as error:
            if len(rows) == 1:
                return [Level(Pool(0), error=str(error))]
            return [level for row in rows for level in self._search_level(row[None], size, limit)]

    def _try_level(self, rows: IntArray, size: int, limit: float) -> list[Level]:
        """Try the sets of one size, no more than ``limit`` of them for each row."""
        levels = [Level(Pool(self.problem.limits.max_sets)) for _ in rows]
        for sets, state in subsets(self.vertices, rows, self.n_active, size, max(1, self.chunk // len(rows))):
            cut = self.budget.is_over() or len(sets) > limit
            if cut:
                granted = 0 if self.budget.is_over() else int(limit)
                sets, state = sets[:granted], state[:, :granted]
            limit -= len(sets)
            across, reached, slack = self.decide(rows, sets, state)
            for level, row_across, row_reached in zip(levels, across, reached, strict=True):
                chosen = np.flatnonzero(row_across)
                if len(chosen):
                    level.pool.add(sets[chosen], row_reached[chosen], slack)
                level.finished = not cut
            if cut:
                break
        return levels

    def decide(
        self, rows: IntArray, sets: IntArray, state: np.ndarray[tuple[int, ...], np.dtype[np.floating]]
    ) -> tuple[BoolArray, FloatArray, float]:
        """Which vertices are across, how far each is, and how wrong that may be.

        Fast arithmetic settles nearly all; what is too close to the decision for it is looked at more precisely, and
        what is too close even for that is scored by the model.
        """
        if not len(sets):
            return np.zeros((len(rows), 0), dtype=np.bool_), np.zeros((len(rows), 0)), 0.0
        reached, error = self.vertices.progress(rows, state)
        across = reached > self._high + error
        near = ~(across | (reached < self._low - error))  # not a number, or infinitely uncertain: near, too
        if near.any():
            row_numbers, set_numbers = np.nonzero(near)
            near_sets = self._as_bool(sets[set_numbers])
            across[row_numbers, set_numbers] = self._look_closer(rows[row_numbers], near_sets)
        if self.problem.accepts is not None and across.any():
            row_numbers, set_numbers = np.nonzero(across)
            chosen = self._as_features(rows[row_numbers], self._as_bool(sets[set_numbers]))
            across[row_numbers, set_numbers] = self.problem.accepts(self.rows[rows[row_numbers]], chosen)
        return across, reached, float(np.max(error))

    def _look_closer(self, rows: IntArray, sets: BoolArray) -> BoolArray:
        undecided = np.ones(len(rows), dtype=np.bool_)
        across = np.zeros(len(rows), dtype=np.bool_)
        if self.vertices.refines:
            reached, error = self.vertices.refine(rows, sets)
            across = reached > self._high + error
            undecided = ~(across | (reached < self._low - error))
        if undecided.any():
            across[undecided] = self._score_sets(rows[undecided], sets[undecided])
        return across

    def _score_sets(self, rows: IntArray, sets: BoolArray) -> BoolArray:
        """The model's own word."""
        try:
            scores = self.problem.evaluate(self.rows[rows], self._as_features(rows, sets))
        except Exception as error:  # the model may raise anything
            raise ModelRaisedError(f"{type(error).__name__}: {error}") from error
        if not np.isfinite(scores).all():
            raise ModelRaisedError(f"the model's score is {scores[~np.isfinite(scores)][0]}")
        return self.problem.is_across(scores)

    def _as_bool(self, sets: IntArray) -> BoolArray:
        """Lists of active numbers as bool rows over the active features."""
        chosen = np.zeros((len(sets), self.n_active), dtype=np.bool_)
        np.put_along_axis(chosen, sets, True, axis=1)
        return chosen

    def _as_features(self, rows: IntArray, sets: BoolArray) -> BoolArray:
        """Bool rows over the active features as bool rows over all features."""
        chosen = np.zeros((len(rows), self.problem.n_features), dtype=np.bool_)
        np.put_along_axis(chosen, self.active[rows], sets, axis=1)
        return chosen
