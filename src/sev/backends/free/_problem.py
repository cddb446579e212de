"""What is asked of a search over permitted values, and the form of its answer: the same for every family of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import numpy as np
import pandas as pd

from sev.actions import Destinations, Moves
from sev.backends.free._joint_values import FeatureRule
from sev.core import LazyList, Limits, Solution, ragged_take
from sev.space import FeatureSpace
from sev.typing import BoolArray, FloatArray, IntArray, Minimise

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, eq=False)
class FreeProblem:
    """Take each row across the decision by moving the fewest features to permitted values.

    Parameters
    ----------
    direction : {-1, 1}
        -1: values cross when the margin falls below the decision; 1: when it rises above.
    low, high : float
        The band of margins in which the model itself must decide, as in :class:`sev.core.Problem`.
    queries : DataFrame
        Rows of the common form, all on the near side.
    space : FeatureSpace
        Which columns belong to which feature.
    destinations : Destinations
        The values that each feature of each row may move to.
    crosses : callable
        Takes rows of the common form; returns for each whether the model's own decision about it is the other one.
    decide : callable or None
        The same as ``crosses``, with the model's own scores of the rows. None: these are not known.
    distance : callable or None
        Takes rows of the common form; returns how far each is from crossing: the less, the nearer, NaN where the model
        fails. None: not known.
    keeps_rules : callable or None
        Takes numbers of queries and rows made from them; returns for each whether it breaks no rule that the query
        keeps. None: there are no rules.
    rules : sequence of FeatureRule
        The same rules one by one, where nothing else is asked of results.
    minimise : {"features", "cost"}
        "features": all sets of the fewest features, each with its least costly values. "cost": one set, of the least
        total cost of any number of features; "optimal" then means that nothing permitted costs less.
    limits : Limits
        Where to stop early.
    first_only : bool
        Whether only the first set of each row is wanted now: a search may leave out the others, and says so.
    observed : mapping of int to ndarray
        Sorted values of numbers that occur in the background, by number of the feature.
    proven : mapping of int to int
        For some rows, a size up to which it is known that no set crosses, whatever the values.
    smallest : mapping of int to ndarray of bool
        For some of these, all sets of one feature more that cross with some values; (n_sets, n_features).
    firsts : ndarray of bool or None
        The features of each row's first set, where it is known and a search may list the others only; (n_rows,
        n_features).
    share : float
        The share of the budget of a row that this search may take, where the user sets no limit.
    encoded : ndarray or None
        The queries in the columns of the model's reading, where they are known.
    """

    direction: int
    low: float
    high: float
    queries: pd.DataFrame
    space: FeatureSpace
    destinations: Destinations
    crosses: Callable[[pd.DataFrame], BoolArray]
    decide: Callable[[pd.DataFrame], tuple[BoolArray, FloatArray]] | None = None
    distance: Callable[[pd.DataFrame], FloatArray] | None = None
    keeps_rules: Callable[[IntArray, pd.DataFrame], BoolArray] | None = None
    rules: Sequence[FeatureRule] = ()
    minimise: Minimise = "features"
    limits: Limits = field(default_factory=Limits)
    first_only: bool = False
    observed: Mapping[int, FloatArray] = field(default_factory=dict)
    proven: Mapping[int, int] = field(default_factory=dict)
    smallest: Mapping[int, BoolArray] = field(default_factory=dict)
    firsts: BoolArray | None = None
    share: float = 1.0
    encoded: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of queries."""
        return len(self.queries)

    def take(self, rows: IntArray) -> FreeProblem:
        """The problem of some of the rows."""
        if len(rows) == self.n_rows and np.array_equal(rows, np.arange(self.n_rows)):
            return self
        kept = self.keeps_rules
        return replace(
            self,
            queries=self.queries.iloc[rows],
            destinations=self.destinations.take(rows),
            keeps_rules=None if kept is None else lambda numbers, frame: kept(rows[numbers], frame),
            rules=tuple(one.take(rows) for one in self.rules),
            proven=_take_entries(self.proven, rows),
            smallest=_take_entries(self.smallest, rows),
            firsts=None if self.firsts is None else self.firsts[rows],
            encoded=None if self.encoded is None else self.encoded[rows],
        )


def _take_entries(entries: Mapping[int, T], rows: IntArray) -> dict[int, T]:
    """The entries of some rows, by their new numbers."""
    return {place: entries[row] for place, row in enumerate(rows.tolist()) if row in entries}


#: A closed interval of a number, or the places of choices, or None where nothing is proven.
Enough = tuple[float, float] | frozenset[int] | None


