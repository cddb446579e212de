"""Values, features and decisions in the words of a person's language."""

from sev.text._labels import Labels
from sev.text._language import LANGUAGES, Language, Wording, load_language, load_wording, read_mapping
from sev.text._sentences import NotPermitted, Speaker, Statement
from sev.text._values import block_value, feature_value, format_value

__all__ = [
    "LANGUAGES",
    "Labels",
    "Language",
    "NotPermitted",
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
