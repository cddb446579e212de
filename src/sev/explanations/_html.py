"""Results as notebooks show them."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.core import Status

if TYPE_CHECKING:
    from sev.explanations._explanations import Explanations

_MOST_ROWS = 20


def many_as_html(many: Explanations) -> str:
    """What happened to all rows, then the rows that were explained."""
    summary = many.summary()
    shown = summary[[name for name in summary.index if name in ("rows", "target") or _matters(summary[name])]]
    head = pd.DataFrame([shown.map(_short)]).to_html(escape=True, index=False)
    explained = np.flatnonzero(many.statuses != Status.NOT_TARGET)
    title = f"<p><strong>{html.escape(repr(many)[1:-1])}</strong></p>"
    if not explained.size:
        return f"{title}{head}<p>No row is predicted as the class being explained.</p>"
    rows = many[explained[:_MOST_ROWS]].to_frame()
    rows["features"] = [", ".join(names) for names in rows["features"]]
    left = explained.size - len(rows)
    more = f"<p>... and {left:,} more explained rows</p>" if left else ""
    return f"{title}{head}{rows.to_html(escape=True)}{more}"


def _matters(value: object) -> bool:
    return value == value and value != 0


def _short(value: object) -> object:
    return f"{value:.2f}" if isinstance(value, float) else value
