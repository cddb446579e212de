"""Details of a page that a reader opens: sphinx-design's dropdown."""

from __future__ import annotations


def folded(title: str, text: str) -> str:
    """A part of a page that shows its title only, until somebody opens it; search finds what is in it."""
    return f":::{{dropdown}} {title}\n{text.strip()}\n:::\n"
