"""The cube between query and reference, and the shortest ways across the decision boundary."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pandas as pd

from sev.exceptions import InputError
from sev.explanations import Explanation, differing_features, feature_value, kind_label, leading_features
from sev.plots import _style as style
from sev.plots._headings import title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTERS = "ABCD"


def hypercube(
    explanation: Explanation, *, ax: Axes | None = None, features: Iterable[str] | None = None, explainer: Any = None
) -> Axes:
    """Draw the vertices between query and reference for up to four features, with the shortest paths.

    Circles are predicted as the class being explained, squares are not; each holds its score. From left to right one
    feature more is changed; thick arrows lead to the smallest sets.

    Parameters
    ----------
    explanation : Explanation
        Of any status but "error".
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    features : iterable of str, default=None
        At most four; None is those that the sets use, filled up with others that differ from the reference.
    explainer : Explainer, default=None
        Needed only for explanations that were read from a file, which do not carry the model.

    Returns
    -------
    Axes
    """
    names = tuple(features) if features is not None else leading_features(explanation, 4)
    if not 1 <= len(names) <= 4:
        raise InputError(f"A cube is drawn for one to four features, got {len(names)}: choose with features=.")
    vertices, edges = _prepare(explanation, names, explainer)
    tallest = int(vertices["n_changed"].value_counts().max())
    ax = style.new_axes(ax, 2.2 + 1.55 * len(names), 1.9 + 0.62 * tallest + 0.22 * len(names))
    _draw_edges(ax, vertices, edges)
    _draw_vertices(ax, explanation, vertices, names)
    _draw_key(ax, explanation, names, vertices)
    style.empty(ax)
    start = "query" if explanation.kind == "minus" else "reference"
    label = kind_label(explanation.kind)
    size = f"{label} = {explanation.size}" if explanation.size is not None else f"{label}: {explanation.status}"
    held = len(explanation.columns) - len(names)
    rest = f"; the other {held} features stay as in the {start}" if held else ""
    title(ax, size, f"from the {start}, one feature at a time{rest}")
    return ax


def _prepare(explanation: Explanation, names: tuple[str, ...], explainer: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Vertices (``changed``, ``n_changed``, ``score``, ``positive``, ``letters``, ``x``, ``y``) and edges (``start``,
    ``end``, ``shortest``), which go by vertex number.
    """
    vertices = explanation.vertices(names, explainer=explainer)
    letters = dict(zip(names, _LETTERS, strict=False))
    vertices["letters"] = ["".join(letters[name] for name in changed) for changed in vertices["changed"]]
    level = vertices.groupby("n_changed")
    vertices["x"] = vertices["n_changed"].astype(float)
    vertices["y"] = (level["n_changed"].transform("size") - 1) / 2 - level.cumcount()
    number = {frozenset(changed): place for place, changed in enumerate(vertices["changed"])}
    sets = [frozenset(one) for one in explanation.sets if set(one) <= set(names)]
    lines = []
    for changed, place in number.items():
        for name in names:
            if name not in changed:
                end = changed | {name}
                lines.append((place, number[end], any(end <= one for one in sets)))
    return vertices, pd.DataFrame(lines, columns=["start", "end", "shortest"])


def _draw_edges(ax: Any, vertices: pd.DataFrame, edges: pd.DataFrame) -> None:
    for edge in edges.itertuples(index=False):
        ends = vertices.loc[[edge.start, edge.end]]
        if edge.shortest:
            arrow = {"arrowstyle": "-|>,head_width=0.35,head_length=0.6", "color": style.INK, "linewidth": 2.6}
            arrow |= {"shrinkA": 14, "shrinkB": 15}
            ax.annotate("", ends[["x", "y"]].iloc[1], ends[["x", "y"]].iloc[0], arrowprops=arrow, zorder=2)
        else:
            ax.plot(ends["x"], ends["y"], color=style.LINE, linewidth=1, zorder=1)


def _draw_vertices(ax: Any, explanation: Explanation, vertices: pd.DataFrame, names: tuple[str, ...]) -> None:
    minimum = {frozenset(one) for one in explanation.sets}
    for vertex in vertices.itertuples(index=False):
        fill, marker = (style.POSITIVE_PALE, "o") if vertex.positive else (style.NEGATIVE_PALE, "s")
        edge = style.POSITIVE if vertex.positive else style.NEGATIVE
        strong = not vertex.changed or frozenset(vertex.changed) in minimum
        size = 900 if marker == "o" else 760
        ax.scatter(
            vertex.x,
            vertex.y,
            s=size,
            marker=marker,
            color=fill,
            edgecolor=edge,
            linewidth=2.8 if strong else 1,
            zorder=3,
        )
        weight = "bold" if strong else "normal"
        ax.text(
            vertex.x,
            vertex.y,
            f"{vertex.score:.2f}",
            ha="center",
            va="center",
            fontsize=8.5,
            fontweight=weight,
            zorder=4,
        )
        label = vertex.letters or ("query" if explanation.kind == "minus" else "reference")
        ax.annotate(
            label,
            (vertex.x, vertex.y),
            xytext=(0, -25),
            textcoords="offset points",
            ha="center",
            fontsize=8.5,
            color=style.INK if strong else style.FAINT,
            fontweight=weight,
            zorder=4,
        )
    if set(differing_features(explanation)) <= set(names):
        end = vertices.iloc[-1]
        other = "reference" if explanation.kind == "minus" else "query"
        ax.annotate(
            f"= {other}", (end["x"], end["y"]), xytext=(0, -37), textcoords="offset points", ha="center", fontsize=8.5
        )


def _draw_key(ax: Any, explanation: Explanation, names: tuple[str, ...], vertices: pd.DataFrame) -> None:
    """What the letters stand for, below the cube."""
    start, end = explanation.query, explanation.reference
    if explanation.kind == "plus":
        start, end = end, start
    top = float(vertices["y"].max())
    y = -top - 1.15
    for letter, name in zip(_LETTERS, names, strict=False):
        columns = explanation.columns[name]
        values = [style.name_text(feature_value(name, row, columns), 26) for row in (start, end)]
        text = f"{style.name_text(name, 30)}: {values[0]} → {values[1]}"
        ax.text(-0.4, y, letter, fontsize=9, fontweight="bold", va="center", color=style.INK)
        ax.text(-0.22, y, text, fontsize=9, va="center", color=style.INK, **style.LITERAL)
        y -= 0.38
    ax.set_xlim(-0.5, len(names) + 0.5)
    ax.set_ylim(y, top + 0.55)
