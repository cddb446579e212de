"""The vocabulary that every package may import and that imports none of them: how a search ended, the problem that
every solver solves, the one container of answers, sets as bits, and the brute-force definition.
"""

from sev.core._distinct import distinct_rows
from sev.core._label import kind_label
from sev.core._lazy import LazyList
from sev.core._masks import n_words, pack, unpack
from sev.core._names import list_names, separator_hint, suggest_columns, suggest_name, tuple_of_names
from sev.core._objects import PlainObjects
from sev.core._oracle import brute_force
from sev.core._plain import dump, plain_row, plain_value, python_value
from sev.core._problem import Limits, Problem, SecondSum
from sev.core._ragged import ragged_least, ragged_take
from sev.core._recent import Recent
from sev.core._solution import Answers, Solution, SolutionBuilder
from sev.core._status import Status
from sev.core._version import __version__
from sev.core._warn import warn_user

__all__ = [
    "Answers",
    "LazyList",
    "Limits",
    "PlainObjects",
    "Problem",
    "Recent",
    "SecondSum",
    "Solution",
    "SolutionBuilder",
    "Status",
    "__version__",
    "brute_force",
    "distinct_rows",
    "dump",
    "kind_label",
    "list_names",
    "n_words",
    "pack",
    "plain_row",
    "plain_value",
    "python_value",
    "ragged_least",
    "ragged_take",
    "separator_hint",
    "suggest_columns",
    "suggest_name",
    "tuple_of_names",
    "unpack",
    "warn_user",
]
