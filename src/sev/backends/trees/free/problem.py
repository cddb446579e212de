"""The problem that the search over cells solves: :class:`sev.backends.free.FreeProblem` in the terms of trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import pandas as pd

from sev.actions import Destinations
from sev.core import Limits
from sev.typing import BoolArray, FloatArray


class Goal(IntEnum):
    """Which sets are wanted (the numbers are those of ``_native/free/found.hpp``)."""

    FIRST = 0  #: one set of the smallest size, with its cheapest values
    CHEAPEST = 1  #: of the sets of the smallest size, the one with the least cost
    ALL = 2  #: all sets of the smallest size, each with its cheapest values
    COST = 3  #: the least cost of any size


@dataclass(frozen=True, kw_only=True, eq=False)
class CellProblem:
    """Take each row across the decision by moving the fewest features to permitted values.

    Parameters
    ----------
    direction : {-1, 1}
        -1: values cross when the margin falls below the decision; 1: when it rises above.
    low, high : float
        The band of margins in which the model itself must decide, as in :class:`sev.core.Problem`.
    queries : DataFrame
        Rows of the common form, all on the near side.
    destinations : Destinations
        The values that each feature of each row may move to.
    crosses : callable
        Takes rows of the common form; returns for each whether the model's own decision about it is the other one.
    goal : Goal
        Which sets are wanted.
    limits : Limits
        Where to stop early; ``first_only`` and ``max_predictions`` are not read.
    confirm : bool
        Whether the model scores every set; otherwise the caller has to.
    observed : mapping of int to ndarray
        Sorted values that occur in the background, by number of the feature: preferred where several are as good, and
        the only ones that are searched where a feature's encoding neither rises nor falls.
    firsts : ndarray of bool or None
        The features of each row's cheapest set of the smallest size, with ``Goal.ALL``: only the others are listed.
    share : float
        The share of the budget of a row that this search may take, where there is no time limit.
    encoded : ndarray or None
        The queries in the columns of the trees, where they are known.
    """

    direction: int
    low: float
    high: float
    queries: pd.DataFrame
    destinations: Destinations
    crosses: Callable[[pd.DataFrame], BoolArray]
    goal: Goal = Goal.ALL
    limits: Limits = field(default_factory=Limits)
    confirm: bool = True
    observed: Mapping[int, FloatArray] = field(default_factory=dict)
    firsts: BoolArray | None = None
    share: float = 1.0
    encoded: FloatArray | None = None
