"""Flip numbers against time, for several methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from sev.exceptions import InputError
from sev.plots._headings import title
from sev.plots._points import labelled_points
from sev.plots._shown import ChosenLanguage, check_table, join_notes
from sev.plots._style import FAINT, bare, name_text, new_axes, number_ticks
from sev.text import Speaker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = ("method", "query", "flips", "seconds")


def methods(table: pd.DataFrame, *, ax: Axes | None = None, language: ChosenLanguage = None) -> Axes:
    """Draw, for each method, the mean number of features that it changes against its mean time: low and left is best.

    Parameters
    ----------
    table : DataFrame
        One line for each method and query, with the columns ``method``, ``query``, ``flips`` (how many features the
        method changed to flip the decision, missing when it did not) and ``seconds``.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    language : str, path or mapping, default=None
        "en", "de" or "es"; a YAML file, or its content. None is English.

    Returns
    -------
    Axes
        Methods that leave queries without an answer say so; their mean is over the queries that have one.

    Raises
    ------
    InputError
        If the table lacks one of the columns.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> table = pd.DataFrame({"method": ["sev", "lime"], "query": [0, 0], "flips": [1, 2], "seconds": [0.01, 0.03]})
    >>> ax = sev.plots.methods(table)
    """
    speaker = Speaker({}, language=language)
    means = _prepare(table)
    ax = new_axes(ax, 6.4, 3.8)
    labels = [
        name_text(method, 24) + (f"  ({_tell_unanswered(share, speaker)})" if share else "")
        for method, share in zip(means.index, means["unanswered"], strict=True)
    ]
    ax.set_yscale("log")
    for axis in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
        axis(lambda value, _: _tell_seconds(value).replace(".", speaker.raw("decimal")))
    labelled_points(ax, means["flips"].to_numpy(), means["seconds"].to_numpy(), labels)
    ax.set_xlabel(speaker.text("plot_mean_changed"), color=FAINT)
    ax.set_ylabel(speaker.text("plot_mean_seconds"), color=FAINT)
    ax.set_xlim(0, 1.2 * max(float(means["flips"].max()), 1.0))
    ax.margins(y=0.25)
    number_ticks(ax.xaxis, speaker.raw("decimal"))
    bare(ax, grid="x")
    queries = speaker.text("plot_queries", n=speaker.count(table["query"].nunique()))
    title(ax, speaker.text("plot_methods"), join_notes(queries, speaker.text("plot_low_left")))
    return ax


def _tell_unanswered(share: float, speaker: Speaker) -> str:
    return speaker.text("plot_unanswered", share=speaker.percent(share, ".0f"))


def _tell_seconds(value: float) -> str:
    """Ticks at 1, 2 and 5 times a power of ten have a number."""
    return f"{value:g}" if f"{value:e}"[0] in "125" and value > 0 else ""


def _prepare(table: pd.DataFrame) -> pd.DataFrame:
    """One line for each method, in the order of the table: ``flips``, ``seconds``, ``unanswered`` (a share)."""
    checked_methods(table)
    groups = table.groupby("method", sort=False)
    return pd.DataFrame(
        {
            "flips": groups["flips"].mean(),
            "seconds": groups["seconds"].mean(),
            "unanswered": groups["flips"].agg(lambda flips: flips.isna().mean()),
        }
    )


def checked_methods(table: pd.DataFrame) -> None:
    """Raise unless the table has the columns of a comparison of methods."""
    check_table(table, "flips and plots.methods")
    missing = [name for name in _COLUMNS if name not in table.columns]
    if missing:
        raise InputError(f"The table lacks the columns {missing}: a comparison of methods has {list(_COLUMNS)}.")
