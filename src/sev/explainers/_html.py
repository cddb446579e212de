"""An explainer as notebooks show it."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sev.explainers._explainer import Explainer

_MOST_FEATURES = 12


def explainer_as_html(explainer: Explainer) -> str:
    """Model, how it is searched and why, what decisions are compared with, and the features."""
    names = explainer.feature_names
    listed = ", ".join(names[:_MOST_FEATURES]) + (", ..." if len(names) > _MOST_FEATURES else "")
    target = f"{explainer.target!r}, from a score of {explainer.threshold:.6g} on"
    facts = {
        "Model": type(explainer.model).__name__,
        "Class being explained": target if explainer.target != "predicted" else "each row's own predicted class",
        "Search": explainer.backend,
        "Why not exact": explainer.backend_reason,
        "Reference": explainer.reference_name,
        "Features": f"{len(names)}: {listed}",
        "Restricted": ", ".join(explainer.restricted),
    }
    rows = "".join(
        f"<tr><th style='text-align: left'>{label}</th><td style='text-align: left'>{html.escape(value)}</td></tr>"
        for label, value in facts.items()
        if value
    )
    reference = explainer.reference.to_html(escape=True, index=False)
    return f"<p><strong>sev.Explainer</strong></p><table>{rows}</table><p>Reference:</p>{reference}"
