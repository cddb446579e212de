"""Values, features and decisions in the words of a person's language."""

from sev.text._labels import Labels
from sev.text._language import (
    LANGUAGES,
    Language,
    Wording,
    Words,
    load_language,
    load_wording,
    parse_mapping,
    read_mapping,
)
from sev.text._menu import Range, enough_in_text, menu_table
from sev.text._reference_names import reference_name
from sev.text._sentences import Speaker
from sev.text._statements import Enough, EnoughRange, NotPermitted, ProofScope, Statement, proof_scope
from sev.text._tables import html_table
from sev.text._values import block_value, feature_value, format_value, round_inward

__all__ = [
    "LANGUAGES",
    "Enough",
    "EnoughRange",
    "Labels",
    "Language",
    "NotPermitted",
    "ProofScope",
    "Range",
    "Speaker",
    "Statement",
    "Wording",
    "Words",
    "block_value",
    "enough_in_text",
    "feature_value",
    "format_value",
    "html_table",
    "load_language",
    "load_wording",
    "menu_table",
    "parse_mapping",
    "proof_scope",
    "read_mapping",
    "reference_name",
    "round_inward",
]
