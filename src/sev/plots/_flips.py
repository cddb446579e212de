"""How many features each method changes to flip a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from sev.plots._bars import side_by_side
from sev.plots._headings import title
from sev.plots._methods import checked_methods
from sev.plots._shown import ChosenLanguage
from sev.plots._style import FAINT
from sev.text import Speaker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The bar of queries without an answer, and that of all numbers from some one on.
_NONE, _REST = "none", "rest"


def flips(table: pd.DataFrame, *, ax: Axes | None = None, most: int = 8, language: ChosenLanguage = None) -> Axes:
    """Draw how many features each method changes until the decision flips, as distributions side by side.

    Parameters
    ----------
    table : DataFrame
        One line for each method and query, with the columns ``method``, ``query``, ``flips`` (how many features the
        method changed to flip the decision, missing when it did not) and ``seconds``.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    most : int, default=8
        All flip numbers of at least this are in one bar.
    language : str, path or mapping, default=None
        "en", "de" or "es"; a YAML file, or its content. None is English.

    Returns
    -------
    Axes

    Raises
    ------
    InputError
        If the table lacks one of the columns.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> table = pd.DataFrame({"method": ["sev", "lime"], "query": [0, 0], "flips": [1, 2], "seconds": [0.01, 0.03]})
    >>> ax = sev.plots.flips(table)
    """
    speaker = Speaker({}, language=language)
    ax = side_by_side(
        _prepare(table, most),
        ax,
        speaker,
        share=True,
        axis_label=speaker.text("plot_share_of_queries"),
        names={_NONE: speaker.text("plot_none_found"), _REST: speaker.text("plot_or_more", first=most)},
    )
    ax.set_xlabel(speaker.text("plot_features_changed"), color=FAINT)
    title(ax, speaker.text("plot_flips"), speaker.text("plot_queries", n=speaker.count(table["query"].nunique())))
    return ax


def _prepare(table: pd.DataFrame, most: int) -> pd.DataFrame:
    """One line for each method and bar: ``series``, ``size`` (a text), ``count``, ``share``."""
    checked_methods(table)
    known = table["flips"].dropna().astype(int)
    top = min(int(known.max()) if len(known) else 1, most)
    names = [str(number) for number in range(1, top)] + [_REST if len(known) and known.max() > top else str(top)]
    if table["flips"].isna().any():
        names.append(_NONE)
    sizes = table["flips"].map(lambda flips: _NONE if pd.isna(flips) else names[min(max(int(flips), 1), top) - 1])
    counts = pd.crosstab(table["method"], sizes)
    lines = [
        (method, name, int(counts.loc[method].get(name, 0)), int(counts.loc[method].sum()))
        for method in dict.fromkeys(table["method"])
        for name in names
    ]
    bars = pd.DataFrame(lines, columns=["series", "size", "count", "queries"])
    return bars.assign(share=bars["count"] / bars["queries"])
