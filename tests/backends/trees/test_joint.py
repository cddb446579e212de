"""Sets that bring two sums of trees to their limits at once, against trying all sets, on small random forests."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest

from sev import _native
from sev.backends.trees._forest import build_forest

from .free.small import random_tree

FOUND, NONE, TOO_LARGE, OPEN, SPENT = range(5)
UNLIMITED = 10**12


@dataclass(frozen=True, eq=False)
class Case:
    """A row whose sum must fall to ``limit`` while a second one stays at least ``at_least``."""

    first: object
    second: object
    query: np.ndarray
    reference: np.ndarray
    gains: np.ndarray | None  # instead of the first forest
    limit: float = 0.0
    at_least: float = 0.0

    @property
    def n(self) -> int:
        return len(self.query)

    def vertices(self, sets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Both sums after the changes of each set."""
        rows = np.ascontiguousarray(np.where(sets, self.reference, self.query))
        one = 0.5 + sets @ self.gains if self.gains is not None else self.first.native.margins(rows)
        return one, self.second.native.margins(rows)

    def session(self, *, max_size=99, every_feature=False, limit=None):
        columns = np.arange(self.n)
        second = _native.SecondSum(self.second.native, self.reference, self.query[None], columns, self.n, self.at_least)
        limit = self.limit if limit is None else limit
        limits = [np.full(1, value) for value in (limit, limit, 1e-12)]
        common = (second, np.ones((1, self.n), dtype=bool), *limits, max_size, every_feature)
        if self.gains is not None:
            return _native.JointSession.with_gains(*common, np.full(1, 0.5), self.gains[None])
        return _native.JointSession.with_forest(
            *common, self.first.native, self.reference, self.query[None], columns, 1.0
        )

    def run(self, kernel="search", *, work=UNLIMITED, from_size=1, **options):
        """Outcome, proven size and the sets that were found."""
        session = self.session(**options)
        one = np.zeros(1, dtype=np.int64)
        outcome, proven, _, count, kept, sets, _ = getattr(session, kernel)(
            one, one + from_size, one + work, np.inf, 10**6, UNLIMITED
        )
        assert count[0] == kept[0] == len(sets)
        return int(outcome[0]), int(proven[0]), {unpacked(words) for words in sets}


def unpacked(words):
    return frozenset(64 * at + bit for at, word in enumerate(words.tolist()) for bit in range(64) if word >> bit & 1)


def random_case(seed, *, n=None, linear=False):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9)) if n is None else n
    depth = int(rng.integers(1, 6))

    def forest(n_trees):
        trees = [random_tree(rng, [4] * n, depth, set()) for _ in range(n_trees)]
        return build_forest(trees, n_columns=n, base=float(rng.normal()))

    query, reference = (rng.integers(0, 4, n).astype(float) for _ in range(2))
    gains = rng.normal(size=n) - 0.3 if linear else None
    first, second = forest(int(rng.integers(2, 15))), forest(int(rng.integers(2, 15)))
    return rng, Case(first, second, query, reference, gains)


def with_limits(rng, case, sets):
    """Limits that a random set just meets, or that no set with its second sum does."""
    one, two = case.vertices(sets)
    worse = np.flatnonzero((one < one[0] - 1e-6) & (np.arange(len(sets)) > 0))
    if not worse.size:
        return None
    # seldom met by other sets: a low first sum, or a high second one
    chosen = worse[np.argsort((one - two)[worse])][int(rng.integers(worse.size) * rng.random() ** 2)]
    limit, at_least = one[chosen] + 1e-9, two[chosen] - 1e-9
    if rng.random() < 0.15:
        limit = one[one <= limit].min() - 1e-6
    return Case(**{**case.__dict__, "limit": float(limit), "at_least": float(at_least)})


def all_sets(n, most=None):
    sizes = range(n + 1 if most is None else most + 1)
    chosen = [names for size in sizes for names in combinations(range(n), size)]
    table = np.zeros((len(chosen), n), dtype=bool)
    for place, names in enumerate(chosen):
        table[place, list(names)] = True
    return table


