"""What comes back: one explanation, or many of them."""

from sev.explanations._explanation import Explanation
from sev.explanations._explanations import Explanations
from sev.explanations._source import Source

__all__ = ["Explanation", "Explanations", "Source"]
