"""Names of the rows that decisions are compared with: references give them in English, sentences in any language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from string import Formatter
from typing import TYPE_CHECKING, Literal, TypeAlias

from sev.text._language import Wording, english
from sev.typing import Row

if TYPE_CHECKING:
    from sev.text._sentences import Speaker

#: What the name of a reference row may be about; each is a text ``reference_...`` of the language.
ReferenceName: TypeAlias = Literal["group", "row", "all", "missing", "at_most", "between", "above", "equal"]
#: Names of rows that stand alone, and of groups by a column, in the order in which they are recognised.
_ALONE: tuple[ReferenceName, ...] = ("group", "all", "row")
_OF_A_COLUMN: tuple[ReferenceName, ...] = ("missing", "at_most", "between", "above", "equal")
#: Fields of groups by a column that are numbers.
_NUMBERS = ("first", "last")


def reference_name(about: ReferenceName, **fields: object) -> str:
    """The name of a reference row, in English, as results and files have it.

    Parameters
    ----------
    about : str
        What the name is about.
    **fields
        What is filled in.

    Returns
    -------
    str
        The name.

    Examples
    --------
    >>> from sev.text import reference_name
    >>> reference_name("group", first=1, last=3, share="40%")
    'group 1 of 3 (40% of the other class)'
    """
    return str(english()[f"reference_{about}"].format(**fields))


def tell_reference(name: str, speaker: Speaker, wording: Wording) -> str:
    """A name from :func:`reference_name`, or two of them with a comma between, in the words of a speaker.

    Parameters
    ----------
    name : str
        The name.
    speaker : Speaker
        Has the language and the labels.
    wording : Wording
        What is said of each feature.

    Returns
    -------
    str
        The same in the speaker's language; a name that is not known stays as it is.
    """
    for comma in re.finditer(", ", name):
        group = _tell_one(name[: comma.start()], speaker, wording)
        row = _tell_alone(name[comma.end() :], speaker)
        if group is not None and row is not None:
            return f"{group}, {row}"
    return _tell_one(name, speaker, wording) or name


def _tell_one(name: str, speaker: Speaker, wording: Wording) -> str | None:
    alone = _tell_alone(name, speaker)
    return _tell_group(name, speaker, wording) if alone is None else alone


def _tell_alone(name: str, speaker: Speaker) -> str | None:
    for about in _ALONE:
        found = _compile_pattern(about).fullmatch(name)
        if found is not None:
            fields = found.groupdict()
            if "share" in fields:
                fields["share"] = speaker.percent(float(fields["share"].rstrip("%")) / 100, ".0f")
            return speaker.text(f"reference_{about}", **fields)
    return None


def _tell_group(name: str, speaker: Speaker, wording: Wording) -> str | None:
    """The name of a group by a column; None where no feature is called so."""
    for feature in speaker.features:
        if not name.startswith(f"{feature} "):
            continue
        for about in _OF_A_COLUMN:
            found = _compile_pattern(about, feature).fullmatch(name)
            if found is not None:
                fields = _in_words(found.groupdict(), speaker, wording.get(feature, {}).get("values", {}))
                return speaker.text(f"reference_{about}", label=speaker.label(feature), **fields)
    return None


def _in_words(fields: Mapping[str, str], speaker: Speaker, values: Row) -> dict[str, str]:
    named = {str(value): str(text) for value, text in values.items()}
    return {
        field: text.replace(".", speaker.raw("decimal")) if field in _NUMBERS else named.get(text, text)
        for field, text in fields.items()
    }


@cache
def _compile_pattern(about: ReferenceName, label: str | None = None) -> re.Pattern[str]:
    """The English name as a pattern whose groups are its fields; the label is given, not a field."""
    parts = []
    for literal, field, _, _ in Formatter().parse(english()[f"reference_{about}"]):
        parts.append(re.escape(literal))
        if field == "label" and label is not None:
            parts.append(re.escape(label))
        elif field is not None:
            parts.append(rf"(?P<{field}>{'[-+.0-9einf%]+' if field != 'value' else '.+'})")
    return re.compile("".join(parts), re.DOTALL)
