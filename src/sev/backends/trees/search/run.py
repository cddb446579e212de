"""Carries the plan out: rows, work limits, seconds, and ties that the model itself settles."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sev import _native
from sev.backends.trees.search import plan
from sev.backends.trees.search.plan import Facts, Outcome, Strategy
from sev.core import Problem, Solution, Status, n_words, ragged_take, unpack
from sev.typing import BoolArray, FloatArray, IntArray, MaskArray

_CUBIC_PROOF = _native.ProofEffort(plan.PROOF_SIZE, plan.CUBIC_PROOF_WORK, plan.CUBIC_PROOF_SHARE)


class Answers(NamedTuple):
    """How a kernel ended for some rows, with the sets of all of them one after the other, best first."""

    rows: IntArray
    outcome: np.ndarray[tuple[int], np.dtype[np.int8]]
    proven: IntArray  # the largest size of which it is known that no set crosses
    work: IntArray
    n_seen: IntArray
    n_kept: IntArray  # of those seen, the best
    sets: MaskArray
    values: FloatArray  # margins, sign-flipped where a set crosses by going up

    @staticmethod
    def join(parts: list[Answers]) -> Answers:
        """Answers of different rows as one."""
        return parts[0] if len(parts) == 1 else Answers(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def take(self, chosen: BoolArray) -> Answers:
        """The answers of some of the rows."""
        if chosen.all():
            return self
        places = np.flatnonzero(chosen)
        offsets = np.concatenate([[0], np.cumsum(self.n_kept)])
        _, items = ragged_take(offsets, places)
        return Answers(
            self.rows[places], self.outcome[places], self.proven[places], self.work[places],
            self.n_seen[places], self.n_kept[places], self.sets[items], self.values[items],
        )  # fmt: skip


class Run:
    """The search for the rows of one problem.

    Parameters
    ----------
    session : sev._native.Session
        The rows, ready to be searched.
    problem : Problem
        Limits, and the model's own decisions.
    sure : float
        Margins below it surely cross.
    looks_up_triples : bool
        Whether the tables of triples come from tables of patterns.
    """

    def __init__(self, session: _native.Session, problem: Problem, sure: float, *, looks_up_triples: bool) -> None:
        n_rows, self._n_features = problem.active.shape
        self._n_rows = n_rows
        self._session = session
        self._problem = problem
        self._sure = sure
        self._looks_up_triples = looks_up_triples
        self._max_sets = max(1, problem.limits.max_sets)
        self._max_size = plan.UNLIMITED if problem.limits.max_size is None else problem.limits.max_size
        self._time_limit = problem.limits.time_limit
        self._seconds = np.zeros(n_rows if self._time_limit is not None else 0)
        self._from_size = np.ones(n_rows, dtype=np.int64)
        self._status = np.full(n_rows, Status.UNDECIDED.code, dtype=np.int8)
        self._lower_bound = np.ones(n_rows, dtype=np.int64)
        self._complete = np.zeros(n_rows, dtype=np.bool_)
        self._reasons: dict[int, str] = {}
        self._sets: list[tuple[IntArray, MaskArray, FloatArray]] = []
        self._n_ties = np.zeros(n_rows, dtype=np.int64)

    def solve(self) -> Solution:
        """Search until every row has an answer."""
        # one more than is wanted: whether that one crosses tells whether the list is complete
        waiting = [(self._max_sets + 1, np.arange(self._n_rows, dtype=np.int64))]
        while waiting:
            cap, rows = waiting.pop()
            if rows.size:  # all at once, so that the model scores the ties of all rows in one call
                waiting += self._settle_rows(Answers.join(list(self._search_rows(rows, cap))), cap)
        return self._make_solution()

    # -- the plan, row by row ------------------------------------------------------------------------------------------

    def _search_rows(self, rows: IntArray, cap: int) -> Iterator[Answers]:
        """The answers of some rows, as they come."""
        if self._looks_up_triples:
            answers = self._call_cubic(rows, cap, last=plan.UNLIMITED, looks_up=True)
            # A list that was cut by its work limit is made again from the walked trees, as it is without patterns.
            is_open = (answers.outcome == Outcome.OPEN) | (answers.outcome == Outcome.SPENT)
        else:
            answers = self._call_kernel("pairs", rows, cap, widest=plan.PAIRS_FEATURES)
            is_open = answers.outcome == Outcome.OPEN
        if not is_open.all():
            yield answers.take(~is_open)
        rows = self._go_on(answers, is_open)
        if rows.size:
            yield from self._search_walked(rows, cap)

    def _search_walked(self, rows: IntArray, cap: int) -> Iterator[Answers]:
        if self._problem.limits.within_size:
            large = self._from_size[rows] > self._max_size
            if large.any():
                yield self._end_rows(rows[large], Outcome.TOO_LARGE, np.full(int(large.sum()), self._max_size))
            rows = rows[~large]
            if not rows.size:
                return
        known = self._session.facts(rows)
        sizes, n_features = self._from_size[rows], np.ascontiguousarray(known[:, 0])
        none = sizes > n_features
        large = ~none & (sizes > self._max_size)
        for ended, outcome, proven in (
            (none, Outcome.NONE, n_features),
            (large, Outcome.TOO_LARGE, np.full(rows.size, self._max_size)),
        ):
            if ended.any():
                yield self._end_rows(rows[ended], outcome, proven[ended])
        left = ~none & ~large
        facts = {row: Facts(*some) for row, some in zip(rows[left].tolist(), known[left].tolist(), strict=True)}
        chosen: dict[Strategy | None, list[int]] = {plan.CUBIC: [], plan.TRIPLES: [], None: []}
        for row, some in facts.items():
            chosen[plan.first_strategy(some, int(self._from_size[row]))].append(row)
        for strategy, last in ((plan.CUBIC, plan.UNLIMITED), (plan.TRIPLES, 3)):
            if chosen[strategy]:
                some_rows = np.array(chosen[strategy], dtype=np.int64)
                answers = self._call_cubic(some_rows, cap, last=last, looks_up=False)
                is_done = answers.outcome != Outcome.OPEN
                yield from self._end_spent(answers.take(is_done))
                chosen[None] += self._go_on(answers, ~is_done).tolist()
        for row in chosen[None]:
            yield from self._end_spent(self._search_sizes(row, facts[row], cap))

    def _search_sizes(self, row: int, facts: Facts, cap: int) -> Answers:
        """One size after the other, as the plan says for each."""
        limit = left = plan.row_work(timed=self._is_timed)
        size = max(int(self._from_size[row]), self._session.least_size(row))
        feasible = False
        while size <= facts.n_features:
            self._from_size[row] = size
            if size > self._max_size:
                return self._end_rows(np.array([row]), Outcome.TOO_LARGE, np.array([self._max_size]))
            if size >= plan.PROOF_SIZE and not feasible:
                answers = self._prove_row(row, min(left, limit - left + plan.BRANCH_PROOF_WORK))
                if answers.outcome[0] == Outcome.NONE:
                    return answers
                left -= int(answers.work[0])
                feasible = True
            n_terms = self._session.count_terms(row, size)
            for step in plan.steps_for_size(facts, size, n_terms, left):
                answers = self._call_step(step.strategy, row, cap, step.work)
                left -= int(answers.work[0])
                if answers.outcome[0] != Outcome.SPENT:
                    break
            if answers.outcome[0] != Outcome.OPEN:
                return answers
            size += 1
        return self._end_rows(np.array([row]), Outcome.NONE, np.array([facts.n_features]))

    def _prove_row(self, row: int, work: int) -> Answers:
        """Whether any set crosses at all: greed may find one, else branch and bound may show that there is none."""
        greedy = self._call_kernel("greedy", np.array([row]), 1)
        if greedy.n_kept[0]:
            return greedy
        return self._call_kernel("exists", np.array([row]), 1, work=np.array([work]))

    def _end_spent(self, answers: Answers) -> Iterator[Answers]:
        """Answers; where a search was given up without a set, some set at least, if greed finds one."""
        nothing = (answers.outcome == Outcome.SPENT) & (answers.n_seen == 0)
        if not nothing.all():
            yield answers.take(~nothing)
        if nothing.any():
            greedy = self._call_kernel("greedy", self._go_on(answers, nothing), 1)
            yield greedy._replace(outcome=np.full(greedy.rows.size, Outcome.SPENT, dtype=np.int8))

    # -- kernels -------------------------------------------------------------------------------------------------------

    def _call_kernel(
        self,
        kernel: str,
        rows: IntArray,
        cap: int,
        *,
        work: IntArray | None = None,
        **options: int | _native.ProofEffort,
    ) -> Answers:
        if work is None:
            work = np.full(rows.size, plan.UNLIMITED, dtype=np.int64)
        seconds = np.inf
        if self._time_limit is not None:
            seconds = max(0.0, self._time_limit - float(self._seconds[rows].min()))
        begin = time.perf_counter()
        found = getattr(self._session, kernel)(
            rows, self._from_size[rows], work, seconds, cap, plan.LISTING_WORK, **options
        )
        if self._time_limit is not None:
            self._seconds[rows] += (time.perf_counter() - begin) / rows.size
        return Answers(rows, *found)

    def _call_cubic(self, rows: IntArray, cap: int, *, last: int, looks_up: bool) -> Answers:
        work = np.full(rows.size, plan.row_work(timed=self._is_timed), dtype=np.int64)
        return self._call_kernel("cubic", rows, cap, work=work, last=last, looks_up=looks_up, proof=_CUBIC_PROOF)

    def _call_step(self, strategy: Strategy, row: int, cap: int, work: int) -> Answers:
        options = {"widest_pairs": plan.PAIRS_FEATURES} if strategy is plan.BRANCH else {}
        return self._call_kernel(strategy.name, np.array([row]), cap, work=np.array([work]), **options)

    @property
    def _is_timed(self) -> bool:
        return self._time_limit is not None

    def _go_on(self, answers: Answers, is_open: BoolArray) -> IntArray:
        """Note what was proven about open rows; returns them."""
        rows = answers.rows[is_open]
        self._from_size[rows] = answers.proven[is_open] + 1
        return rows

    def _end_rows(self, rows: IntArray, outcome: Outcome, proven: IntArray) -> Answers:
        none = np.zeros(rows.size, dtype=np.int64)
        words = n_words(self._n_features)
        return Answers(
            rows, np.full(rows.size, outcome, dtype=np.int8), proven, none, none, none,
            np.zeros((0, words), dtype=np.uint64), np.zeros(0),
        )  # fmt: skip

    # -- answers -------------------------------------------------------------------------------------------------------

    def _settle_rows(self, answers: Answers, cap: int) -> list[tuple[int, IntArray]]:
        """Write down what is certain; returns what must be searched further, and how many sets to list then."""
        self._lower_bound[answers.rows] = answers.proven + 1
        found = (answers.outcome == Outcome.FOUND) | ((answers.outcome == Outcome.SPENT) & (answers.n_seen > 0))
        if not found.all():
            self._settle_others(answers.take(~found))
        return self._settle_found(answers.take(found), cap) if found.any() else []

    def _settle_others(self, answers: Answers) -> None:
        none = answers.rows[answers.outcome == Outcome.NONE]
        self._status[none] = Status.UNEXPLAINABLE.code
        self._lower_bound[none] = self._problem.active[none].sum(axis=1) + 1
        self._complete[none] = True

    def _settle_found(self, answers: Answers, cap: int) -> list[tuple[int, IntArray]]:
        """Keep the sets that cross; the model decides where rounding cannot tell."""
        rows, count, kept = answers.rows, answers.n_seen, answers.n_kept
        all_seen = (answers.outcome == Outcome.FOUND) & (count <= cap)
        sure = answers.values < self._sure
        self._status[rows] = Status.OPTIMAL.code
        first = answers.sets[np.cumsum(kept) - kept]
        larger = np.bitwise_count(first).sum(axis=1) > answers.proven + 1
        self._status[rows[larger]] = Status.FEASIBLE.code
        if sure.all() and self._problem.accepts is None:  # nothing to ask: as a rule
            self._complete[rows] = all_seen & (count <= self._max_sets)
            self._sets.append((np.repeat(rows, kept), answers.sets, answers.values))
            return []
        owner = np.repeat(rows, kept)
        crosses = self._decide_crossing(owner, answers.sets, sure)
        self._drop_refused(owner, answers.sets, crosses)
        confirmed = np.bincount(owner[crosses], minlength=self._n_rows)[rows]
        failed = np.isin(rows, list(self._reasons))
        # Where the model refused some, those beyond the cut may be among the first max_sets, or all may be listed.
        short = ~all_seen & (confirmed < kept) & (confirmed <= self._max_sets) & ~failed & ~larger
        short &= (self._n_ties[rows] < plan.MOST_TIES) & (count > cap)
        settled = (confirmed > 0) & ~short & ~failed
        self._status[rows[~settled & ~failed]] = Status.UNDECIDED.code
        self._complete[rows[settled]] = (all_seen & (confirmed <= self._max_sets))[settled]
        crosses &= np.isin(owner, rows[settled])
        self._sets.append((owner[crosses], answers.sets[crosses], answers.values[crosses]))
        following = rows[(confirmed == 0) & all_seen & ~failed]
        self._from_size[following] = answers.proven[(confirmed == 0) & all_seen & ~failed] + 2
        self._lower_bound[following] = self._from_size[following]
        self._from_size[rows[short]] = answers.proven[short] + 1
        return [(cap, following), (cap * 8, rows[short])]

    def _decide_crossing(self, owner: IntArray, masks: MaskArray, sure: BoolArray) -> BoolArray:
        """Which sets cross; the model scores those that are not sure."""
        crosses = sure.copy()
        unsure = np.flatnonzero(~sure)
        sets = unpack(masks[unsure], self._n_features)
        np.add.at(self._n_ties, owner[unsure], 1)
        try:
            crosses[unsure] = self._problem.crosses(owner[unsure], sets)
        except Exception:  # whatever a model raises, it stops only the rows on which it raises
            for row in np.unique(owner[unsure]):
                mine = owner[unsure] == row
                try:
                    crosses[unsure[mine]] = self._problem.crosses(owner[unsure][mine], sets[mine])
                except Exception as error:
                    crosses[owner == row] = False
                    self._status[row] = Status.ERROR.code
                    self._reasons[int(row)] = f"{type(error).__name__}: {error}"
        return crosses

    def _no_sets(self) -> tuple[IntArray, MaskArray, FloatArray]:
        masks = np.zeros((0, n_words(self._n_features)), dtype=np.uint64)
        return np.zeros(0, dtype=np.int64), masks, np.zeros(0)

    def _query_margins(self) -> FloatArray | None:
        return self._session.query_margins()

    def _find_helpful_features(self) -> BoolArray | None:
        helpful = np.zeros((self._n_rows, self._n_features), dtype=np.bool_)
        none = np.flatnonzero(self._status == Status.UNEXPLAINABLE.code)
        if none.size:
            helpful[none] = self._session.helpful(none)
        return helpful

    def _drop_refused(self, owner: IntArray, masks: MaskArray, crosses: BoolArray) -> None:
        """Take out the sets that cross but do not count; each is one that the search did not foresee, like a tie."""
        if self._problem.accepts is None or not crosses.any():
            return
        across = np.flatnonzero(crosses)
        sets = unpack(masks[across], self._n_features)
        crosses[across] = self._problem.accepts(owner[across], sets)
        np.add.at(self._n_ties, owner[across[~crosses[across]]], 1)

    def _make_solution(self) -> Solution:
        for row in self._reasons:
            self._lower_bound[row] = 0
        parts = self._sets or [self._no_sets()]
        owner, masks, values = (
            parts[0] if len(parts) == 1 else (np.concatenate(part) for part in zip(*parts, strict=True))
        )
        if (owner[1:] < owner[:-1]).any():
            order = np.argsort(owner, kind="stable")
            owner, masks, values = owner[order], masks[order], values[order]
        counts = np.bincount(owner, minlength=self._n_rows)
        if owner.size and counts.max() > self._max_sets:
            place = np.arange(owner.size) - np.repeat(np.cumsum(counts) - counts, counts)
            masks, values = masks[place < self._max_sets], values[place < self._max_sets]
            counts = np.minimum(counts, self._max_sets)
        return Solution(
            status=self._status,
            lower_bound=self._lower_bound,
            offsets=np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)]),
            masks=np.ascontiguousarray(masks),
            complete=self._complete,
            reasons=self._reasons,
            query_margins=self._query_margins(),
            set_margins=values if self._problem.direction < 0 else -values,
            helpful=self._find_helpful_features(),
        )
