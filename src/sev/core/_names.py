"""Names in messages: lists that report what they leave out, and the name that was probably meant."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from difflib import get_close_matches
from typing import TypeVar

from sev.exceptions import InputError
from sev.typing import ColumnLabel

Name = TypeVar("Name")

#: Columns that a message matches with those of a table.
_MOST_PAIRS = 3


def list_names(names: Iterable[object], at_most: int | None = 12) -> str:
    """Names as a list; where it is cut, it ends with how many there are besides.

    Parameters
    ----------
    names : iterable of object
        Names.
    at_most : int or None, default=12
        How many to show; None shows all.

    Returns
    -------
    str
        Such as ``"['age', 'debt'] and 1 more"``.

    Examples
    --------
    >>> from sev.core import list_names
    >>> list_names(["age", "debt", "income"], at_most=2)
    "['age', 'debt'] and 1 more"
    """
    known = list(names)
    left = 0 if at_most is None else len(known) - at_most
    return f"{known[:at_most]} and {left} more" if left > 0 else str(known)


def tuple_of_names(names: Iterable[Name], what: str) -> tuple[Name, ...]:
    """Names in a list that a user has passed.

    Parameters
    ----------
    names : iterable of str
        The list.
    what : str
        The argument, for messages.

    Returns
    -------
    tuple of str
        The names.

    Raises
    ------
    InputError
        If it is one text, or no list at all.
    """
    if isinstance(names, str):
        raise InputError(f"{what} must be a list of names, got the string {names!r}: write [{names!r}].")
    if not isinstance(names, Iterable):
        raise InputError(f"{what} must be a list of names, got {names!r}.")
    chosen = tuple(names)
    for name in chosen:
        if not isinstance(name, Hashable):
            raise InputError(f"{what} must be a list of names, got one that holds {name!r}.")
    return chosen


def suggest_name(name: object, known: Iterable[object]) -> str:
    """``"; did you mean 'age'?"``, or a full stop where no known name is like this one.

    Parameters
    ----------
    name : object
        A name that is not known.
    known : iterable of object
        Those that are.

    Returns
    -------
    str
        The end of a message.

    Examples
    --------
    >>> from sev.core import suggest_name
    >>> suggest_name("agee", ["age", "debt"])
    "; did you mean 'age'?"
    """
    close = get_close_matches(str(name), [str(one) for one in known], n=1)
    return f"; did you mean {close[0]!r}?" if close else "."


def separator_hint(columns: Iterable[ColumnLabel]) -> str:
    """A sentence about a table whose only column is a whole line of another format; empty for any other table.

    Parameters
    ----------
    columns : iterable of object
        Names of its columns.

    Returns
    -------
    str
        The sentence, which starts with a space.

    Examples
    --------
    >>> from sev.core import separator_hint
    >>> separator_hint(["income;age"])
    " Its only column holds ';': save the table with commas between the cells."
    """
    names = [str(one) for one in columns]
    for mark in (";", "\t", "|"):
        if len(names) == 1 and mark in names[0]:
            return f" Its only column holds {mark!r}: save the table with commas between the cells."
    return ""


def suggest_columns(missing: Iterable[object], others: Iterable[object]) -> str:
    """A sentence that names, for columns that a table lacks, those of its other columns that were probably meant.

    It is empty where no name is like another, else it starts with a space.

    Parameters
    ----------
    missing : iterable of object
        Columns that the table lacks.
    others : iterable of object
        Columns of the table that are not needed.

    Returns
    -------
    str
        The sentence.

    Examples
    --------
    >>> from sev.core import suggest_columns
    >>> suggest_columns(["income", "age"], ["Income", "debt"])
    " Did you mean 'Income' to be 'income'?"
    """
    left = [str(one) for one in others]
    if separated := separator_hint(left):
        return separated
    by_letters = {name.casefold().strip(): name for name in reversed(left)}
    pairs = []
    for name in missing:
        close = get_close_matches(str(name).casefold().strip(), list(by_letters), n=1)
        if close:
            pairs.append(f"{by_letters.pop(close[0])!r} to be {str(name)!r}")
    return f" Did you mean {' and '.join(pairs[:_MOST_PAIRS])}?" if pairs else ""
