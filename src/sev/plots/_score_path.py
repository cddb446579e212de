"""The score on its way to the other side of the threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sev.exceptions import InputError
from sev.plots import _style as style
from sev.plots._headings import title
from sev.plots._shown import ChosenLanguage, ShownExplanation, check_one, credibility_text, join_notes, speaker_of
from sev.text import Speaker

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def score_path(
    explanation: ShownExplanation, *, ax: Axes | None = None, explainer: Any = None, language: ChosenLanguage = None
) -> Axes:
    """Draw the score as the features of the first set are changed one by one, against the threshold.

    Parameters
    ----------
    explanation : Explanation
        One that has a set.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    explainer : Explainer, default=None
        Needed only for explanations that were read from a file, which do not carry the model.
    language : str, path or mapping, default=None
        "en", "de" or "es"; a YAML file, or its content. None is the language of the labels.

    Returns
    -------
    Axes

    Raises
    ------
    InputError
        If the explanation has no set.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> ax = sev.plots.score_path(explainer.explain_one(X.iloc[5]))
    """
    check_one(explanation, "score_path")
    speaker = speaker_of(explanation, language)
    target = style.name_text(speaker.decision(explanation.target))
    table = _prepare(explanation, explainer, speaker)
    ax = style.new_axes(ax, 7.2, 1.5 + 0.42 * len(table))
    places = np.arange(len(table))
    scores = table["score"].to_numpy()
    low, high = _find_limits(scores, explanation.threshold)
    ax.axvspan(explanation.threshold, high, color=style.POSITIVE_PALE, alpha=0.55, linewidth=0)
    ax.axvspan(low, explanation.threshold, color=style.NEGATIVE_PALE, alpha=0.55, linewidth=0)
    ax.axvline(explanation.threshold, color=style.INK, linestyle=(0, (4, 3)), linewidth=1.2)
    for place in places[1:]:
        start, end = scores[place - 1], scores[place]
        ax.plot([start, start], [place - 1, place], color=style.FAINT, linewidth=1, linestyle=":")
        arrow = {"arrowstyle": "-|>", "color": style.INK, "linewidth": 2, "shrinkA": 0, "shrinkB": 5}
        ax.annotate("", (end, place), (start, place), arrowprops=arrow)
    for place, score, positive in zip(places, scores, table["positive"], strict=True):
        colour, marker = (style.POSITIVE, "o") if positive else (style.NEGATIVE, "s")
        ax.scatter(score, place, s=80, color=colour, marker=marker, edgecolor=style.PAPER, zorder=4)
        ax.annotate(
            speaker.number(score),
            (score, place),
            xytext=(0, 8),
            textcoords="offset points",
            ha="center",
            fontsize=8.5,
            color=style.INK,
            bbox={"facecolor": style.PAPER, "edgecolor": "none", "alpha": 0.75, "pad": 0.8},
        )
    ax.set_yticks(places, table["label"].tolist(), **style.LITERAL)
    ax.set_ylim(len(table) - 0.6, -0.75)
    ax.set_xlim(low, high)
    ax.set_xlabel(speaker.text("plot_score_of", target=target), color=style.FAINT, **style.LITERAL)
    style.number_ticks(ax.xaxis, speaker.raw("decimal"))
    style.bare(ax)
    note = speaker.text("plot_path_note", threshold=speaker.number(explanation.threshold), target=target)
    title(
        ax,
        speaker.text("plot_path_below" if explanation.kind == "minus" else "plot_path_above"),
        join_notes(note, credibility_text(explanation, speaker)),
    )
    return ax


def _prepare(explanation: ShownExplanation, explainer: Any, speaker: Speaker) -> pd.DataFrame:
    """One line a step: ``label``, ``feature``, ``score``, ``positive``."""
    if not explanation.sets:
        raise InputError(f"There is no path to draw: the explanation is {explanation.status}.")
    table = explanation.path_scores(explainer=explainer)
    start, donor = ("query", explanation.reference) if explanation.kind == "minus" else ("reference", explanation.query)
    labels = [speaker.text(f"plot_{start}")]
    for name in table["feature"][1:]:
        value = style.name_text(speaker.value(name, donor), 30)
        labels.append(f"{style.name_text(speaker.label(name), 28)} → {value}")
    return table.assign(label=labels)


def _find_limits(scores: np.ndarray, threshold: float) -> tuple[float, float]:
    low, high = min(scores.min(), threshold), max(scores.max(), threshold)
    if low >= 0 and high <= 1:
        return -0.03, 1.03  # probabilities, with space for the points at the ends
    space = 0.1 * ((high - low) or 1.0)
    return float(low - space), float(high + space)
