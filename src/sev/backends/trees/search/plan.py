"""Which search answers a row: the only place that chooses, and the only home of thresholds.

A row first meets the tables of pairs, which answer for sizes 1 and 2. What they leave open is given to the first
strategy of ``STRATEGIES`` that applies to it; ``README.md`` one folder up has the picture. The kernels in
``sev._native`` search and never choose.

Work is counted in units of roughly two nanoseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from math import comb

# -- how the tables of pairs are made: trees are walked, or their patterns looked up -----------------------------------

#: Rows of one reference after which tables of patterns pay (making them takes as long as walking about so many rows).
ROWS_FOR_PATTERNS = 300
#: Splits of a tree and features of a problem up to which a pattern is a byte and a feature six bits.
PATTERN_SPLITS, PATTERN_FEATURES = 8, 64
#: Patterns of all trees, and bits of the vectors behind them, up to which they are made.
MOST_PATTERNS, MOST_PATTERN_BITS = 600_000, 100_000_000
#: Tables to keep: for several references, both kinds, with and without restricted features.
MOST_PATTERN_TABLES = 16
#: Rows of one reference after which it pays to sort all splits, so that a walk goes only to those at which row and
#: reference part (sorting takes as long as walking about so many rows), and splits of a tree that fit one word.
ROWS_FOR_PARTINGS, PARTING_SPLITS = 50, 64

# -- which tables a row may have ---------------------------------------------------------------------------------------

#: Features of a row up to which there is a table of pairs.
PAIRS_FEATURES = 256
#: Features up to which there is a table of triples, where these say everything; and where they say it for size 3 only.
CUBIC_FEATURES, TRIPLES_FEATURES = 64, 32
#: Features of one cube up to which triples say everything.
CUBIC_WIDTH = 3
#: Entries up to which there are tables of terms of every degree: enough for all sizes with 22 features.
TERMS_ENTRIES = 5_000_000

# -- how long each may take --------------------------------------------------------------------------------------------

#: Work that one row may take when there is no time limit: roughly a second.
ROW_WORK = 500_000_000
#: Work that it may go on once more sets were found than are wanted, to find the best of them.
LISTING_WORK = 20_000_000
#: Work in place of no limit.
UNLIMITED = 1 << 60
#: The first size before which it is asked whether any set crosses at all, and the work that this may always take: in
#: tables of triples, and by branch and bound. As long as it is open it may take as much as the search has taken so far.
PROOF_SIZE, CUBIC_PROOF_WORK, CUBIC_PROOF_SHARE, BRANCH_PROOF_WORK = 5, 5_000, 2, 100_000
#: Tables of terms that take at most so many rounds of first picks of branch and bound are made at once.
QUICK_ROUNDS = 4
#: Sets of one row that the model scores to settle ties before the search for it is given up.
MOST_TIES = 20_000


class Outcome(IntEnum):
    """How a kernel ended for one row (the numbers are those of ``trees/found.hpp``)."""

    FOUND = 0  #: all sets of the smallest size
    NONE = 1  #: no set crosses
    TOO_LARGE = 2  #: none up to the size limit does
    OPEN = 3  #: none up to the proven size does; larger ones were not searched
    SPENT = 4  #: the work limit ended the search


@dataclass(frozen=True)
class Facts:
    """What a row's trees are like once they are collapsed."""

    n_features: int  #: that were met
    n_members: int  #: of all cubes
    widest_cube: int  #: features of one cube, at most


@dataclass(frozen=True)
class Strategy:
    """One way to go on with a row that the tables of pairs left open."""

    name: str  #: the method of ``sev._native.Session``
    sizes: str  #: which sizes it answers for: "all", "one" (any one size) or "3"
    applies: Callable[[Facts], bool]
    cost: Callable[[Facts, int, int], int]  #: estimated work for one size and its number of terms (see ``run.py``)


@cache
def _count_entries(n_features: int, degree: int) -> int:
    return sum(comb(n_features, d) for d in range(1, degree + 1))


def _terms_cost(facts: Facts, size: int, n_terms: int) -> int:
    """Write the terms, then go through all sets, a few additions each."""
    entries = _count_entries(facts.n_features, max(2, min(size, facts.widest_cube)))
    if entries > TERMS_ENTRIES or size < 3:
        return UNLIMITED
    return entries + size * comb(facts.n_features, size) + 3 * n_terms


CUBIC = Strategy(
    "cubic",
    "all",
    applies=lambda facts: facts.widest_cube <= CUBIC_WIDTH and facts.n_features <= CUBIC_FEATURES,
    cost=lambda facts, size, n_terms: facts.n_features**3,
)
TRIPLES = Strategy(
    "cubic",
    "3",
    applies=lambda facts: facts.n_features <= TRIPLES_FEATURES,
    cost=lambda facts, size, n_terms: facts.n_features**3,
)
TERMS = Strategy(
    "terms",
    "one",
    applies=lambda facts: _count_entries(facts.n_features, 3) <= TERMS_ENTRIES,
    cost=_terms_cost,
)
BRANCH = Strategy("branch", "one", applies=lambda facts: True, cost=lambda facts, size, n_terms: UNLIMITED)
#: In the order in which they are tried. Each is there because leaving it out was slower, in microseconds a row:
#:
#: =============================  ==========  ==============  ============
#: left out                       FICO, mean  FICO, LightGBM  FICO, forest
#: =============================  ==========  ==============  ============
#: nothing                        10.4        220             917
#: CUBIC (TERMS instead)          71.6
#: TRIPLES (TERMS instead)                    248             1097
#: =============================  ==========  ==============  ============
#:
#: A table of all sets of up to 22 features takes as long as TERMS does and is not there: 31 against 31 ms with 22
#: features of which 11 are needed and cubes of 5 features, 33 against 42 ms with cubes of 14.
STRATEGIES = (CUBIC, TRIPLES, TERMS, BRANCH)


def looks_up_triples(depth: int) -> bool:
    """Whether tables of patterns, which hold terms of up to three features, say everything about trees so deep."""
    return CUBIC in STRATEGIES and depth <= CUBIC_WIDTH


def first_strategy(facts: Facts, size: int) -> Strategy | None:
    """The tables of triples that go on with a row, if any; else sizes are searched one by one."""
    if CUBIC in STRATEGIES and CUBIC.applies(facts):
        return CUBIC
    if TRIPLES in STRATEGIES and size == 3 and TRIPLES.applies(facts):
        return TRIPLES
    return None


@dataclass(frozen=True)
class Step:
    """A strategy with the work that it may take before the next one."""

    strategy: Strategy
    work: int


def steps_for_size(facts: Facts, size: int, n_terms: int, left: int) -> tuple[Step, ...]:
    """How to search all sets of one size: each step begins where the one before has spent its work.

    Tables of terms take a known time; branch and bound takes less for most rows and far more for some. So branch and
    bound goes first, for as long as the tables would take, unless these are so quick that it is not worth trying.
    """
    cost = TERMS.cost(facts, size, n_terms) if TERMS in STRATEGIES and TERMS.applies(facts) else UNLIMITED
    if cost >= left:  # also where only the clock limits a row: tables that cannot be made cost as much as it has left
        return (Step(BRANCH, left),)
    if cost <= QUICK_ROUNDS * facts.n_features * facts.n_members:
        return (Step(TERMS, UNLIMITED),)
    return (Step(BRANCH, cost), Step(TERMS, UNLIMITED))


def row_work(*, timed: bool) -> int:
    """Work after which the search for a row is given up; with a time limit only the clock counts."""
    return UNLIMITED if timed else ROW_WORK
