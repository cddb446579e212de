"""What comes back: one explanation, or many of them."""

from sev.explanations._alternatives import Alternative
from sev.explanations._arguments import FoundArguments
from sev.explanations._changes import Change, Choices, EnoughValues, Interval
from sev.explanations._explanation import Explanation
from sev.explanations._explanations import Explanations
from sev.explanations._groups import Groups, groups_of
from sev.explanations._source import ExplainerLike, Source

__all__ = [
    "Alternative",
    "Change",
    "Choices",
    "EnoughValues",
    "ExplainerLike",
    "Explanation",
    "Explanations",
    "FoundArguments",
    "Groups",
    "Interval",
    "Source",
    "groups_of",
]
