"""What solvers share: the problem, its answer, sets as bits, and the brute-force definition."""

from sev.search._masks import n_words, pack, unpack
from sev.search._oracle import brute_force
from sev.search._problem import Limits, Problem, Solution, SolutionBuilder

__all__ = ["Limits", "Problem", "Solution", "SolutionBuilder", "brute_force", "n_words", "pack", "unpack"]
