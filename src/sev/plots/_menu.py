"""The sets of features that could change one decision, with what each would have to become and its cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from sev.exceptions import InputError
from sev.plots import _style as style
from sev.plots._headings import title
from sev.plots._lines import height_of, inches_of, shrink_to, wrap_text
from sev.plots._shown import ChosenLanguage, check_table, join_notes
from sev.text import Labels, Speaker, menu_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW, _BARS = 0.3, 1.6
_POINTS, _NAME_LETTERS, _TEXT_LETTERS = 9.0, 44, 84
_COLUMNS = ("features", "size", "outcome", "old", "changes", "enough", "cost", "searched")


def menu(
    table: pd.DataFrame,
    *,
    ax: Axes | None = None,
    labels: Labels | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    max_sets: int = 15,
    language: ChosenLanguage = None,
) -> Axes:
    """Draw what :meth:`sev.Explainer.menu` returned: the sets that work, least costly first for each size.

    Parameters
    ----------
    table : DataFrame
        The menu.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    labels : Labels, default=None
        Names of features and values, such as ``explainer.labels``.
    limits : mapping, default=None
        The smallest and the largest value of numbers, such as ``many.limits``.
    max_sets : int, default=15
        How many sets to draw.
    language : str, path or mapping, default=None
        "en", "de" or "es"; a YAML file, or its content. None is the language of the labels.

    Returns
    -------
    Axes

    Raises
    ------
    InputError
        If the table is not one that :meth:`sev.Explainer.menu` returned.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> ax = sev.plots.menu(explainer.menu(X.iloc[5], max_size=2))
    """
    check_table(table, "menu")
    missing = [name for name in _COLUMNS if name not in table.columns]
    if missing:
        raise InputError(f"The menu lacks the column {missing[0]!r}: pass what explainer.menu(row) returned.")
    labels = Labels() if labels is None else labels
    speaker = Speaker({}, language=labels.language if language is None else language)
    drawn = _prepare(table, labels if language is None else replace(labels, language=language), limits, max_sets)
    names = [wrap_text(name, _NAME_LETTERS) for name in drawn["features"]]
    texts = [wrap_text(text, _TEXT_LETTERS) for text in drawn["changes"]]
    left = 0.3 + max(0.7, inches_of(names, _POINTS, bold=True))
    middle = 0.3 + max(1.0, inches_of(texts, _POINTS))
    heights = [
        max(_ROW, 0.12 + height_of(max(pair, key=_count_lines), _POINTS)) for pair in zip(names, texts, strict=True)
    ]
    width, height = left + middle + _BARS + 0.6, max(sum(heights), _ROW) + 1.1
    points = _POINTS * (1.0 if ax is None else shrink_to(ax, width, height))
    ax = style.new_axes(ax, width, height)
    _draw_rows(ax, drawn, names, texts, heights, (left, left + middle), points, speaker)
    ax.set_xlim(-0.05, width - 0.05)
    ax.set_ylim(max(sum(heights), _ROW), -0.05)
    style.empty(ax)
    title(ax, *_make_headings(table, len(drawn), speaker))
    return ax


def _draw_rows(
    ax: Axes,
    drawn: pd.DataFrame,
    names: list[str],
    texts: list[str],
    heights: list[float],
    starts: tuple[float, float],
    points: float,
    speaker: Speaker,
) -> None:
    """One line for each set: its features, what they would have to become, and a bar for the cost; in inches."""
    top = float(drawn["cost"].max()) if len(drawn) else 1.0
    y = 0.0
    for name, text, cost, height in zip(names, texts, drawn["cost"], heights, strict=True):
        middle, end = y + height / 2, starts[1] + _BARS * cost / (top or 1.0)
        ax.text(0, middle, name, va="center", fontsize=points, fontweight="bold", color=style.INK, **style.LITERAL)
        ax.text(starts[0], middle, text, va="center", fontsize=points, color=style.INK, **style.LITERAL)
        ax.barh(middle, end - starts[1], 0.55 * _ROW, left=starts[1], color=style.NEGATIVE)
        ax.text(end + 0.06, middle, speaker.number(cost, ".2g"), va="center", fontsize=points, color=style.FAINT)
        y += height


def _count_lines(text: str) -> int:
    return text.count("\n")


def _prepare(
    table: pd.DataFrame, labels: Labels, limits: Mapping[str, tuple[float, float]] | None, max_sets: int
) -> pd.DataFrame:
    """The sets that work, in words, the smallest and least costly first."""
    working = table[table["outcome"] == "works"].sort_values(["size", "cost"], kind="stable")
    return menu_table(working.head(max_sets), labels, limits)


def _make_headings(table: pd.DataFrame, drawn: int, speaker: Speaker) -> tuple[str, str]:
    counts = table["outcome"].value_counts()
    works, stuck, open_sets = (int(counts.get(name, 0)) for name in ("works", "cannot work", "not decided"))
    size = int(table["size"].max()) if len(table) else 0
    parts = [
        speaker.text("plot_menu_of", n=size),
        speaker.text("plot_menu_cannot", first=speaker.count(stuck)),
    ]
    if open_sets:
        parts.append(speaker.text("plot_menu_open", first=speaker.count(open_sets)))
    if works > drawn:
        parts.append(speaker.text("plot_menu_shown", n=speaker.count(drawn)))
    head = speaker.text("plot_menu", n=speaker.count(works)) if works else speaker.text("plot_menu_none")
    return head, join_notes(speaker.text("plot_menu_cost"), ", ".join(parts))
