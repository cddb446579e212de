"""The cube between query and reference, and the shortest ways across the decision boundary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from sev.core import kind_label
from sev.exceptions import InputError
from sev.plots import _style as style
from sev.plots._headings import title
from sev.plots._shown import ChosenLanguage, ShownExplanation, check_one, credibility_text, join_notes, speaker_of
from sev.text import Speaker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTERS = "ABCD"


def hypercube(
    explanation: ShownExplanation,
    *,
    ax: Axes | None = None,
    features: Iterable[str] | None = None,
    explainer: Any = None,
    language: ChosenLanguage = None,
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
        At most four; None is those that the sets use, then others that differ from the reference. With
        ``values="typical"`` or "any" it is those of the first set: every set has values of its own.
    explainer : Explainer, default=None
        Needed only for explanations that were read from a file, which do not carry the model.
    language : str, path or mapping, default=None
        "en", "de" or "es"; a YAML file, or its content. None is the language of the labels.

    Returns
    -------
    Axes

    Raises
    ------
    InputError
        If there are no features, or more than four.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> ax = sev.plots.hypercube(explainer.explain_one(X.iloc[5]))
    """
    check_one(explanation, "hypercube")
    names = tuple(features) if features is not None else _main_features(explanation)
    if not 1 <= len(names) <= 4:
        raise InputError(f"A cube is drawn for one to four features, got {len(names)}: choose with features=.")
    speaker = speaker_of(explanation, language)
    vertices, edges = _prepare(explanation, names, explainer)
    tallest = int(vertices["n_changed"].value_counts().max())
    ax = style.new_axes(ax, 2.2 + 1.55 * len(names), 1.9 + 0.62 * tallest + 0.22 * len(names))
    _draw_edges(ax, vertices, edges)
    _draw_vertices(ax, explanation, vertices, names, speaker)
    _draw_key(ax, explanation, names, vertices, speaker)
    style.empty(ax)
    label = kind_label(explanation.kind)
    status = speaker.text(f"status_{explanation.status}")
    size = f"{label} = {explanation.size}" if explanation.size is not None else f"{label}: {status}"
    notes = (
        speaker.text(f"plot_from_{_find_ends(explanation)[0]}"),
        _rest_text(explanation, names, speaker),
        credibility_text(explanation, speaker),
    )
    title(ax, size, join_notes(*notes))
    return ax


def _find_ends(explanation: ShownExplanation) -> tuple[str, str]:
    """Where the ways across the cube start, and where they lead."""
    return ("query", "reference") if explanation.kind == "minus" else ("reference", "query")


def _rest_text(explanation: ShownExplanation, names: tuple[str, ...], speaker: Speaker) -> str:
    """What the cube leaves out: features that stay, or a part of a set that is too large for it."""
    first = set(explanation.sets[0]) if explanation.sets else set()
    if set(names) < first:
        return speaker.text("plot_part_of_set", first=len(names), last=len(first))
    held = len(explanation.columns) - len(names)
    return speaker.text(f"plot_stay_{_find_ends(explanation)[0]}", n=speaker.count(held)) if held else ""


def _drawn_sets(explanation: ShownExplanation) -> Sequence[tuple[str, ...]]:
    """The sets that lie in one cube: with values of their own, each set has a cube of its own."""
    return explanation.sets if explanation.values == "reference" else explanation.sets[:1]


def _main_features(explanation: ShownExplanation) -> tuple[str, ...]:
    if explanation.values == "reference" or not explanation.sets:
        return explanation.main_features(4)
    return tuple(explanation.sets[0][:4])


def _prepare(
    explanation: ShownExplanation, names: tuple[str, ...], explainer: Any
) -> tuple[pd.DataFrame, pd.DataFrame]:
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
    sets = [frozenset(one) for one in _drawn_sets(explanation) if set(one) <= set(names)]
    lines = []
    for changed, place in number.items():
        for name in names:
            if name not in changed:
                end = changed | {name}
                lines.append((place, number[end], any(end <= one for one in sets)))
    return vertices, pd.DataFrame(lines, columns=["start", "end", "shortest"])


def _draw_edges(ax: Axes, vertices: pd.DataFrame, edges: pd.DataFrame) -> None:
    for edge in edges.itertuples(index=False):
        ends = vertices.loc[[edge.start, edge.end]]
        if edge.shortest:
            arrow = {"arrowstyle": "-|>,head_width=0.35,head_length=0.6", "color": style.INK, "linewidth": 2.6}
            arrow |= {"shrinkA": 14, "shrinkB": 15}
            ax.annotate("", ends[["x", "y"]].iloc[1], ends[["x", "y"]].iloc[0], arrowprops=arrow, zorder=2)
        else:
            ax.plot(ends["x"], ends["y"], color=style.LINE, linewidth=1, zorder=1)


def _draw_vertices(
    ax: Axes, explanation: ShownExplanation, vertices: pd.DataFrame, names: tuple[str, ...], speaker: Speaker
) -> None:
    start, other = (speaker.text(f"plot_{end}") for end in _find_ends(explanation))
    minimum = {frozenset(one) for one in _drawn_sets(explanation)}
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
            speaker.number(vertex.score, ".2f"),
            ha="center",
            va="center",
            fontsize=8.5,
            fontweight=weight,
            zorder=4,
        )
        ax.annotate(
            vertex.letters or start,
            (vertex.x, vertex.y),
            xytext=(0, -25),
            textcoords="offset points",
            ha="center",
            fontsize=8.5,
            color=style.INK if strong else style.FAINT,
            fontweight=weight,
            zorder=4,
        )
    if set(explanation.differing_features) <= set(names):
        end = vertices.iloc[-1]
        ax.annotate(
            f"= {other}", (end["x"], end["y"]), xytext=(0, -37), textcoords="offset points", ha="center", fontsize=8.5
        )


def _draw_key(
    ax: Axes, explanation: ShownExplanation, names: tuple[str, ...], vertices: pd.DataFrame, speaker: Speaker
) -> None:
    """What the letters stand for, below the cube."""
    start, end = explanation.query, explanation.reference
    if explanation.kind == "plus":
        start, end = end, start
    top = float(vertices["y"].max())
    y = -top - 1.15
    for letter, name in zip(_LETTERS, names, strict=False):
        values = [style.name_text(speaker.value(name, row), 26) for row in (start, end)]
        text = f"{style.name_text(speaker.label(name), 30)}: {values[0]} → {values[1]}"
        ax.text(-0.4, y, letter, fontsize=9, fontweight="bold", va="center", color=style.INK)
        ax.text(-0.22, y, text, fontsize=9, va="center", color=style.INK, **style.LITERAL)
        y -= 0.38
    ax.set_xlim(-0.5, len(names) + 0.5)
    ax.set_ylim(y, top + 0.55)
