"""Colours, hatches and text that all pictures share."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from sev._optional import require

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.legend import Legend

#: Of the class being explained, and of the other one (Okabe and Ito's orange and blue).
POSITIVE, NEGATIVE = "#D55E00", "#0072B2"
POSITIVE_PALE, NEGATIVE_PALE = "#F9DCC8", "#CFE3F1"
INK, FAINT, LINE, PAPER = "#222222", "#6B6B6B", "#C9C9C9", "#FFFFFF"
#: For models, methods and other series, in the order of their lightness, so that grey prints keep them apart.
SERIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C8C8C", "#F0E442")
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++", "oo", "--")
#: Ways to end without a set: light fills whose hatches say which.
ENDINGS = {"unexplainable": ("#B3B3B3", "xxx"), "undecided": ("#DDDDDD", "..."), "error": ("#F4F4F4", "|||")}


class LiteralText(TypedDict):
    """Options of a text that is drawn letter by letter."""

    parse_math: bool


#: Given to every text that holds a name or a value: no mathematics is read into it.
LITERAL: LiteralText = {"parse_math": False}


def new_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The given Axes, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    pyplot = require("matplotlib.pyplot", extra="plots", feature="Drawing")
    _, made = pyplot.subplots(figsize=(width, height), layout="constrained")
    chosen: Axes = made
    return chosen


def name_text(name: object, at_most: int = 34) -> str:
    r"""A name as it can be drawn on one line: control characters spelled out, the middle of a long one left out.

    Examples
    --------
    >>> from sev.plots._style import name_text
    >>> print(name_text("two\nlines"), name_text("a" * 50, 9))
    two\nlines aaaa…aaaa
    """
    text = "".join(_spell_letter(letter) for letter in str(name))
    if len(text) <= at_most:
        return text
    kept = at_most - 1
    return f"{text[: kept - kept // 2]}…{text[len(text) - kept // 2 :]}"


def name_texts(names: Sequence[object], at_most: int = 34) -> list[str]:
    """Names as they can be drawn; those that shortening made alike get more letters, or else a number."""
    drawn = [name_text(name, at_most) for name in names]
    drawn = [name_text(n, 2 * at_most) if drawn.count(text) > 1 else text for n, text in zip(names, drawn, strict=True)]
    seen: dict[str, int] = {}
    told_apart = []
    for text in drawn:
        seen[text] = seen.get(text, 0) + 1
        told_apart.append(f"{text} ({seen[text]})" if drawn.count(text) > 1 else text)
    return told_apart


def bare(ax: Axes, *, grid: Literal["", "x", "y"] = "") -> None:
    """Take away the box, and give a pale grid along one axis, behind the data."""
    for side in ("top", "right", "left" if grid != "y" else "right"):
        ax.spines[side].set_visible(False)
    ax.tick_params(length=0, labelsize=9, colors=INK)
    ax.set_axisbelow(True)
    if grid:
        ax.grid(axis=grid, color="#E6E6E6", linewidth=0.8)


def number_ticks(axis: Axis, decimal: str) -> None:
    """Write the numbers along an axis with a language's mark for decimals."""
    if decimal == ".":
        return
    ticker = require("matplotlib.ticker", extra="plots", feature="Drawing")
    plain = ticker.ScalarFormatter()

    class LanguageFormatter(ticker.FuncFormatter):  # type: ignore[name-defined]
        """The usual numbers; matplotlib itself knows only the marks of the operating system."""

        def set_locs(self, locs: Sequence[float]) -> None:
            plain.set_axis(self.axis)
            plain.set_locs(locs)

    axis.set_major_formatter(LanguageFormatter(lambda value, place: plain(value, place).replace(".", decimal)))


def empty(ax: Axes) -> None:
    """Axes for a drawing of one's own: no ticks, no box."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)


def legend(ax: Axes, handles: Sequence[Artist], labels: Sequence[str], **options: Any) -> Legend:
    """A legend whose labels are drawn as they are."""
    if not options:
        # beside the picture, where it hides nothing
        options = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "labelspacing": 0.8}
    # the texts are set afterwards: matplotlib leaves out labels that start with an underscore
    drawn = ax.legend(
        handles, [f"label {number}" for number in range(len(labels))], frameon=False, fontsize=9, **options
    )
    for text, label in zip(drawn.get_texts(), labels, strict=True):
        text.set_parse_math(False)
        text.set_text(name_text(label, 48))
    return drawn


def _spell_letter(letter: str) -> str:
    if unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp"):
        return letter.encode("unicode_escape").decode()
    return letter
