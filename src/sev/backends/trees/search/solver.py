"""What is kept between problems over one forest: the nodes marked for the last reference, and tables of patterns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sev import _native
from sev.backends.trees._forest import SPECIAL, Forest
from sev.backends.trees.search import plan
from sev.backends.trees.search.joint import solve_joint_trees
from sev.backends.trees.search.run import Run
from sev.core import Problem, Solution
from sev.typing import BoolArray, FloatArray, IntArray

_MOST_SIZE = 1 << 40


@dataclass(frozen=True)
class _Known:
    """Rows seen of one reference, and the tables made for it once they pay."""

    key: object
    restricted: BoolArray  # features that differed from the reference and were not allowed
    seen: BoolArray  # features that differed in some row so far
    n_rows: int
    patterns: _native.Patterns | None


@dataclass(frozen=True)
class _Marked:
    """The forest with the directions of one reference, and rows seen of it."""

    key: bytes
    n_rows: int
    forest: _native.MarkedForest
    has_partings: bool


class Solver:
    """Answers problems over one forest; safe to use from threads."""

    def __init__(self, forest: Forest, noise: float, grid: float) -> None:
        self._forest = forest
        self._noise = noise
        self._grid = grid  # margins closer than this count as equal in the order of sets
        self._marked: _Marked | None = None
        self._known: tuple[_Known, ...] = ()

    def solve(self, problem: Problem) -> Solution:
        """Solve the problem exactly, within its limits."""
        if problem.accepts is not None:
            return solve_joint_trees(problem, self._forest, self._noise, self._grid)
        down = problem.direction < 0
        sign = 1.0 if down else -1.0
        low, high = problem.low - self._noise, problem.high + self._noise
        sure, limit = (low, high) if down else (-high, -low)
        max_size = problem.limits.max_size
        rules = _native.Rules(
            minus=problem.kind == "minus", sign=sign, sure=sure, limit=limit,
            max_size=_MOST_SIZE if max_size is None else min(max_size, _MOST_SIZE),
        )  # fmt: skip
        marked = self._forest_for(problem.reference, len(problem.queries))
        patterns = self._patterns_for(problem, sign, marked)
        session = _native.Session(
            marked, patterns,
            np.ascontiguousarray(problem.queries, dtype=np.float64),
            np.ascontiguousarray(problem.active),
            np.ascontiguousarray(problem.column_feature, dtype=np.int64),
            rules, self._grid,
        )  # fmt: skip
        looked_up = patterns is not None and plan.looks_up_triples(self._forest.depth)
        return Run(session, problem, sure, looks_up_triples=looked_up).solve()

    def _forest_for(self, reference: FloatArray, n_rows: int) -> _native.MarkedForest:
        key = reference.tobytes()
        marked = self._marked  # one read: another thread may put in another reference at any time
        known = marked if marked is not None and marked.key == key else None
        if known is not None and known.has_partings:
            return known.forest
        n_rows += known.n_rows if known is not None else 0
        parts = n_rows >= plan.ROWS_FOR_PARTINGS and self._most_splits <= plan.PARTING_SPLITS
        if known is None or parts:
            row = np.ascontiguousarray(reference, dtype=np.float64)
            forest = self._forest.native.mark(row, partings=parts)
        else:
            forest = known.forest
        self._marked = _Marked(key, n_rows, forest, parts)
        return forest

    def _patterns_for(self, problem: Problem, sign: float, marked: _native.MarkedForest) -> _native.Patterns | None:
        """Tables for many rows and one reference; None where they do not pay."""
        n_features = problem.active.shape[1]
        if n_features > plan.PATTERN_FEATURES or not self._is_small:
            return None
        # A feature that is active in some row counts as one that differs, which it does in the raw rows at least.
        in_use = np.asarray(problem.active.any(axis=0))
        parted = in_use.copy()
        rest = np.flatnonzero(~parted[problem.column_feature])
        if rest.size:
            differs = problem.queries[:, rest] != problem.reference[rest]
            parted[problem.column_feature[rest[differs.any(axis=0)]]] = True
        # Features on which query and reference agree part no split: tables fit if they treat the others alike.
        restricted = parted & ~in_use
        key = (problem.reference.tobytes(), problem.kind, sign, problem.column_feature.tobytes())
        known = self._known  # one read: another thread may put in another list at any time
        mine = next((one for one in known if one.key == key and _can_reuse(one, restricted, parted)), None)
        if mine is None:
            mine = _Known(key, restricted, parted, 0, None)
        if mine.patterns is not None:
            return mine.patterns
        n_rows, restricted, seen = mine.n_rows + problem.n_rows, mine.restricted | restricted, mine.seen | parted
        patterns = None
        if n_rows >= plan.ROWS_FOR_PATTERNS:
            column_feature = np.ascontiguousarray(problem.column_feature, dtype=np.int64)
            patterns = _native.Patterns(marked, column_feature, ~restricted, problem.kind == "minus", sign)
        others = tuple(one for one in known if one is not mine)
        self._known = (_Known(key, restricted, seen, n_rows, patterns), *others)[: plan.MOST_PATTERN_TABLES]
        return patterns

    @cached_property
    def _splits(self) -> IntArray:
        """Splits of each tree."""
        nodes, roots = self._forest.nodes, self._forest.roots
        is_split = (nodes >> 32 != 0).astype(np.int64)
        return np.add.reduceat(is_split, roots) if roots.size else np.zeros(0, dtype=np.int64)

    @cached_property
    def _most_splits(self) -> int:
        return int(self._splits.max(initial=0))

    @cached_property
    def _is_small(self) -> bool:
        """Whether every tree has few enough plain splits for all their patterns to be written down."""
        splits = self._splits
        if not splits.size or (self._forest.nodes & SPECIAL).any():
            return False
        return bool(
            self._most_splits <= plan.PATTERN_SPLITS
            and (1 << splits).sum() <= plan.MOST_PATTERNS
            and int(splits.sum()) * splits.size <= plan.MOST_PATTERN_BITS
        )


def _can_reuse(one: _Known, restricted: BoolArray, parted: BoolArray) -> bool:
    """Whether rows that differ from the reference in ``parted`` can be looked up in, or counted with, what is known."""
    shared = parted if one.patterns is not None else parted & one.seen
    return np.array_equal(one.restricted & shared, restricted & shared)
