"""Accuracy against the mean size of explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from sev.core import kind_label
from sev.exceptions import InputError
from sev.plots._headings import title
from sev.plots._points import labelled_points
from sev.plots._shown import ChosenLanguage, check_table, join_notes
from sev.plots._style import FAINT, LITERAL, bare, name_text, new_axes, number_ticks
from sev.text import Speaker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Columns of mean sizes, those of :func:`sev.compare` among them, and the text that names each.
_SIZES = {
    "mean_size": ("plot_mean_size", ""),
    "sev_minus": ("plot_mean_kind", kind_label("minus")),
    "sev_plus": ("plot_mean_kind", kind_label("plus")),
    "sev_restricted": ("plot_mean_restricted", ""),
}


def tradeoff(
    table: pd.DataFrame,
    *,
    ax: Axes | None = None,
    accuracy: str = "accuracy",
    size: str | None = None,
    language: ChosenLanguage = None,
) -> Axes:
    """Draw models as points: accuracy against the mean number of features that explain a decision.

    Parameters
    ----------
    table : DataFrame
        One line for each model, its name in the index, such as :func:`sev.compare` returns.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    accuracy : str, default="accuracy"
        The column on the vertical axis.
    size : str, default=None
        The column on the horizontal axis; None takes the first of ``mean_size``, ``sev_minus``, ``sev_plus`` and
        ``sev_restricted`` that the table has.
    language : str, path or mapping, default=None
        "en", "de" or "es"; a YAML file, or its content. None is English.

    Returns
    -------
    Axes
        Models without a single explained row have no mean size and are named under the title.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> table = pd.DataFrame({"accuracy": [0.81, 0.8], "sev_minus": [1.9, 1.1]}, index=["base", "tuned"])
    >>> sev.plots.tradeoff(table).get_xlabel()
    'mean SEV-: features in the smallest set'
    """
    check_table(table, "tradeoff")
    speaker = Speaker({}, language=language)
    size = _size_column(table) if size is None else size
    points, without = _prepare(table, accuracy, size)
    ax = new_axes(ax, 6.4, 3.8)
    labelled_points(ax, points[size].to_numpy(), points[accuracy].to_numpy(), [str(name) for name in points.index])
    ax.set_xlabel(_size_text(size, speaker), color=FAINT, **LITERAL)
    up = speaker.text("plot_accuracy") if accuracy == "accuracy" else name_text(accuracy)
    ax.set_ylabel(up, color=FAINT, **LITERAL)
    ax.margins(x=0.12, y=0.25)
    for axis in (ax.xaxis, ax.yaxis):
        number_ticks(axis, speaker.raw("decimal"))
    bare(ax, grid="y")
    lost = speaker.text("plot_no_rows", what=", ".join(without)) if without else ""
    title(ax, speaker.text("plot_tradeoff"), join_notes(speaker.text("plot_high_left"), lost))
    return ax


def _size_text(size: str, speaker: Speaker) -> str:
    """What a column of mean sizes is called; one of the user's own keeps its name."""
    if size not in _SIZES:
        return name_text(size)
    name, label = _SIZES[size]
    return speaker.text(name, label=label)


def _size_column(table: pd.DataFrame) -> str:
    """The column of mean sizes that a table has."""
    for name in _SIZES:
        if name in table.columns:
            return name
    raise InputError(
        f"The table has no column of mean sizes ({', '.join(_SIZES)}): name one with size=; it has "
        f"{list(table.columns)}."
    )


def _prepare(table: pd.DataFrame, accuracy: str, size: str) -> tuple[pd.DataFrame, list[str]]:
    """The points, and the models that have none."""
    missing = [name for name in (accuracy, size) if name not in table.columns]
    if missing:
        raise InputError(f"The table lacks the columns {missing}; it has {list(table.columns)}.")
    points = table[[accuracy, size]].astype(float)
    known = points.notna().all(axis=1)
    return points[known], [str(name) for name in table.index[~known]]
