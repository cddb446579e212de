"""Smallest sets whose least costly values break a rule, searched for other values that keep it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sev.backends.free import FreeSolution
from sev.core import LazyList, Status, unpack
from sev.typing import BoolArray, IntArray

#: Searches some rows: their places, for each the sets to look at, and the number of features of these.
SearchSets = Callable[[IntArray, list[BoolArray], int], FreeSolution]


def find_other_values(found: FreeSolution, kept: BoolArray, n_features: int, search: SearchSets) -> FreeSolution:
    """The sets that keep the rules, with those that do so with other values; rows without a set that does stay so.

    Parameters
    ----------
    found : FreeSolution
        Sets of the smallest size, whether or not their values break a rule.
    kept : ndarray of bool, shape (n_sets,)
        Sets whose values break no rule.
    n_features : int
        Number of features.
    search : callable
        Looks at all values of some sets.
    """
    solution = found.solution
    owner = np.repeat(np.arange(len(solution), dtype=np.int64), np.diff(solution.offsets))
    sets = unpack(solution.masks, n_features)
    remaining = found.keep_sets(kept)
    partly = np.intersect1d(owner[kept], owner[~kept])
    partly = partly[solution.complete[partly] & found.complete_values[partly]]
    sizes = solution.lower_bound[partly]
    for size in np.unique(sizes).tolist():
        rows = partly[sizes == size]
        others = search(rows, [sets[~kept & (owner == row)] for row in rows.tolist()], size)
        remaining = _with_sets(remaining, rows, others, size)
    return remaining


def _with_sets(found: FreeSolution, rows: IntArray, others: FreeSolution, size: int) -> FreeSolution:
    """The same with further sets of some rows, as far as they were searched for and not merely met."""
    more, status = others.solution, others.solution.status
    is_listed = status == Status.OPTIMAL.code
    none = (status == Status.UNEXPLAINABLE.code) | (~is_listed & (more.lower_bound > size))
    others = others.keep_sets(np.repeat(is_listed, np.diff(more.offsets)))
    owner = np.repeat(np.arange(len(found.solution)), np.diff(found.solution.offsets))
    owners = np.concatenate([owner, np.repeat(rows, np.diff(others.solution.offsets))])
    complete = found.solution.complete.copy()
    complete[rows] = (none | (is_listed & more.complete)) & others.complete_values
    known = np.full(len(owner), np.nan) if found.scores is None else found.scores
    moves = found.moves
    together = replace(
        found,
        solution=replace(
            found.solution,
            masks=np.concatenate([found.solution.masks, others.solution.masks]),
            offsets=np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(complete)))]).astype(np.int64),
            complete=complete,
            set_margins=None,
        ),
        moves=replace(
            moves,
            targets=np.concatenate([moves.targets, others.moves.targets]),
            cost=np.concatenate([moves.cost, others.moves.cost]),
            proven_cost=np.concatenate([moves.proven_cost, others.moves.proven_cost]),
        ),
        enough=LazyList.concatenate([found.enough, others.enough]),
        scores=np.concatenate([known, np.full(len(owners) - len(owner), np.nan)]),
        results=None,
    )
    return together.in_order(np.argsort(owners, kind="stable"))
