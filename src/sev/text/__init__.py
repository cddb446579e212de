"""Values, features and decisions in the words of a person's language."""

from sev.text._language import Language, Wording, load_language, load_wording, read_mapping
from sev.text._sentences import Speaker, Statement
from sev.text._values import block_value, feature_value, format_value

__all__ = [
    "Language",
    "Speaker",
    "Statement",
    "Wording",
    "block_value",
    "feature_value",
    "format_value",
    "load_language",
    "load_wording",
    "read_mapping",
]
