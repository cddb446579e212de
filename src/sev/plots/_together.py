"""Which features are used together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.plots._headings import title
from sev.plots._shown import ChosenLanguage, ShownExplanations, check_many, join_notes, share_text, speaker_of
from sev.plots._style import INK, LITERAL, PAPER, name_texts, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def together(
    explanations: ShownExplanations,
    *,
    ax: Axes | None = None,
    max_features: int = 12,
    language: ChosenLanguage = None,
) -> Axes:
    """Draw how often two features are in the same explanation.

    Parameters
    ----------
    explanations : Explanations
        A batch.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    max_features : int, default=12
        The most used ones are shown.
    language : str, path or mapping, default=None
        "en", "de" or "es"; a YAML file, or its content. None is the language of the labels.

    Returns
    -------
    Axes
        The diagonal holds the share of rows whose explanation uses a feature at all, in a frame.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> ax = sev.plots.together(explainer.explain(X))
    """
    check_many(explanations, "together")
    speaker = speaker_of(explanations, language)
    table = _prepare(explanations, max_features)
    ax = new_axes(ax, 2.6 + 0.52 * len(table), 1.7 + 0.42 * len(table))
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    values = table.to_numpy()
    pairs = values[~np.eye(len(values), dtype=bool)]
    # the scale is that of pairs: single features are used far more often and would wash them out
    top = float(pairs.max()) if pairs.size and pairs.max() > 0 else 1.0
    shown = np.where(np.eye(len(values), dtype=bool), np.nan, values)
    shown[np.triu_indices(len(values), 1)] = np.nan
    ax.imshow(
        shown,
        cmap=LinearSegmentedColormap.from_list("", [PAPER, "#CFE3F1", "#0072B2"]),
        vmin=0,
        vmax=top,
        aspect="auto",
    )
    for row in range(len(values)):
        for column in range(row + 1):
            share = values[row, column]
            single = row == column
            strong = not single and share > 0.75 * top
            text = share_text(share, speaker) if share else "·"
            ax.text(
                column,
                row,
                text,
                ha="center",
                va="center",
                fontsize=8,
                color=PAPER if strong else INK,
                fontweight="bold" if single else "normal",
            )
            if single:
                ax.add_patch(Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, fill=False, edgecolor="#9A9A9A"))
    names = name_texts([speaker.label(name) for name in table.index], 26)
    ax.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor", fontsize=9, **LITERAL)
    ax.set_yticks(range(len(names)), names, fontsize=9, **LITERAL)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    hidden = len(explanations.feature_names) - len(table)
    rest = speaker.text("plot_less_used", n=speaker.count(hidden)) if hidden else ""
    title(ax, speaker.text("plot_together"), join_notes(speaker.text("plot_together_note"), rest))
    return ax


def _prepare(explanations: ShownExplanations, max_features: int) -> pd.DataFrame:
    """Shares of pairs, of the most used features only, most used first."""
    shares = explanations.feature_shares()
    used = [name for name in shares.index[:max_features] if shares[name] > 0] or list(shares.index[:2])
    return explanations.feature_pairs().loc[used, used]
