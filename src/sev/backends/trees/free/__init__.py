"""The exact search over any permitted values; ``README.md`` has the picture."""

from sev.backends.trees.free.numbers import Permitted, permitted_within
from sev.backends.trees.free.problem import CellProblem, Goal
from sev.backends.trees.free.ranges import Ranges, find_ranges
from sev.backends.trees.free.search import TreeSearch
from sev.backends.trees.free.solver import FreeTrees, solve_free

__all__ = [
    "CellProblem",
    "FreeTrees",
    "Goal",
    "Permitted",
    "Ranges",
    "TreeSearch",
    "find_ranges",
    "permitted_within",
    "solve_free",
]
