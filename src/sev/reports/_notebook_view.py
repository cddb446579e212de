"""Reasons as notebooks show them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from sev.text import format_value, html_table

_MOST_ROWS = 20
#: What a reader looks for; the table itself has more.
_SHOWN = {
    "id": "id",
    "decision": "decision",
    "rank": "rank",
    "label": "feature",
    "value": "value",
    "reference_value": "compared with",
    "code": "code",
    "text": "text",
}


def reasons_as_html(table: pd.DataFrame, n_rows: int, hidden: Sequence[Sequence[str]]) -> str:
    """The first reasons, how many there are, and what a restriction hides."""
    explained = table["row"].nunique()
    title = f"<p><strong>Reasons of {n_rows:,} decisions: {len(table):,} reasons for {explained:,} of them</strong></p>"
    if not len(table):
        return f"{title}<p>No decision has a reason that could be given.</p>"
    first = table.head(_MOST_ROWS)
    lines = ([format_value(one) for one in line] for line in first[list(_SHOWN)].itertuples(index=False, name=None))
    notes = [f"... and {len(table) - len(first):,} more reasons"] if len(table) > len(first) else []
    n_hidden = sum(map(bool, hidden))
    if n_hidden:
        notes.append(f"In {n_hidden:,} rows a restriction hides features that the decision depends on: see .hidden.")
    notes.append(".table and .wide are the whole tables; .save(folder) writes them with a record of each decision.")
    return f"{title}{html_table(list(_SHOWN.values()), lines)}" + "".join(f"<p>{note}</p>" for note in notes)
