"""Accuracy against the mean size of explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from sev.exceptions import InputError
from sev.plots._headings import title
from sev.plots._points import labelled_points
from sev.plots._style import FAINT, bare, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def tradeoff(
    table: pd.DataFrame, *, ax: Axes | None = None, accuracy: str = "accuracy", size: str = "mean_size"
) -> Axes:
    """Draw models as points: how often they are right against how many features explain a decision.

    Parameters
    ----------
    table : DataFrame
        One line for each model, its name in the index, such as ``sev.compare`` gives.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    accuracy, size : str
        The columns to draw.

    Returns
    -------
    Axes
        Models without a single explained row have no mean size and are named under the title.
    """
    points, without = _prepare(table, accuracy, size)
    ax = new_axes(ax, 6.4, 3.8)
    labelled_points(ax, points[size].to_numpy(), points[accuracy].to_numpy(), [str(name) for name in points.index])
    ax.set_xlabel("mean number of features in the smallest set", color=FAINT)
    ax.set_ylabel(accuracy, color=FAINT)
    ax.margins(x=0.12, y=0.25)
    bare(ax, grid="y")
    lost = f"; no explained rows: {', '.join(without)}" if without else ""
    title(ax, "Accuracy and sparsity", f"high and left is better{lost}")
    return ax


def _prepare(table: pd.DataFrame, accuracy: str, size: str) -> tuple[pd.DataFrame, list[str]]:
    """The points, and the models that have none."""
    missing = [name for name in (accuracy, size) if name not in table.columns]
    if missing:
        raise InputError(f"The table lacks the columns {missing}; it has {list(table.columns)}.")
    points = table[[accuracy, size]].astype(float)
    known = points.notna().all(axis=1)
    return points[known], [str(name) for name in table.index[~known]]
