"""Bars of several series side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.plots._shown import share_text
from sev.plots._style import ENDINGS, FAINT, HATCHES, INK, LITERAL, PAPER, SERIES, bare, legend, new_axes
from sev.text import Speaker

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle


def side_by_side(
    table: pd.DataFrame, ax: Axes | None, speaker: Speaker, *, share: bool, axis_label: str, names: Mapping[str, str]
) -> Axes:
    """Draw a table with the columns ``series``, ``size``, ``count`` and ``share``.

    Parameters
    ----------
    table : DataFrame
        Each series has a line for each size, in the same order.
    ax : Axes or None
        Where to draw.
    speaker : Speaker
        How numbers are written.
    share : bool
        Draw shares, or numbers.
    axis_label : str
        What is counted.
    names : mapping of str to str
        What sizes that are not numbers are called.
    """
    columns = list(dict.fromkeys(table["size"]))
    series = list(dict.fromkeys(table["series"]))
    ax = new_axes(ax, max(5.6, 1.4 + len(columns) * (0.3 + 0.38 * len(series))), 3.7)
    width = 0.84 / len(series)
    handles = []
    for number, name in enumerate(series):
        bars = table[table["series"] == name]
        heights = (bars["share"] if share else bars["count"]).to_numpy()
        places = np.arange(len(columns)) + (number - (len(series) - 1) / 2) * width
        # white edges show up as white hatches on the bars
        drawn = ax.bar(places, heights, width * 0.94, color=SERIES[number % len(SERIES)], edgecolor=PAPER, linewidth=0)
        for bar, size in zip(drawn, columns, strict=True):
            _style_bar(bar, size, number)
        labels = [_format_number(value, speaker, share=share) for value in heights]
        ax.bar_label(drawn, labels, padding=2, fontsize=8 if len(series) < 3 else 7, color=INK)
        handles.append(drawn[0])
    ax.set_xticks(range(len(columns)), [names.get(size, size) for size in columns], **LITERAL)
    ax.set_ylabel(axis_label, color=FAINT)
    if share:
        ax.yaxis.set_major_formatter(lambda value, _: speaker.percent(value, ".0f"))
    else:
        ax.locator_params(axis="y", integer=True)
        ax.yaxis.set_major_formatter(lambda value, _: speaker.count(round(value)))
    ax.margins(y=0.14)
    bare(ax, grid="y")
    if len(series) > 1:
        legend(ax, handles, series)
    return ax


def _style_bar(bar: Rectangle, size: str, number: int) -> None:
    """Endings without a set are grey and hatched; series differ by hatch as well as by colour."""
    if size in ENDINGS:
        colour, hatch = ENDINGS[size]
        edge = SERIES[number % len(SERIES)]
        bar.set(facecolor=colour, hatch=hatch, edgecolor=edge, linewidth=1 if bar.get_height() else 0)
    else:
        bar.set(hatch=HATCHES[number % len(HATCHES)])


def _format_number(value: float, speaker: Speaker, *, share: bool) -> str:
    if not value:
        return "0"
    return share_text(value, speaker) if share else speaker.count(int(value))
