"""Where each row's explanation goes from one model to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.core import Status, python_value
from sev.exceptions import InputError
from sev.plots import _style as style
from sev.plots._headings import title
from sev.plots._shown import ChosenLanguage, ShownExplanations, check_many, join_notes, speaker_of
from sev.text import Speaker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NOT_TARGET = str(Status.NOT_TARGET)
_SHADES = ("#9ECAE1", "#4292C6", "#2171B5", "#08519C", "#08306B")
_NODE_WIDTH, _GAP, _LABEL_HEIGHT = 0.035, 0.025, 0.06


def flow(
    before: ShownExplanations,
    after: ShownExplanations,
    *,
    ax: Axes | None = None,
    labels: tuple[str, str] | None = None,
    language: ChosenLanguage = None,
) -> Axes:
    """Draw how the sizes of explanations of the same rows change from one model to another, as bands of rows.

    Parameters
    ----------
    before, after : Explanations
        Of the same rows, in the same order.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    labels : tuple of two str, default=None
        Names of the two models; None is "before" and "after" in the language of the picture.
    language : str, path or mapping, default=None
        "en", "de" or "es"; a YAML file, or its content. None is the language of the labels.

    Returns
    -------
    Axes
        Rows that neither model predicts as the class being explained are left out, and counted under the title.

    Raises
    ------
    InputError
        If the two do not have the same rows.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> before, after = explainer.explain(X), explainer.explain(X, restricted=["debt"])
    >>> ax = sev.plots.flow(before, after, labels=("all features", "without debt"))
    """
    for one in (before, after):
        check_many(one, "flow")
    speaker = speaker_of(before, language)
    table = _prepare(before, after)
    ax = style.new_axes(ax, 6.6, 4.2)
    total = int(table["rows"].sum())
    left = _stack_nodes(table.groupby("before", sort=False)["rows"].sum(), total)
    right = _stack_nodes(table.groupby("after", sort=False)["rows"].sum(), total)
    _draw_bands(ax, table, left, right, total)
    for nodes, x, side in ((left, 0.0, "right"), (right, 1.0, "left")):
        _draw_nodes(ax, nodes, x, side, speaker)
    top = max((bottom + height for bottom, height in (*left.values(), *right.values())), default=1.0)
    comparable = ~np.isnan(before.sizes) & ~np.isnan(after.sizes)
    names = labels or (speaker.text("plot_before"), speaker.text("plot_after"))
    for x, label, many in ((0.0, names[0], before), (1.0, names[1], after)):
        mean = ""
        if comparable.any():
            value = speaker.number(many.sizes[comparable].mean(), ".2f")
            mean = f"\n{speaker.text('plot_mean', value=value)}"
        ax.text(
            x,
            top + 0.03,
            f"{style.name_text(label)}{mean}",
            ha="center",
            va="bottom",
            fontsize=9.5,
            fontweight="bold",
            **style.LITERAL,
        )
    ax.set_xlim(-0.42, 1.42)
    ax.set_ylim(-0.02, top + 0.17)
    style.empty(ax)
    title(ax, speaker.text("plot_flow"), _make_note(total, int(comparable.sum()), len(before) - total, speaker))
    return ax


def _make_note(total: int, compared: int, left_out: int, speaker: Speaker) -> str:
    """How many rows are drawn, over how many the means are, and how many are left out."""
    return join_notes(
        speaker.text("report_fact_rows", n=speaker.count(total)),
        speaker.text("plot_flow_means", n=speaker.count(compared)) if compared not in (0, total) else "",
        speaker.text("plot_flow_left_out", n=speaker.count(left_out)) if left_out else "",
    )


def _prepare(before: ShownExplanations, after: ShownExplanations) -> pd.DataFrame:
    """One line for each band, in drawing order: ``before``, ``after`` (texts), ``rows``."""
    if len(before) != len(after):
        raise InputError(
            f"A flow needs two explanations of the same rows, got {len(before)} and {len(after)} rows: explain the "
            "same table twice."
        )
    if not before.index.equals(after.index):
        row = int(np.flatnonzero(before.index != after.index)[0])
        labels = python_value(before.index[row]), python_value(after.index[row])
        raise InputError(
            f"A flow needs two explanations of the same rows, but row {row} is labelled {labels[0]!r} in one "
            f"and {labels[1]!r} in the other: explain the same table twice."
        )
    pairs = pd.DataFrame({"before": _find_states(before), "after": _find_states(after)})
    pairs = pairs[(pairs["before"] != _NOT_TARGET) | (pairs["after"] != _NOT_TARGET)]
    counts = pairs.value_counts(["before", "after"]).rename("rows").reset_index()
    order = counts[["before", "after"]].map(_order_states)
    places = order.sort_values(["before", "after"], kind="stable").index
    return counts.loc[places].reset_index(drop=True)


def _find_states(many: ShownExplanations) -> list[str]:
    return [
        status if np.isnan(size) else str(int(size))
        for status, size in zip(many.statuses.tolist(), many.sizes.tolist(), strict=True)
    ]


def _order_states(state: str) -> int:
    """Sizes first, smallest first, then the ways to end without one."""
    ends = (*style.ENDINGS, _NOT_TARGET)
    return int(state) if state.isdigit() else 10_000 + ends.index(state)


def _stack_nodes(counts: pd.Series, total: int) -> dict[str, tuple[float, float]]:
    """Bottom and height of each node, the smallest size on top."""
    nodes = {}
    bottom = 0.0
    for state in sorted(counts.index, key=_order_states, reverse=True):
        height = counts[state] / total
        # a thin node still gets the height that its label takes
        taken = max(height + _GAP, _LABEL_HEIGHT)
        nodes[state] = (bottom + (taken - height) / 2, height)
        bottom += taken
    return nodes


def _choose_colour(state: str) -> tuple[str, str]:
    if state in style.ENDINGS:
        return style.ENDINGS[state]
    if state == _NOT_TARGET:
        return style.PAPER, ""
    return _SHADES[min(max(int(state), 1), len(_SHADES)) - 1], ""


def _name_state(state: str, speaker: Speaker) -> str:
    if state.isdigit():
        return f"SEV {state}"
    return speaker.text("plot_other_class" if state == _NOT_TARGET else f"status_{state}")


def _draw_nodes(ax: Axes, nodes: dict[str, tuple[float, float]], x: float, side: str, speaker: Speaker) -> None:
    from matplotlib.patches import Rectangle

    for state, (bottom, height) in nodes.items():
        colour, hatch = _choose_colour(state)
        box = (x - _NODE_WIDTH, bottom), 2 * _NODE_WIDTH, height
        ax.add_patch(Rectangle(*box, facecolor=colour, edgecolor=style.FAINT, hatch=hatch, linewidth=0.8, zorder=3))
    sign = -1 if side == "right" else 1
    for state, (bottom, height) in nodes.items():
        y = bottom + height / 2
        share = speaker.percent(height, ".0f") if height >= 0.005 else f"<{speaker.percent(0.01, '.0f')}"
        ax.text(
            x + sign * 0.055,
            y,
            f"{_name_state(state, speaker)}  {share}",
            ha=side,
            va="center",
            fontsize=9,
        )


def _draw_bands(
    ax: Axes,
    table: pd.DataFrame,
    left: dict[str, tuple[float, float]],
    right: dict[str, tuple[float, float]],
    total: int,
) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    # bands leave and arrive in the order of the nodes on the other side, so that none cross without need
    leaving = {state: bottom + height for state, (bottom, height) in left.items()}
    arriving = {state: bottom + height for state, (bottom, height) in right.items()}
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    x0, x1 = _NODE_WIDTH, 1 - _NODE_WIDTH
    for band in table.itertuples(index=False):
        height = band.rows / total
        a, b = leaving[band.before], arriving[band.after]
        leaving[band.before], arriving[band.after] = a - height, b - height
        corners = [
            (x0, a),
            (0.5, a),
            (0.5, b),
            (x1, b),
            (x1, b - height),
            (0.5, b - height),
            (0.5, a - height),
            (x0, a - height),
            (x0, a),
        ]
        colour, hatch = _choose_colour(band.before)
        faded = colour if colour != style.PAPER else "#EFEFEF"
        ax.add_patch(
            PathPatch(
                Path(corners, codes),
                facecolor=faded,
                edgecolor=style.FAINT,
                linewidth=0,
                alpha=0.55,
                hatch=hatch or None,
                zorder=2,
            )
        )
