"""Which features the explanations use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from sev.plots._headings import title
from sev.plots._shown import ChosenLanguage, ShownExplanations, join_notes, models_of, share_text, speaker_of
from sev.plots._style import FAINT, HATCHES, INK, LITERAL, PAPER, SERIES, bare, legend, name_text, name_texts, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Inches that a letter of a name takes.
_LETTER_WIDTH = 0.085


def feature_shares(
    explanations: ShownExplanations | Mapping[str, ShownExplanations],
    *,
    ax: Axes | None = None,
    sets: Literal["first", "any"] = "first",
    max_features: int = 20,
    language: ChosenLanguage = None,
) -> Axes:
    """Draw the share of explained rows whose explanation uses each feature.

    Restricted features stay in the picture, marked as such.

    Parameters
    ----------
    explanations : Explanations or mapping of str to Explanations
        A batch, or one for each model.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    sets : {"first", "any"}, default="first"
        Look at the first minimum set of a row, or at all of them.
    max_features : int, default=20
        The most used features are drawn; a line below them counts the others.
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
    >>> ax = sev.plots.feature_shares(explainer.explain(X), sets="any")
    """
    models = models_of(explanations, "feature_shares")
    table = _prepare(models, sets, max_features)
    features = table[table["model"] == next(iter(models))]
    speaker = speaker_of(next(iter(models.values())), language)
    names = name_texts([speaker.label(name) for name in features["feature"]])
    ax = new_axes(ax, _figure_width(names, models), 1.2 + len(features) * (0.18 + 0.14 * len(models)))
    height = 0.8 / len(models)
    handles = []
    for number, model in enumerate(models):
        bars = table[table["model"] == model]
        places = np.arange(len(bars)) + (number - (len(models) - 1) / 2) * height
        colour, hatch = SERIES[number % len(SERIES)], HATCHES[number % len(HATCHES)]
        drawn = ax.barh(places, bars["share"], height * 0.9, color=colour, hatch=hatch, edgecolor=PAPER, linewidth=0)
        labels = [
            speaker.text("report_restricted") if restricted else share_text(share, speaker)
            for share, restricted in zip(bars["share"], bars["restricted"], strict=True)
        ]
        for text, restricted in zip(
            ax.bar_label(drawn, labels, padding=3, fontsize=8), bars["restricted"], strict=True
        ):
            text.set(color=FAINT if restricted else INK, style="italic" if restricted else "normal")
        handles.append(drawn[0])
    ax.set_yticks(range(len(features)), names, **LITERAL)
    for tick, everywhere in zip(ax.get_yticklabels(), _restricted_everywhere(table, features), strict=True):
        tick.set(color=FAINT if everywhere else INK, style="italic" if everywhere else "normal")
    ax.set_ylim(len(features) - 0.4, -0.6)
    ax.set_xlim(0, max(float(table["share"].max()) * 1.15, 0.01))
    ax.xaxis.set_major_formatter(lambda value, _: speaker.percent(value, ".0f"))
    ax.set_xlabel(speaker.text("plot_share_of_rows"), color=FAINT)
    bare(ax, grid="x")
    left_out = len({name for many in models.values() for name in many.feature_names}) - len(features)
    which = speaker.text(f"plot_{sets}_set")
    rarely = "plot_less_or_never" if len(features) >= max_features else "report_never_used"
    rest = speaker.text(rarely, n=speaker.count(left_out)) if left_out > 0 else ""
    if len(models) > 1:
        legend(ax, handles, list(models))
    title(ax, speaker.text("report_shares"), join_notes(which, rest))
    return ax


def _prepare(models: Mapping[str, ShownExplanations], sets: Literal["first", "any"], max_features: int) -> pd.DataFrame:
    """One line for each model and feature: ``model``, ``feature``, ``share``, ``restricted``, most used ones first."""
    shares = pd.DataFrame({model: many.feature_shares(sets) for model, many in models.items()}, dtype=float).fillna(0.0)
    in_order = [name for many in models.values() for name in many.feature_names]
    shares = shares.reindex(list(dict.fromkeys(in_order)))
    restricted = {name for many in models.values() for name in many.restricted}
    order = shares.max(axis=1).sort_values(ascending=False, kind="stable").index
    # restricted features are never among those left out
    used = [name for name in order if name not in restricted and shares.loc[name].max() > 0]
    kept = used[: max(max_features - len(restricted), 1)]
    chosen = [name for name in order if name in restricted or name in kept]
    return pd.DataFrame(
        [
            (model, name, float(shares.loc[name, model]), name in many.restricted)
            for model, many in models.items()
            for name in chosen
        ],
        columns=["model", "feature", "share", "restricted"],
    )


def _figure_width(names: list[str], models: Mapping[str, ShownExplanations]) -> float:
    """Inches that leave the bars at least half of the usual width beside long names and a legend."""
    legend_width = 0.7 + _LETTER_WIDTH * max(len(name_text(model, 48)) for model in models) if len(models) > 1 else 0.0
    return max(6.4, 3.2 + _LETTER_WIDTH * max(map(len, names)) + legend_width)


def _restricted_everywhere(table: pd.DataFrame, features: pd.DataFrame) -> list[bool]:
    everywhere = table.groupby("feature")["restricted"].all()
    return [bool(everywhere[name]) for name in features["feature"]]