def smallest(case, sets):
    """The smallest sets that meet both limits, and their size."""
    one, two = case.vertices(sets)
    good = sets[(one <= case.limit) & (two >= case.at_least) & sets.any(axis=1)]
    if not len(good):
        return None, set()
    size = int(good.sum(axis=1).min())
    return size, {frozenset(np.flatnonzero(row).tolist()) for row in good[good.sum(axis=1) == size]}


@pytest.mark.parametrize("linear", [False, True], ids=["trees", "gains"])
@pytest.mark.parametrize("part", range(4))
def test_sizes_and_sets_are_those_of_trying_all(part, linear):
    seen = set()
    for seed in range(part * 250, (part + 1) * 250):
        rng, case = random_case(seed, linear=linear)
        sets = all_sets(case.n)
        case = with_limits(rng, case, sets)
        if case is None:
            continue
        size, expected = smallest(case, sets)
        seen.add(size)
        outcome, proven, found = case.run(every_feature=True)
        assert outcome == (NONE if size is None else FOUND), seed
        assert found == expected, seed
        assert size is None or proven == size - 1, seed
        for most in (1, 2, 3):
            outcome, proven, found = case.run(max_size=most, every_feature=True)
            if size is not None and size <= most:
                assert (outcome, found) == (FOUND, expected), seed
            else:
                assert found == set(), seed
                assert (outcome, proven) == (TOO_LARGE, most) or (outcome, size) == (NONE, None), seed
        outcome, _, found = case.run("greedy", every_feature=True)
        assert (outcome == OPEN) == (size is not None), seed
        check_sets(case, found, seed)
    assert {1, 2, 3, 4, None} <= seen


def check_sets(case, found, seed):
    if found:
        table = np.array([[f in names for f in range(case.n)] for names in found])
        one, two = case.vertices(table)
        assert (one <= case.limit).all(), seed
        assert (two >= case.at_least).all(), seed


def test_a_budget_that_ends_proves_no_more_than_it_searched():
    n_spent, n_proven = 0, set()
    for seed in range(2000, 2250):
        rng, case = random_case(seed, n=8)
        sets = all_sets(case.n)
        case = with_limits(rng, case, sets)
        if case is None:
            continue
        size, expected = smallest(case, sets)
        for work in (0, 1_000, 3_000, 8_000, 20_000, 60_000):
            outcome, proven, found = case.run(work=work, every_feature=True)
            check_sets(case, found, seed)
            if outcome == SPENT:
                n_spent += 1
                n_proven.add(proven)
                assert size is None or proven < size, (seed, work)
            elif outcome == NONE:
                assert size is None, (seed, work)
            else:
                assert (outcome, found) == (FOUND, expected), (seed, work)
    assert n_spent > 100
    assert {2, 3, 4} <= n_proven


def test_more_features_than_tables_of_pairs_are_made_for():
    """Above 256 features the last pick is tried one by one."""
    n_seen = set()
    for seed in range(12):
        rng, case = random_case(seed, n=270, linear=True)
        few = np.sort(rng.choice(270, 10, replace=False))
        sets = np.zeros((2**10, 270), dtype=bool)
        sets[:, few] = np.indices((2,) * 10).reshape(10, -1).T
        gains = np.full(270, 0.001)  # only a few features help
        gains[few] = rng.normal(size=10) - 0.5
        case = with_limits(rng, Case(**{**case.__dict__, "gains": gains}), sets)
        if case is None:
            continue
        # a feature that makes the first sum larger helps the second one at most
        size, _ = smallest(case, sets)
        for most in (1, 2) if size is None or size > 2 else (2,):
            table = all_sets(270, most)
            known, expected = smallest(case, table)
            outcome, _, found = case.run(max_size=most)
            n_seen.add(known)
            assert (outcome == FOUND) == (known is not None), seed
            assert found == expected, seed
    assert {1, 2, None} <= n_seen
