"""The map from features to the codes and texts of notices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from sev.exceptions import InputError
from sev.text import read_mapping
from sev.typing import Parsed

#: How a value stands to the reference's: above or below it, or merely not the same.
Direction: TypeAlias = Literal["above", "below", "other"]

_ENTRIES = ("code", "text", "above", "below")


@dataclass(frozen=True)
class Codes:
    """Code and text of each feature, and of each direction where they differ.

    Parameters
    ----------
    entries : mapping
        ``(feature, direction)`` to ``(code, text)``.

    Examples
    --------
    >>> from sev.reports import Codes
    >>> codes = Codes({("debt", "above"): ("R1", "Too much debt")})
    >>> codes.get("debt", "above")
    ('R1', 'Too much debt')
    """

    entries: Mapping[tuple[str, Direction], tuple[str, str]]

    def get(self, feature: str, direction: Direction) -> tuple[str, str] | None:
        """Code and text, or None for a feature or direction that is not mapped.

        Parameters
        ----------
        feature : str
            Its name.
        direction : {"above", "below", "other"}
            Whether the value of the row is above or below the reference's, or neither.

        Returns
        -------
        tuple of str, or None
            Code and text.
        """
        return self.entries.get((feature, direction))


#: What a caller may give as reason codes: a YAML file, its content, or what was read from one.
CodesLike: TypeAlias = str | Path | Mapping[str, Parsed] | Codes


def load_codes(codes: CodesLike) -> Codes:
    """Read and check a map of reason codes.

    Parameters
    ----------
    codes : path or mapping
        A YAML file or its content. For each feature a ``code`` and a ``text``; instead of the text, or beside it, the
        texts for values ``above`` and ``below`` the reference, each a text or again a ``code`` and a ``text``.

    Returns
    -------
    Codes
        The codes.

    Raises
    ------
    InputError
        If the file cannot be read, or an entry is incomplete or unknown; the message names the feature.

    Examples
    --------
    >>> from sev.reports import load_codes
    >>> codes = load_codes({"amount": {"code": "R2", "above": "Amount requested too high", "below": "Amount too low"}})
    >>> codes.get("amount", "above")
    ('R2', 'Amount requested too high')
    """
    if isinstance(codes, Codes):
        return codes
    if not isinstance(codes, (Mapping, str, Path)):
        raise InputError(f"codes is {codes!r}, expected a mapping from features to codes, or the path of a YAML file.")
    content = codes if isinstance(codes, Mapping) else read_mapping(codes, "reason code")
    entries: dict[tuple[str, Direction], tuple[str, str]] = {}
    for feature, entry in content.items():
        if not isinstance(entry, Mapping):
            raise InputError(f"Reason codes: {feature!r} is {entry!r}, expected a map with {list(_ENTRIES)}.")
        unknown = [name for name in entry if name not in _ENTRIES]
        if unknown:
            raise InputError(f"Reason codes: {feature!r} has unknown entries {unknown}; known are {list(_ENTRIES)}.")
        entries.update(_entries_of(str(feature), entry))
    return Codes(entries)


def _entries_of(feature: str, entry: Mapping[str, Parsed]) -> dict[tuple[str, Direction], tuple[str, str]]:
    found: dict[tuple[str, Direction], tuple[str, str]] = {}
    if "text" in entry:
        either = _check_code(feature, entry.get("code"), entry["text"])
        found |= {(feature, "above"): either, (feature, "below"): either, (feature, "other"): either}
    directions: tuple[Direction, Direction] = ("above", "below")
    for direction in directions:
        own = entry.get(direction)
        if own is None:
            continue
        inner = own if isinstance(own, Mapping) else {"text": own}
        found[feature, direction] = _check_code(feature, inner.get("code", entry.get("code")), inner.get("text"))
    if not found:
        raise InputError(f"Reason codes: {feature!r} has no text: give text, or above and below.")
    return found


def _check_code(feature: str, code: object, text: object) -> tuple[str, str]:
    # a bare 010 in YAML is the number 8, so numbers are not taken for codes
    if not isinstance(code, str) or not code:
        raise InputError(f"Reason codes: the code of {feature!r} is {code!r}, expected text: put it in quotes.")
    if not isinstance(text, str) or not text:
        raise InputError(f"Reason codes: the text of {feature!r} is {text!r}, expected text: put it in quotes.")
    return code, text
