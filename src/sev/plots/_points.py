"""Points that carry their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sev.plots._style import INK, PAPER, SERIES, legend
from sev.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def labelled_points(ax: Axes, across: FloatArray, up: FloatArray, labels: Sequence[str]) -> None:
    """Draw points that differ by shape and colour, and name them in a legend to the right, where nothing overlaps."""
    handles = []
    for number, (one, other) in enumerate(zip(across, up, strict=True)):
        handles.append(
            ax.scatter(
                one,
                other,
                s=110 if _MARKERS[number % len(_MARKERS)] != "*" else 190,
                marker=_MARKERS[number % len(_MARKERS)],
                color=SERIES[number % len(SERIES)],
                edgecolor=INK if number % len(SERIES) > 4 else PAPER,
                linewidth=1,
                zorder=3,
            )
        )
    legend(ax, handles, labels)
