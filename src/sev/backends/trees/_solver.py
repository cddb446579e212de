"""The search for all rows of a problem: kernels, the model's word where rounding cannot tell, and budgets."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sev.backends.trees import _outcomes as outcomes
from sev.backends.trees._forest import SPECIAL
from sev.backends.trees._forms import Answers, Patterns, Queries, Rules, Trees
from sev.backends.trees._pattern_tables import NO_PATTERNS, make_patterns
from sev.core import Problem, Solution, Status, n_words, unpack
from sev.kernels import load_kernels
from sev.typing import BoolArray, FloatArray, IntArray, MaskArray

#: Work that one row may take when there is no time limit: roughly a second.
DEFAULT_BUDGET = 500_000_000
#: First budget of a row with a time limit, doubled as long as there is time: roughly a millisecond.
_FIRST_BUDGET = 500_000
#: Sets of one row that the model is asked about before the search for it is given up.
_MOST_QUESTIONS = 20_000
#: Sets for which there is room in one call of a kernel.
_ROOM = 4_096
_MOST_SIZE = 1 << 40

#: Features of a row up to which a table of all sets ends its search.
MOST_DENSE = 22
#: Whether tables of terms may answer for all sets of one size, where they take less work than branch and bound.
BY_LEVEL = 1

_FOLDER = "sev.backends.trees."
#: The kernels that search for a row, one after the other.
NARROW, WIDE, DENSE = "narrow", "wide", "dense"
#: Rows of one reference after which tables for it pay.
ROWS_FOR_PATTERNS = 300
#: Splits of a tree, features, patterns of all trees, and bits of their vectors, up to which such tables are made.
MOST_SPLITS, MOST_FEATURES = 8, 64
_MOST_PATTERNS, _MOST_BITS = 600_000, 100_000_000
#: Tables to keep: for both kinds, with and without restricted features.
_MOST_TABLES = 4


@dataclass(frozen=True)
class _Known:
    """Rows seen of one reference, and the tables made for it once they pay."""

    key: object
    restricted: BoolArray  # features that differed from the reference and were not allowed
    seen: BoolArray  # features that differed in some row so far
    n_rows: int
    patterns: Patterns | None


class Solver:
    """Answers problems over one forest. Holds the nodes marked for the last reference; safe to use from threads."""

    def __init__(self, trees: Trees, base: float, noise: float, grid: float) -> None:
        self._trees = trees
        self._base = base
        self._noise = noise
        self._grid = grid  # margins closer than this count as equal in the order of sets
        self._kernels = load_kernels(_FOLDER + "_kernels")
        self._marked: tuple[bytes, Trees] | None = None
        self._known: tuple[_Known, ...] = ()

    def solve(self, problem: Problem) -> Solution:
        """Solve the problem exactly, within its limits."""
        trees = self._trees_for(problem.reference)
        rules = self._rules(problem)
        patterns = self._patterns_for(problem, rules, trees)
        return _Run(self._kernels, rules, trees, self._grid, problem, patterns).solve()

    def _patterns_for(self, problem: Problem, rules: Rules, trees: Trees) -> Patterns:
        """Tables for many rows and one reference; empty ones where they do not pay."""
        if problem.n_features > MOST_FEATURES or not self._is_small:
            return NO_PATTERNS
        differs = problem.queries != problem.reference
        parted = np.zeros(problem.n_features, dtype=np.bool_)
        parted[problem.column_feature[differs.any(axis=0)]] = True
        # Features on which query and reference agree part no split: tables fit if they treat the others alike.
        restricted = parted & ~problem.active.any(axis=0)
        key = (problem.reference.tobytes(), rules.minus, rules.sign, problem.column_feature.tobytes())
        known = self._known  # one read: another thread may put in another list at any time
        mine = next((one for one in known if one.key == key and _fits(one, restricted, parted)), None)
        if mine is None:
            mine = _Known(key, restricted, parted, 0, None)
        if mine.patterns is not None:
            return mine.patterns
        n_rows, restricted, seen = mine.n_rows + problem.n_rows, mine.restricted | restricted, mine.seen | parted
        patterns = None
        if n_rows >= ROWS_FOR_PATTERNS:
            patterns = make_patterns(trees, problem.column_feature, ~restricted, rules)
        others = tuple(one for one in known if one is not mine)
        self._known = (_Known(key, restricted, seen, n_rows, patterns), *others)[:_MOST_TABLES]
        return NO_PATTERNS if patterns is None else patterns

    @cached_property
    def _is_small(self) -> bool:
        """Whether every tree has few enough plain splits for all their patterns to be written down."""
        nodes, roots = self._trees.nodes, self._trees.roots
        if not roots.size or (nodes & SPECIAL).any():
            return False
        splits = np.add.reduceat((nodes >> 32 != 0).astype(np.int64), roots)
        room = int(splits.sum()) * roots.size
        return bool(splits.max() <= MOST_SPLITS and (1 << splits).sum() <= _MOST_PATTERNS and room <= _MOST_BITS)

    def _rules(self, problem: Problem) -> Rules:
        low, high = problem.low - self._noise, problem.high + self._noise
        down = problem.direction < 0
        sign = 1.0 if down else -1.0
        sure, limit = (low, high) if down else (-high, -low)
        limits = problem.limits
        return Rules(
            int(problem.kind == "minus"), sign, sign * self._base, sure, limit,
            _MOST_SIZE if limits.max_size is None else min(limits.max_size, _MOST_SIZE), max(1, limits.max_sets),
            BY_LEVEL,
        )  # fmt: skip

    def _trees_for(self, reference: FloatArray) -> Trees:
        key = reference.tobytes()
        marked = self._marked  # one read: another thread may put in another reference at any time
        if marked is None or marked[0] != key:
            nodes = np.empty_like(self._trees.nodes)
            row = np.ascontiguousarray(reference, dtype=np.float64)
            self._kernels.mark(self._trees, row, nodes)
            marked = (key, self._trees._replace(nodes=nodes))
            self._marked = marked
        return marked[1]


class _Run:
    """The search for the rows of one problem.

    Rows start with the narrow kernel, move to the wide one when it says so, and end with the table of all sets when
    that takes less than to go on. Sets in the band that only the model can
    tell are put to the model, for all rows at once; a row where it confirms none goes on with the next size.
    """

    def __init__(
        self,
        kernels: Any,
        rules: Rules,
        trees: Trees,
        grid: float,
        problem: Problem,
        patterns: Patterns,
    ) -> None:
        n_rows = problem.n_rows
        self.kernels = kernels
        self.rules = rules
        self.trees = trees
        self.patterns = patterns
        self.grid = grid
        self.problem = problem
        self.max_sets = rules.max_sets
        self.time_limit = problem.limits.time_limit
        self.n_words = n_words(problem.n_features)
        self.queries = Queries(
            np.ascontiguousarray(problem.queries, dtype=np.float64),
            np.ascontiguousarray(problem.active),
            np.ascontiguousarray(problem.column_feature, dtype=np.int64),
            np.arange(n_rows, dtype=np.int64),
            np.ones(n_rows, dtype=np.int64),
            np.empty(n_rows, dtype=np.int64),
        )
        self.n_active = self.queries.active.sum(axis=1)
        self.most_work = most_work(self.n_active)
        first = DEFAULT_BUDGET if self.time_limit is None else _FIRST_BUDGET
        self.queries.budget[:] = np.minimum(self.most_work, first)
        self.status = np.full(n_rows, Status.UNDECIDED.code, dtype=np.int8)
        self.lower_bound = np.ones(n_rows, dtype=np.int64)
        self.complete = np.zeros(n_rows, dtype=np.bool_)
        self.reasons: dict[int, str] = {}
        self.walk: list[IntArray] = []  # rows to walk the trees for, after all others
        self.sets: list[tuple[IntArray, MaskArray, FloatArray]] = []  # row, set, turned margin
        self.seconds = np.zeros(n_rows)
        self.asked = np.zeros(n_rows, dtype=np.int64)

    def solve(self) -> Solution:
        """Search until every row has an answer."""
        waiting: list[tuple[str, int, IntArray]] = [(NARROW, self.max_sets, self.queries.todo)]
        while waiting:
            kernel, cap, rows = waiting.pop()
            while rows.size:
                begin = time.perf_counter()
                done, answers = self._call(kernel, cap, rows)
                batch, rows = rows[:done], rows[done:]
                self.seconds[batch] += (time.perf_counter() - begin) / done
                waiting += self._settle(kernel, cap, batch, answers)
            if not waiting and self.walk:  # the tables of patterns cannot say more about these
                self.patterns = NO_PATTERNS
                waiting, self.walk = [(NARROW, self.max_sets, np.concatenate(self.walk))], []
        return self._solution()

    def _room(self, cap: int) -> Answers:
        n_rows, room = self.problem.n_rows, max(_ROOM, cap)
        outcome, proven, first, count, work = np.empty((5, n_rows), dtype=np.int64)
        return Answers(
            outcome, proven, first, count, work, np.empty((room, self.n_words), dtype=np.uint64), np.empty(room)
        )

    def _call(self, kernel: str, cap: int, rows: IntArray) -> tuple[int, Answers]:
        answers = self._room(cap)
        queries, rules = self.queries._replace(todo=rows), self.rules._replace(max_sets=cap)
        if kernel == DENSE:
            sums = np.empty(1 << int(self.n_active[rows].max()))
            dense = load_kernels(_FOLDER + "_dense")
            return dense.search_dense(self.trees, queries, rules, answers, sums), answers
        if kernel == WIDE:
            return load_kernels(_FOLDER + "_wide").search_wide(self.trees, queries, rules, answers), answers
        return self.kernels.search_narrow(self.trees, self.patterns, queries, rules, answers), answers

    def _settle(self, kernel: str, cap: int, rows: IntArray, answers: Answers) -> list[tuple[str, int, IntArray]]:
        """Write down what is certain; gives what must be searched further."""
        outcome, proven = answers.outcome[rows], answers.proven[rows]
        self.lower_bound[rows] = proven + 1
        self.queries.from_size[rows] = proven + 1
        further = []
        if (outcome == outcomes.FOUND_SETS).any():
            further += self._settle_found(kernel, cap, rows[outcome == outcomes.FOUND_SETS], answers)
        if (outcome == outcomes.FOUND_SETS).all():
            return further
        none = rows[outcome == outcomes.NONE]
        self.status[none] = Status.UNEXPLAINABLE.code
        self.lower_bound[none] = self.problem.active[none].sum(axis=1) + 1
        self.complete[none] = True
        further.append((WIDE, cap, rows[outcome == outcomes.WIDE]))
        self.walk.append(rows[outcome == outcomes.NARROW])
        for row in rows[outcome == outcomes.SPENT]:
            in_time = self.time_limit is None or self.seconds[row] < self.time_limit
            if in_time and self.n_active[row] <= MOST_DENSE and self.queries.budget[row] >= self.most_work[row]:
                further.append((DENSE, cap, np.array([row])))
            elif in_time and self.time_limit is not None:
                self.queries.budget[row] *= 2
                further.append((kernel, cap, np.array([row])))
            elif kernel == NARROW:  # the wide kernel knows how to find some set at least
                self.queries.budget[row] = 0
                further.append((WIDE, cap, np.array([row])))
            elif answers.count[row] > 0:
                self.status[row] = Status.FEASIBLE.code
                at = answers.first[row]
                self.sets.append((np.array([row]), answers.masks[at : at + 1], answers.values[at : at + 1]))
        return further

    def _settle_found(self, kernel: str, cap: int, rows: IntArray, answers: Answers) -> list[tuple[str, int, IntArray]]:
        """Keep the sets that cross, asking the model where rounding cannot tell."""
        count = answers.count[rows]
        listed = np.minimum(count, cap)
        total = int(listed.sum())
        first = int(answers.first[rows[0]])
        # Other rows may have sets between those of these rows.
        at = np.repeat(answers.first[rows] - np.cumsum(listed) + listed, listed) + np.arange(total)
        owner = np.repeat(rows, listed)
        masks, values = (
            (answers.masks[first : first + total], answers.values[first : first + total])
            if at[-1] == first + total - 1
            else (answers.masks[at], answers.values[at])
        )
        crosses = values < self.rules.sure
        if crosses.all():  # nothing to ask: as a rule
            self.status[rows] = Status.OPTIMAL.code
            self.complete[rows] = count <= min(cap, self.max_sets)
            self.sets.append((owner, masks, values))
            return []
        crosses = self._ask(owner, masks, crosses)
        owner, masks, values = owner[crosses], masks[crosses], values[crosses]
        confirmed = np.bincount(owner, minlength=self.problem.n_rows)[rows]
        cut = count > cap
        failed = np.isin(rows, list(self.reasons))
        # Where the model refused some, those beyond the cut may be among the first max_sets, or all may be listed.
        refused = confirmed < listed
        short = cut & refused & (confirmed <= self.max_sets) & (self.asked[rows] < _MOST_QUESTIONS) & ~failed
        settled = (confirmed > 0) & ~short & ~failed
        self.status[rows[settled]] = Status.OPTIMAL.code
        self.complete[rows[settled]] = (~cut & (confirmed <= self.max_sets))[settled]
        keep = np.isin(owner, rows[settled]) if not settled.all() else slice(None)
        self.sets.append((owner[keep], masks[keep], values[keep]))
        if settled.all():
            return []
        following = rows[(confirmed == 0) & ~cut & ~failed]
        self.queries.from_size[following] += 1
        self.lower_bound[following] += 1
        return [(kernel, cap, following), (kernel, cap * 8, rows[short])]

    def _ask(self, owner: IntArray, masks: MaskArray, sure: BoolArray) -> BoolArray:
        """Which sets cross, by the model's own word for those that are not sure."""
        crosses = sure.copy()
        unsure = np.flatnonzero(~sure)
        sets = unpack(masks[unsure], self.problem.n_features)
        np.add.at(self.asked, owner[unsure], 1)
        try:
            crosses[unsure] = self.problem.crosses(owner[unsure], sets)
        except Exception:  # whatever a model raises, it stops only the rows on which it raises
            for row in np.unique(owner[unsure]):
                mine = owner[unsure] == row
                try:
                    crosses[unsure[mine]] = self.problem.crosses(owner[unsure][mine], sets[mine])
                except Exception as error:
                    crosses[owner == row] = False
                    self.status[row] = Status.ERROR.code
                    self.reasons[int(row)] = f"{type(error).__name__}: {error}"
        return crosses

    def _solution(self) -> Solution:
        n_rows = self.problem.n_rows
        for row in self.reasons:
            self.lower_bound[row] = 0
        if len(self.sets) == 1:
            owner, masks, values = self.sets[0]
        else:
            owner = np.concatenate([np.zeros(0, dtype=np.int64), *(part[0] for part in self.sets)])
            masks = np.concatenate([np.zeros((0, self.n_words), np.uint64), *(part[1] for part in self.sets)])
            values = np.concatenate([np.zeros(0), *(part[2] for part in self.sets)])
        counts = np.bincount(owner, minlength=n_rows)
        if owner.size > 1:
            order = _rank(owner, masks, np.round(values / self.grid))
            owner, masks = owner[order], masks[order]
            if counts.max() > self.max_sets:
                place = np.arange(owner.size) - np.repeat(np.cumsum(counts) - counts, counts)
                masks = masks[place < self.max_sets]
                counts = np.minimum(counts, self.max_sets)
        return Solution(
            status=self.status,
            lower_bound=self.lower_bound,
            offsets=np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)]),
            masks=np.ascontiguousarray(masks),
            complete=self.complete,
            reasons=self.reasons,
        )


def most_work(n_active: IntArray) -> IntArray:
    """Work after which a row that differs in so many features is better ended by a table of all sets, if it can be."""
    small = np.minimum(n_active, MOST_DENSE)
    return np.where(n_active <= MOST_DENSE, (small << small) + 1_000_000, _MOST_SIZE)


def _fits(one: _Known, restricted: BoolArray, parted: BoolArray) -> bool:
    """Whether rows that differ from the reference in ``parted`` can be looked up in, or counted with, what is known."""
    shared = parted if one.patterns is not None else parted & one.seen
    return np.array_equal(one.restricted & shared, restricted & shared)


def _rank(owner: IntArray, masks: MaskArray, values: FloatArray) -> IntArray:
    """Order by row, then lowest value, then features as a list of numbers would sort."""
    octets = np.ascontiguousarray(masks).astype("<u8", copy=False).view(np.uint8)
    turned = np.packbits(np.unpackbits(octets, axis=1, bitorder="little"), axis=1).view(">u8")
    features = [~turned[:, word] for word in range(turned.shape[1] - 1, -1, -1)]
    return np.lexsort((*features, values, owner))
