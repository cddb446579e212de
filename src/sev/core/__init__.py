"""The vocabulary that everything else may import and that imports nothing: how a search ended, the problem that every
solver solves, the one container of answers, sets as bits, and the brute-force definition.
"""

from sev.core._answers import Answers
from sev.core._label import kind_label
from sev.core._masks import n_words, pack, unpack
from sev.core._oracle import brute_force
from sev.core._plain import dump, plain_row, plain_value, table_from_plain, table_to_plain
from sev.core._problem import Limits, Problem, Solution, SolutionBuilder
from sev.core._ragged import ragged_take
from sev.core._status import Status
from sev.core._version import __version__

__all__ = [
    "Answers",
    "Limits",
    "Problem",
    "Solution",
    "SolutionBuilder",
    "Status",
    "__version__",
    "brute_force",
    "dump",
    "kind_label",
    "n_words",
    "pack",
    "plain_row",
    "plain_value",
    "ragged_take",
    "table_from_plain",
    "table_to_plain",
    "unpack",
]
