"""The title of a picture and the line under it, never cut by an edge and never over another picture."""

from __future__ import annotations

from bisect import bisect
from typing import TYPE_CHECKING, Any, NotRequired
from weakref import WeakKeyDictionary

from sev.plots._style import FAINT, INK, LiteralText

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text


class _TextStyle(LiteralText):
    """How the lines of a heading are drawn."""

    fontsize: float
    color: str
    fontweight: NotRequired[str]
    linespacing: NotRequired[float]


_TITLE: _TextStyle = {"fontsize": 11, "fontweight": "bold", "color": INK, "parse_math": False}
_BELOW: _TextStyle = {"fontsize": 8.5, "color": FAINT, "linespacing": 1.2, "parse_math": False}
#: Points between the picture, the line under the title, and the title.
_GAP = 6.0
_LINE_HEIGHT = _BELOW["fontsize"] * 1.35
#: Points that stay free at the edge of a figure and before the next picture.
_MARGIN = 4.0
#: A text may take this much more of the width when a figure is saved with more or fewer dots per inch.
_OTHER_DPI = 1.03


#: What is drawn under a title, and the two texts before they were wrapped. Keys are held weakly, and no text leads back
#: to one, so that a closed figure can go.
_HEADINGS: WeakKeyDictionary[Text, tuple[str, str]] = WeakKeyDictionary()


def title(ax: Axes, text: str, below: str = "") -> None:
    """Write a title to the left, with a line in smaller type under it.

    What does not fit beside the left edge of the picture starts at the left edge of its labels, and continues on
    further lines. Call it last: it needs to know how much space everything else takes. The headings of other pictures
    in the figure are placed anew, because this one may have taken space from them.

    Parameters
    ----------
    ax : Axes
        The finished picture.
    text, below : str
        The title, and what goes under it.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None  # the picture is drawn
    drawn = ax.annotate(
        "",
        (0, 1),
        xytext=(0, _GAP),
        xycoords="axes fraction",
        textcoords="offset points",
        va="bottom",
        gid="subtitle",
        **_BELOW,
    )
    # the title above it keeps the height free; its width must not squeeze the picture
    drawn.set_in_layout(False)
    _HEADINGS[drawn] = text, below
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)  # places the axes
    for other in figure.axes:
        for heading in [one for one in other.texts if one in _HEADINGS]:
            _place_texts(heading, figure, *_HEADINGS[heading])


def _place_texts(drawn: Any, figure: Figure, text: str, below: str) -> None:
    """Fill in the texts, on as many lines as the space above a picture needs."""
    from matplotlib.transforms import blended_transform_factory

    ax = drawn.axes
    ax.apply_aspect()
    margin = _MARGIN * figure.dpi / 72
    needed = max(_measure_width(figure, text, _TITLE), _measure_width(figure, below, _BELOW)) * _OTHER_DPI
    start, end = ax.bbox.x0, ax.bbox.x1
    if needed > end - start:
        end = _right_limit(ax, figure) - margin
    if needed > end - start:
        start = min(start, max(ax.get_tightbbox().x0, margin))
    width = (end - start) / _OTHER_DPI
    lines = _wrap_line(figure, below, _BELOW, width) if below else []
    # left of the picture, it is counted from the edge of the figure: as a part of the picture's width the place would
    # move with it, across the edge
    beside = start < ax.bbox.x0
    place = start / figure.bbox.width if beside else 0.0
    written = ax.set_title(
        "\n".join(_wrap_line(figure, text, _TITLE, width)),
        loc="left",
        x=place,
        pad=_GAP + 2 + _LINE_HEIGHT * len(lines),
        **_TITLE,
    )
    if beside:
        written.set_transform(blended_transform_factory(figure.transFigure, ax.transAxes + ax.titleOffsetTrans))
    drawn.set_text("\n".join(lines))
    drawn.xy = (place, 1)
    drawn.xycoords = ("figure fraction" if beside else "axes fraction", "axes fraction")


def _right_limit(ax: Axes, figure: Figure) -> float:
    """Where the space above a picture ends: at the next picture to its right, or at the edge of the figure."""
    others = [
        box.x0
        for other in figure.axes
        if other is not ax
        and other.get_visible()
        and (box := other.get_tightbbox()) is not None
        and other.bbox.x0 >= ax.bbox.x1
        and _side_by_side(ax, other)
    ]
    return min([figure.bbox.x1, *others])


def _side_by_side(ax: Axes, other: Axes) -> bool:
    return bool(ax.bbox.y0 < other.bbox.y1 and other.bbox.y0 < ax.bbox.y1)


def _measure_width(figure: Figure, text: str, options: _TextStyle) -> float:
    """Pixels that a line takes."""
    if not text:
        return 0.0
    drawn = figure.text(0, 0, text, **options)
    width = float(drawn.get_window_extent().width)
    drawn.remove()
    return width


def _wrap_line(figure: Figure, text: str, options: _TextStyle, width: float) -> list[str]:
    """Lines of at most a width; between words if possible, else inside one."""
    lines, line = [], ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if _measure_width(figure, longer, options) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        line = word
        while len(line) > 1 and _measure_width(figure, line, options) > width:
            # the longest beginning that fits, at least one letter
            kept = max(bisect(range(1, len(line)), width, key=lambda n: _measure_width(figure, line[:n], options)), 1)
            lines.append(line[:kept])
            line = line[kept:]
    return [*lines, line]
