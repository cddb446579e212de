"""An explainer as notebooks show it."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sev.text import Speaker, html_table

if TYPE_CHECKING:
    from sev.explainers._setup import ExplainerSetup

_MOST_FEATURES = 12
_MOST_REFERENCES = 5


def _list_entries(actions: Mapping[str, Any]) -> str:
    """Entries of the actions in the words of their file."""
    return "; ".join(
        f"{entry}: " + ", ".join(f"{one} {given[one]}" if isinstance(given, Mapping) else str(one) for one in given)
        for entry, given in actions.items()
        if given
    )


def explainer_as_html(explainer: ExplainerSetup) -> str:
    """Model, how it is searched and why, what decisions are compared with, the features, and what may change."""
    names = explainer.feature_names
    listed = ", ".join(names[:_MOST_FEATURES]) + (", ..." if len(names) > _MOST_FEATURES else "")
    target = f"{explainer.target!r}, from a score of {explainer.threshold:.6g} on"
    if explainer.tasks[0].scorer.leads:
        target = f"{explainer.target!r}, where it has the highest score of all classes"
    facts = {
        "Model": type(explainer.model).__name__,
        "Class being explained": target if explainer.target != "predicted" else "each row's own predicted class",
        "Search": explainer.backend,
        "Why not exact": explainer.backend_reason,
        "Reference": explainer.reference_name,
        "Features": f"{len(names)}: {listed}",
        "Restricted": ", ".join(explainer.restricted),
        "Actions": "" if explainer.actions is None else _list_entries(explainer.actions.to_plain()),
    }
    rows = "".join(
        f"<tr><th style='text-align: left'>{label}</th><td style='text-align: left'>{html.escape(value)}</td></tr>"
        for label, value in facts.items()
        if value
    )
    return f"<p><strong>sev.Explainer</strong></p><table>{rows}</table>{_draw_reference(explainer)}"


def _draw_reference(explainer: ExplainerSetup) -> str:
    """What decisions are compared with: a line for each feature, and a column for each of the first rows."""
    columns = {feature.name: feature.columns for feature in explainer.space.features}
    speaker = Speaker(columns, labels=explainer.labels)
    rows = explainer.reference
    cells = rows.head(_MOST_REFERENCES).astype(object).to_dict("records")
    heads = ["value"] if len(rows) == 1 else [f"row {number}" for number in range(1, len(cells) + 1)]
    lines = ([speaker.label(name), *(speaker.value(name, row) for row in cells)] for name in columns)
    left = len(rows) - len(cells)
    more = f"<p>... and {left:,} more rows</p>" if left else ""
    return f"<details open><summary>Reference:</summary>{html_table(['feature', *heads], lines)}{more}</details>"
