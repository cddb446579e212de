"""What would have to change, on the distribution of each feature: where it is, and the values that do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np
import pandas as pd

from sev.core import Status
from sev.exceptions import InputError
from sev.plots import _style as style
from sev.plots._headings import title
from sev.plots._lines import height_of, inches_of, shrink_to, wrap_text
from sev.plots._shown import ChosenLanguage, ShownExplanation, check_one, credibility_text, join_notes, speaker_of
from sev.text import EnoughRange, Speaker, enough_in_text
from sev.typing import ColumnLabel, FloatArray, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR, _ROW = 4.2, 0.72
_POINTS, _NAME_LETTERS, _TEXT_LETTERS = 9.0, 30, 48
_BINS, _MOST_CATEGORIES = 28, 8


def ranges(
    explanation: ShownExplanation, *, ax: Axes | None = None, number: int = 0, language: ChosenLanguage = None
) -> Axes:
    """Draw each changed feature on a bar of its values: distribution, the row's value, and what is enough.

    Parameters
    ----------
    explanation : Explanation
        One that has a set.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    number : int, default=0
        Place of the set in ``explanation.sets``.
    language : str, path or mapping, default=None
        "en", "de" or "es"; a YAML file, or its content. None is the language of the labels.

    Returns
    -------
    Axes

    Raises
    ------
    InputError
        If the explanation has no set at this place.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> ax = sev.plots.ranges(explainer.explain_one(X.iloc[4], values="any"))
    """
    check_one(explanation, "ranges")
    if not explanation.sets:
        raise InputError(f"There is no change to draw: the status is {explanation.status}.")
    if not 0 <= number < len(explanation.sets):
        raise InputError(
            f"number={number} is not a set of this explanation, which has {len(explanation.sets)}, from 0 on."
        )
    speaker = speaker_of(explanation, language)
    table = _prepare(explanation, number, speaker)
    names = [wrap_text(name, _NAME_LETTERS) for name in table["label"]]
    texts = [wrap_text(text, _TEXT_LETTERS) for text in table["text"]]
    left = max(1.2, 0.25 + inches_of(names, _POINTS))
    right = max(1.6, 0.25 + inches_of(texts, _POINTS))
    heights = [
        max(_ROW, 0.2 + height_of(max(pair, key=_count_lines), _POINTS)) for pair in zip(names, texts, strict=True)
    ]
    width, height = left + _BAR + right, sum(heights) + 1.0
    points = _POINTS * (1.0 if ax is None else shrink_to(ax, width, height))
    ax = style.new_axes(ax, width, height)
    # one unit of height is one line of a single row
    ends = np.cumsum(heights) / _ROW
    rows = ends - np.array(heights) / _ROW / 2
    for row, name, text, line in zip(rows, names, texts, table.to_dict("records"), strict=True):
        ax.text(-0.15, row, name, ha="right", va="center", fontsize=points, color=style.INK, **style.LITERAL)
        ax.text(_BAR + 0.15, row, text, ha="left", va="center", fontsize=points, color=style.NEGATIVE, **style.LITERAL)
        (_draw_number if line["categories"] is None else _draw_categories)(ax, row, line, speaker)
    ax.set_xlim(-left, _BAR + right)
    ax.set_ylim(ends[-1] + 0.15, -0.12)
    style.empty(ax)
    target = style.name_text(speaker.decision(explanation.target))
    known = any(line is not None for line in table["enough"])
    notes = (
        speaker.text("plot_ranges_marks"),
        speaker.text("plot_ranges_proven") if known else "",
        speaker.text("plot_ranges_background"),
        "" if explanation.status is Status.OPTIMAL else speaker.text("plot_not_ruled_out"),
        credibility_text(explanation, speaker) if number == 0 else "",
    )
    title(ax, speaker.text("plot_ranges", target=target, n=len(table)), join_notes(*notes))
    return ax


def _prepare(explanation: ShownExplanation, number: int, speaker: Speaker) -> pd.DataFrame:
    """One line a feature: its label, old and new value, the values that do, where the background has its values, and
    the change in words.
    """
    background = explanation.background()
    query, made = explanation.query, explanation.donor_of(number)
    old, new = (query, made) if explanation.kind == "minus" else (explanation.reference, made)
    lines = []
    for name in explanation.sets[number]:
        enough = enough_in_text(explanation.enough_of(number).get(name))
        columns = explanation.columns[name]
        line: dict[str, object] = {
            "feature": name,
            "label": speaker.label(name),
            "text": speaker.change(name, old, new, enough, explanation.limits),
            "enough": enough,
        }
        if len(columns) == 1 and name in explanation.limits and not isinstance(enough, list):
            values = _take_numbers(background, columns[0])
            ends = [*explanation.limits[name], *(float(row[columns[0]]) for row in (old, new))]
            finite = [end for end in ends if np.isfinite(end)]
            line |= {"old": float(old[columns[0]]), "new": float(new[columns[0]]), "values": values}
            line |= {"low": min(finite), "high": max(finite), "categories": None}
        else:
            line |= _count_categories(speaker, name, columns, background, old, new, enough)
        lines.append(line)
    return pd.DataFrame(lines).astype({"enough": object, "categories": object, "values": object})


def _count_lines(text: str) -> int:
    return text.count("\n")


def _take_numbers(background: pd.DataFrame | None, column: ColumnLabel) -> FloatArray:
    if background is None or column not in background.columns:
        return np.zeros(0)
    values = background[column].to_numpy(dtype=np.float64, na_value=np.nan)
    return values[np.isfinite(values)]


def _count_categories(
    speaker: Speaker,
    name: str,
    columns: tuple[ColumnLabel, ...],
    background: pd.DataFrame | None,
    old: Row,
    new: Row,
    enough: object,
) -> dict[str, object]:
    """Shares of the values of a feature without numbers, those of the row and of the change first of all."""

    def told(row: Row) -> str:
        return str(speaker.value(name, row))

    cells = pd.DataFrame(columns=list(columns)) if background is None else background.reindex(columns=list(columns))
    counts = pd.Series([told(row) for row in cells.to_dict("records")], dtype=object).value_counts()
    do = {told(new)}
    for value in enough if isinstance(enough, list) else ():
        do.add(told(dict(zip(columns, value if len(columns) > 1 else (value,), strict=True))))
    listed = list(dict.fromkeys([told(old), *sorted(do), *counts.index]))
    shares = {one: max(float(counts.get(one, 0)) / max(len(cells), 1), 0.03) for one in listed}
    kept = listed[: max(_MOST_CATEGORIES, 1 + len(do))]
    total = sum(shares[one] for one in kept)
    parts = [(one, shares[one] / total, "old" if one == told(old) else "do" if one in do else "") for one in kept]
    return {"old": told(old), "new": told(new), "values": None, "low": 0.0, "high": 1.0, "categories": parts}


class _NumberLine(TypedDict):
    """What is drawn of a number."""

    low: float
    high: float
    old: float
    new: float
    values: FloatArray
    enough: EnoughRange | None


class _CategoryLine(TypedDict):
    """What is drawn of categories: name, share, and whether it is the row's own or one that does."""

    new: str
    categories: list[tuple[str, float, Literal["old", "do", ""]]]


