"""Texts beside a drawing: on several lines instead of cut, measured instead of estimated."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from sev._optional import require
from sev.plots._style import name_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Lines of one text; what does not fit on so many is shortened in its middle.
_MOST_LINES = 5
_POINTS_PER_INCH = 72
_LINE_SPACING = 1.3
#: At few dots per inch letters are rounded up to whole dots, so that a line takes more than its measure.
_ROUNDED_UP = 1.08
#: Small letters are wider than their size tells.
_SMALL = 0.9


def wrap_text(text: object, width: int) -> str:
    """A text on as many lines as it needs, each of at most ``width`` letters.

    Examples
    --------
    >>> from sev.plots._lines import wrap_text
    >>> wrap_text("critical account, or other credits elsewhere", 24).splitlines()
    ['critical account, or', 'other credits elsewhere']
    """
    # a line ends early where the next word does not fit: some letters are kept for that
    shown = name_text(text, width * _MOST_LINES * 3 // 4)
    return "\n".join(textwrap.wrap(shown, width) or [""])


def inches_of(texts: list[str], points: float, *, bold: bool = False) -> float:
    """Width of the widest line of some texts, in inches."""
    fonts, paths = (
        require(f"matplotlib.{name}", extra="plots", feature="Drawing") for name in ("font_manager", "textpath")
    )
    font = fonts.FontProperties(size=points, weight="bold" if bold else "normal")
    measure = paths.TextToPath().get_text_width_height_descent
    lines = [line for text in texts for line in text.splitlines()]
    widest = max((float(measure(line, font, ismath=False)[0]) for line in lines), default=0.0)
    return _ROUNDED_UP * widest / _POINTS_PER_INCH


def height_of(text: str, points: float) -> float:
    """Height of a text of one line or several, in inches."""
    return (text.count("\n") + 1) * points * _LINE_SPACING / _POINTS_PER_INCH


def shrink_to(ax: Axes, width: float, height: float) -> float:
    """Factor for sizes of letters, so that a drawing of ``width`` by ``height`` inches fits into given axes."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return min(1.0, _SMALL * ax.bbox.width / figure.dpi / width, _SMALL * ax.bbox.height / figure.dpi / height)
