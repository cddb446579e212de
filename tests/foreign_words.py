"""Finds texts that are not in the language that was asked for."""

from __future__ import annotations

import re
from string import Formatter

from sev.text import load_language

#: Marks and codes, which have no words.
_MARKS = ("code", "decimal", "thousands")


def without_letters() -> dict[str, str]:
    """A language whose texts have no Latin letter: what is read on a page or a picture came from elsewhere."""
    return {name: text if name in _MARKS else _in_cyrillic(text) for name, text in load_language("en").items()}


def _in_cyrillic(template: str) -> str:
    parts = []
    for literal, field, _, _ in Formatter().parse(template):
        parts.append(re.sub("[A-Za-z]", "ж", literal))
        parts.append("" if field is None else f"{{{field}}}")
    return "".join(parts)


def latin_words(text: str, *known: str) -> list[str]:
    """Words of Latin letters, but for those that are known to be names, and for the letters of a cube's features."""
    for name in known:
        text = text.replace(name, "")
    return [word for word in re.findall("[A-Za-z]{2,}", text) if word.strip("ABCD")]


def english_left(text: str, code: str) -> list[str]:
    """Parts of English texts that stand in a text of another language, although this language has other words."""
    own = "\n".join(load_language(code).values())
    shown = " ".join(text.split())
    parts = {
        literal.strip(" .;:,()")
        for template in load_language("en").values()
        for literal, _, _, _ in Formatter().parse(template)
    }
    return sorted(part for part in parts if len(part) > 2 and _has(shown, part) and not _has(own, part))


def _has(text: str, part: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None
