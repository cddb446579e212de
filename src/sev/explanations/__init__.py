"""What comes back: one explanation, many of them, and how each search ended."""

from sev.explanations._answers import Answers
from sev.explanations._explanation import Explanation
from sev.explanations._explanations import Explanations
from sev.explanations._label import kind_label
from sev.explanations._source import Source
from sev.explanations._status import Status
from sev.explanations._values import feature_value
from sev.explanations._vertices import differing_features, leading_features

__all__ = [
    "Answers",
    "Explanation",
    "Explanations",
    "Source",
    "Status",
    "differing_features",
    "feature_value",
    "kind_label",
    "leading_features",
]
