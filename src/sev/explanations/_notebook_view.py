"""Results as notebooks show them: no wider than a page, what matters first."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.core import Status, kind_label
from sev.text import Speaker, html_table

if TYPE_CHECKING:
    from sev.explanations._explanation import Explanation
    from sev.explanations._explanations import Explanations

_MOST_ROWS = 20
_MOST_SETS = 4


def one_as_html(one: Explanation) -> str:
    """The sentence, then one line for each feature that a set changes; all others are folded up."""
    speaker = Speaker(one.columns, labels=one.labels)
    text = f"<p>{html.escape(one.to_text())}</p>"
    shown = one.sets[:_MOST_SETS]
    used = list(dict.fromkeys(name for names in shown for name in names))
    rest = [name for name in one.columns if name not in used]
    heads = ["feature", "this row", "reference"]
    parts = [text]
    if used:
        label = kind_label(one.kind)
        sets = [f"{label} {number}" for number in range(1, len(shown) + 1)]
        parts.append(html_table([*heads, *sets], (_changed_line(one, name, speaker, shown) for name in used)))
    if len(one.sets) > len(shown):
        parts.append(f"<p>... and {len(one.sets) - len(shown):,} more sets</p>")
    if rest:
        lines = ([speaker.label(name), *_show_values(one, name, speaker)] for name in rest)
        what = "other features, which these sets leave as they are" if used else "features"
        parts.append(f"<details><summary>{len(rest)} {what}</summary>{html_table(heads, lines)}</details>")
    return "".join(parts)


def _show_values(one: Explanation, name: str, speaker: Speaker) -> list[str]:
    return [speaker.value(name, one.query), speaker.value(name, one.reference)]


def _changed_line(one: Explanation, name: str, speaker: Speaker, shown: Sequence[tuple[str, ...]]) -> list[str]:
    """A feature that a set changes: its label, its two values, and what each set makes of it."""
    made = [speaker.value(name, one.donor_of(number)) if name in names else "" for number, names in enumerate(shown)]
    return [speaker.label(name), *_show_values(one, name, speaker), *made]


def many_as_html(many: Explanations) -> str:
    """What happened to all rows, then the rows that were explained."""
    title = f"<p><strong>{html.escape(repr(many)[1:-1])}</strong></p>"
    if not len(many):
        return f"{title}<p>No row was chosen: there is nothing to show.</p>"
    summary = many.summary()
    shown = summary[[name for name in summary.index if name in ("rows", "target") or _is_worth_showing(summary[name])]]
    head = pd.DataFrame([shown.map(_shorten_value)]).to_html(escape=True, index=False)
    explained = np.flatnonzero(many.statuses != Status.NOT_TARGET)
    if not explained.size:
        return f"{title}{head}<p>No row is predicted as the class being explained.</p>"
    rows = _shown_rows(many[explained[:_MOST_ROWS]])
    left = explained.size - len(rows)
    more = f"<p>... and {left:,} more explained rows</p>" if left else ""
    return f"{title}{head}{rows.to_html(escape=True)}{more}"


def _shown_rows(many: Explanations) -> pd.DataFrame:
    """The table of explained rows, with what a reader can use: names instead of lists, probabilities, not leads."""
    rows = many.to_frame()
    rows["features"] = [", ".join(names) for names in rows["features"]]
    rows["size"] = rows["size"].astype("Int64")  # a count: no "2.0"
    if many.class_scores is not None:  # the lead over the other classes means nothing to a reader
        rows = rows.drop(columns=["score", "result_score"])
    numbers = rows.select_dtypes("floating").columns
    rows[numbers] = rows[numbers].map(lambda value: "" if np.isnan(value) else f"{value:.3g}")
    return rows.rename(columns=lambda name: name.replace("_", " "))  # names that can be wrapped


def _is_worth_showing(value: object) -> bool:
    return value == value and value != 0


def _shorten_value(value: object) -> object:
    return f"{value:.2f}" if isinstance(value, float) else value
