"""How many decisions need one reason, two, three."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.core import Status, kind_label
from sev.plots._bars import side_by_side
from sev.plots._headings import title
from sev.plots._shown import ChosenLanguage, ShownExplanations, models_of, speaker_of
from sev.plots._style import ENDINGS, FAINT, name_text
from sev.text import Speaker

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def sizes(
    explanations: ShownExplanations | Mapping[str, ShownExplanations],
    *,
    ax: Axes | None = None,
    share: bool = True,
    language: ChosenLanguage = None,
) -> Axes:
    """Draw the distribution of sparse explanation values, of one model or of several side by side.

    Unexplainable and undecided rows, and errors, have bars of their own. Rows that are not of the class being explained
    are not counted.

    Parameters
    ----------
    explanations : Explanations or mapping of str to Explanations
        A batch, or one for each model.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    share : bool, default=True
        Draw shares of the explained rows; False draws their numbers.
    language : str, path or mapping, default=None
        "en", "de" or "es"; a YAML file, or its content. None is the language of the labels.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> many = explainer.explain(X)
    >>> ax = sev.plots.sizes({"all features": many, "without age": explainer.explain(X, restricted=["age"])})
    """
    models = models_of(explanations, "sizes")
    speaker = speaker_of(next(iter(models.values())), language)
    ax = side_by_side(
        _prepare(models),
        ax,
        speaker,
        share=share,
        axis_label=speaker.text("plot_share_of_rows" if share else "plot_explained_rows"),
        names={name: speaker.text(f"status_{name}") for name in ENDINGS},
    )
    ax.set_xlabel(speaker.text("plot_smallest_set"), color=FAINT)
    kinds = sorted({kind_label(many.kind) for many in models.values()})
    title(ax, speaker.text("plot_sizes", label=speaker.join(kinds)), _make_subtitle(models, speaker))
    return ax


def _prepare(models: Mapping[str, ShownExplanations]) -> pd.DataFrame:
    """One line for each model and each bar: ``series``, ``size`` (a text), ``count``, ``explained``, ``share``."""
    found = np.concatenate([[1.0], *(many.sizes[~np.isnan(many.sizes)] for many in models.values())])
    ended = [name for name in ENDINGS if any((many.statuses == name).any() for many in models.values())]
    lines = []
    for model, many in models.items():
        explained = int((many.statuses != Status.NOT_TARGET).sum())
        for size in range(int(found.min()), int(found.max()) + 1):
            lines.append((model, str(size), int((many.sizes == size).sum()), explained))
        for name in ended:
            lines.append((model, name, int((many.statuses == name).sum()), explained))
    table = pd.DataFrame(lines, columns=["series", "size", "count", "explained"])
    return table.assign(share=table["count"] / table["explained"].clip(lower=1))


def _make_subtitle(models: Mapping[str, ShownExplanations], speaker: Speaker) -> str:
    parts = []
    for model, many in models.items():
        count = int((many.statuses != Status.NOT_TARGET).sum())
        found = int((~np.isnan(many.sizes)).sum())
        words = [speaker.text("plot_count_explained", n=speaker.count(count))]
        if found:
            # means of several models are over other rows: those in which each found a set
            name = "plot_mean" if found == count else "plot_mean_of"
            words.append(speaker.text(name, value=speaker.number(many.mean_size(), ".2f"), n=speaker.count(found)))
        parts.append(f"{name_text(model)}{': ' if model else ''}{', '.join(words)}")
    return "   ".join(parts)