@dataclass(frozen=True, kw_only=True, eq=False)
class FreeSolution:
    """What a search over permitted values found.

    Parameters
    ----------
    solution : Solution
        Status, bound and sets of each row.
    moves : Moves
        Where the features of each set move to.
    complete_values : ndarray of bool, shape (n_rows,)
        Whether all permitted values were searched, or only a list of candidates.
    enough : LazyList of dict
        For each set, by number of the feature, the values that do with the others anywhere in theirs: proven. Found
        when they are first read.
    scores : ndarray of shape (n_sets,) or None
        The model's own scores of the changed rows, where they are known; NaN, or None for all, where they are not.
    results : DataFrame or None
        The changed row of each set, where they have been made.
    listed : ndarray of bool, shape (n_rows,), or None
        Whether the sets after the first are there too, as far as they were found; None: in all rows.
    """

    solution: Solution
    moves: Moves
    complete_values: BoolArray
    enough: LazyList[Mapping[int, Enough]]
    scores: FloatArray | None = None
    results: pd.DataFrame | None = None
    listed: BoolArray | None = None

    @property
    def are_listed(self) -> BoolArray:
        """Rows whose sets are all there."""
        return np.ones(len(self.solution), dtype=np.bool_) if self.listed is None else self.listed

    def take(self, rows: IntArray) -> FreeSolution:
        """The same for some rows."""
        _, items = ragged_take(self.solution.offsets, rows)
        return replace(
            self._with_sets(items),
            solution=self.solution.take(rows),
            complete_values=self.complete_values[rows],
            listed=None if self.listed is None else self.listed[rows],
        )

    def keep_sets(self, kept: BoolArray) -> FreeSolution:
        """The same without some of the sets."""
        if kept.all():
            return self
        owner = np.repeat(np.arange(len(self.solution)), np.diff(self.solution.offsets))
        items = np.flatnonzero(kept)
        return self.choose_sets(items, np.bincount(owner[items], minlength=len(self.solution)))

    def choose_sets(self, items: IntArray, counts: IntArray) -> FreeSolution:
        """The same with some of the sets, in the order given, and that many for each row."""
        solution = self.solution
        return replace(
            self._with_sets(items),
            solution=replace(
                solution,
                offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
                masks=solution.masks[items],
                set_margins=None,
                complete=solution.complete & (counts == np.diff(solution.offsets)),
            ),
        )

    def keep_least_costly(self, most: int) -> FreeSolution:
        """The same with no more than so many sets of each row, of which the least costly come first."""
        counts = np.diff(self.solution.offsets)
        if not (counts > most).any():
            return self
        place = np.arange(len(self.moves.cost)) - np.repeat(self.solution.offsets[:-1], counts)
        return self.choose_sets(np.flatnonzero(place < most), np.minimum(counts, most))

    def sorted_by_cost(self) -> FreeSolution:
        """The same with the least costly set of each row first."""
        owner = np.repeat(np.arange(len(self.solution)), np.diff(self.solution.offsets))
        return self.in_order(np.lexsort((np.arange(len(owner)), self.moves.cost, owner)))

    def in_order(self, order: IntArray) -> FreeSolution:
        """The same with the sets in another order; those of a row stay together."""
        if np.array_equal(order, np.arange(len(order))):
            return self
        solution = replace(self.solution, masks=self.solution.masks[order], set_margins=None)
        return replace(self._with_sets(order), solution=solution)

    @classmethod
    def merge(cls, parts: Sequence[tuple[IntArray, FreeSolution]]) -> FreeSolution:
        """Solutions of disjoint rows as one, in the order of the rows."""
        if len(parts) == 1:
            return parts[0][1]
        solutions = [one for _, one in parts]
        owners = [np.repeat(rows, np.diff(one.solution.offsets)) for rows, one in parts]
        unknown = [np.full(len(one.moves.cost), np.nan) if one.scores is None else one.scores for one in solutions]
        together = cls(
            solution=solutions[0].solution,
            moves=Moves(
                targets=np.concatenate([one.moves.targets for one in solutions]),
                cost=np.concatenate([one.moves.cost for one in solutions]),
                proven_cost=np.concatenate([one.moves.proven_cost for one in solutions]),
            ),
            complete_values=solutions[0].complete_values,
            enough=LazyList.concatenate([one.enough for one in solutions]),
            scores=None if all(one.scores is None for one in solutions) else np.concatenate(unknown),
        )
        row_order = np.argsort(np.concatenate([rows for rows, _ in parts]), kind="stable")
        return replace(
            together._with_sets(np.argsort(np.concatenate(owners), kind="stable")),
            solution=Solution.merge([(rows, one.solution) for rows, one in parts]),
            complete_values=np.concatenate([one.complete_values for one in solutions])[row_order],
            listed=np.concatenate([one.are_listed for one in solutions])[row_order],
        )

    def _with_sets(self, items: IntArray) -> FreeSolution:
        """What belongs to some sets; the solution has to follow."""
        moves = self.moves
        return replace(
            self,
            moves=Moves(targets=moves.targets[items], cost=moves.cost[items], proven_cost=moves.proven_cost[items]),
            enough=self.enough.take(items.tolist()),
            scores=None if self.scores is None else self.scores[items],
            results=None if self.results is None else self.results.iloc[items].reset_index(drop=True),
        )


class FreeSearch(Protocol):
    """One family's search over permitted values."""

    def solve(self, problem: FreeProblem) -> FreeSolution:
        """Solve the problem within its limits; the model is still to confirm the sets, unless it made them."""
        ...


class ExactSearch(FreeSearch, Protocol):
    """The search of a family that proves its answers over all permitted values."""

    def ends(self, problem: FreeProblem) -> Mapping[int, FloatArray]:
        """Values of numbers between which the margin is as it is at one of them, or changes in proportion.

        Numbers of which that is not known are left out. The ends of what is permitted need not be among them.
        """
        ...
