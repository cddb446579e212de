"""Tables of texts for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_LEFT = "style='text-align: left; white-space: normal; overflow-wrap: break-word'"


def html_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table of texts whose cells are wrapped, so that it fits on the page.

    Parameters
    ----------
    head : sequence of str
        Names of the columns.
    lines : iterable of sequence of str
        Cells, the first of each line being its name.

    Returns
    -------
    str
        HTML, with every text escaped.
    """
    first = "".join(f"<th {_LEFT}>{_escape_text(name)}</th>" for name in head)
    rows = (
        "<tr>" + f"<th {_LEFT}>{_escape_text(line[0])}</th>"
        + "".join(f"<td {_LEFT}>{_escape_text(cell)}</td>" for cell in line[1:]) + "</tr>"
        for line in lines
    )  # fmt: skip
    return f"<table><thead><tr>{first}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _escape_text(text: str) -> str:
    """A text as HTML, which a browser may also break after an underscore: names of columns are long words."""
    return html.escape(text).replace("_", "_<wbr>")