def _draw_number(ax: Axes, row: float, line: _NumberLine, speaker: Speaker) -> None:
    low, high = line["low"], line["high"]

    def at(value: float) -> float:
        return _BAR * (min(max(value, low), high) - low) / ((high - low) or 1.0)

    if len(line["values"]) and high > low:
        counts, edges = np.histogram(line["values"], bins=_BINS, range=(low, high))
        heights = 0.42 * counts / max(counts.max(), 1)
        ax.bar(
            [at(edge) for edge in edges[:-1]], -heights, _BAR / _BINS, bottom=row + 0.14, align="edge",
            color=style.LINE, linewidth=0,
        )  # fmt: skip
    ax.plot([0, _BAR], [row + 0.14] * 2, color=style.FAINT, linewidth=1)
    if isinstance(line["enough"], tuple):
        start, end = at(line["enough"][0]), at(line["enough"][1])
        ax.plot([start, max(end, start + 0.03)], [row + 0.14] * 2, color=style.NEGATIVE, linewidth=5, alpha=0.55,
                solid_capstyle="butt")  # fmt: skip
    for value, colour, marker in ((line["old"], style.POSITIVE, "o"), (line["new"], style.NEGATIVE, "s")):
        if np.isfinite(value):
            ax.scatter(at(value), row + 0.14, s=46, color=colour, marker=marker, edgecolor=style.PAPER, zorder=4)
    for x, side, value in ((0.0, "left", low), (_BAR, "right", high)):
        ax.text(x, row + 0.27, speaker.number(value, "g"), ha=side, va="top", fontsize=7, color=style.FAINT)


def _draw_categories(ax: Axes, row: float, line: _CategoryLine, _: Speaker) -> None:
    """A bar divided by shares; what the row has is orange and marked, what does is blue and hatched."""
    looks = {"old": (style.POSITIVE_PALE, ""), "do": (style.NEGATIVE_PALE, "///"), "": ("#EFEFEF", "")}
    x = 0.0
    for name, share, kind in line["categories"]:
        width = _BAR * share
        colour, hatch = looks[kind]
        ax.bar(x, 0.36, width, bottom=row - 0.18, align="edge", color=colour, edgecolor=style.PAPER, hatch=hatch)
        if kind == "old" or name == line["new"]:
            marker, colour = ("o", style.POSITIVE) if kind == "old" else ("s", style.NEGATIVE)
            ax.scatter(x + width / 2, row, s=46, color=colour, marker=marker, edgecolor=style.PAPER, zorder=4)
        x += width
