"""Bars of several series side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sev.plots._style import ENDINGS, FAINT, HATCHES, INK, LITERAL, PAPER, SERIES, bare, legend, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def side_by_side(table: pd.DataFrame, ax: Axes | None, *, share: bool, of: str) -> Axes:
    """Draw a table with the columns ``series``, ``size``, ``count`` and ``share``.

    Parameters
    ----------
    table : DataFrame
        Each series has a line for each size, in the same order.
    ax : Axes or None
        Where to draw.
    share : bool
        Draw shares, or numbers.
    of : str
        What is counted.
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
            _dress(bar, size, number)
        labels = [_number(value, share) for value in heights]
        ax.bar_label(drawn, labels, padding=2, fontsize=8 if len(series) < 3 else 7, color=INK)
        handles.append(drawn[0])
    ax.set_xticks(range(len(columns)), columns, **LITERAL)
    ax.set_ylabel(f"share of {of}" if share else of, color=FAINT)
    if share:
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.margins(y=0.14)
    bare(ax, grid="y")
    if len(series) > 1:
        legend(ax, handles, series)
    return ax


def _dress(bar: Any, size: str, number: int) -> None:
    """Endings without a set are grey and hatched; series differ by hatch as well as by colour."""
    if size in ENDINGS:
        colour, hatch = ENDINGS[size]
        edge = SERIES[number % len(SERIES)]
        bar.set(facecolor=colour, hatch=hatch, edgecolor=edge, linewidth=1 if bar.get_height() else 0)
    else:
        bar.set(hatch=HATCHES[number % len(HATCHES)])


def _number(value: float, share: bool) -> str:
    if not value:
        return "0"
    return (f"{value:.0%}" if value >= 0.01 else "<1%") if share else f"{value:,.0f}"
