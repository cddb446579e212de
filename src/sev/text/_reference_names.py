"""Names that the package itself gives to rows of a reference, as fields of a text that each language has."""

from __future__ import annotations

import re

_PATTERNS = {
    "reference_row": re.compile(r"row (?P<value>.+)", re.DOTALL),
    "reference_group": re.compile(r"group (?P<first>\d+) of (?P<last>\d+) \((?P<share>\d+)% of the other class\)"),
}


def parse_reference_name(name: str) -> tuple[str, dict[str, str]] | None:
    """The text that says a name in every language, and what is filled in; None for names that users gave.

    Parameters
    ----------
    name : str
        Such as "row 141" of the nearest rows, or "group 1 of 3 (40% of the other class)" of clusters.

    Returns
    -------
    tuple of str and dict, or None
        Name of the text and its fields.
    """
    for text, pattern in _PATTERNS.items():
        found = pattern.fullmatch(name)
        if found is not None:
            return text, found.groupdict()
    return None
