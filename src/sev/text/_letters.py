"""Which text a letter uses where a general one would read oddly: on a single change, or on what alone is enough."""

from __future__ import annotations

from collections.abc import Set

from sev.text._language import Language
from sev.text._statements import Statement


def name_for_letter(name: str, statement: Statement, texts: Language, overridden: Set[str]) -> str:
    """The name of the text for one change or for a "plus" statement, where letters have one; else the name itself.

    Parameters
    ----------
    name : str
        Name of a text.
    statement : Statement
        What it is about.
    texts : Language
        All texts.
    overridden : set of str
        Those that the user set: who sets a text sets it for all statements.

    Returns
    -------
    str
        The name of a text, without the ``letter_`` before it.
    """
    special = f"{name}_plus" if statement.kind == "plus" else f"{name}_single" if len(statement.features) == 1 else name
    is_set = name in overridden or f"letter_{name}" in overridden
    if f"letter_{special}" not in texts or (is_set and f"letter_{special}" not in overridden):
        return name
    return special
