"""One decision at a glance: the query, the reference, and what changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from sev.core import Status
from sev.plots import _style as style
from sev.plots._headings import title
from sev.plots._shown import ChosenLanguage, ShownExplanation, check_one, credibility_text, join_notes, speaker_of
from sev.text import Speaker, enough_in_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CELL_WIDTH, _ROW_HEIGHT, _LETTER_WIDTH = 1.95, 0.27, 0.085


def changes(
    explanation: ShownExplanation,
    *,
    ax: Axes | None = None,
    max_sets: int = 2,
    max_features: int = 8,
    language: ChosenLanguage = None,
) -> Axes:
    """Draw query, reference and the smallest changes side by side, with the scores before and after.

    With ``values="typical"`` or "any" the reference is not drawn: features may take other values.

    Parameters
    ----------
    explanation : Explanation
        Of any status; the picture of one without a set shows its status.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    max_sets : int, default=2
        How many minimum sets get a column.
    max_features : int, default=8
        Features to list: first those of the sets, then others that differ from the reference.
    language : str, path or mapping, default=None
        "en", "de" or "es"; a YAML file, or its content. None is the language of the labels.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> ax = sev.plots.changes(explainer.explain_one(X.iloc[5]))
    """
    check_one(explanation, "changes")
    speaker = speaker_of(explanation, language)
    table = _prepare(explanation, max_sets, max_features, speaker)
    columns = [name for name in table.columns if name not in ("feature", "used")]
    names = [
        f"{name} ({speaker.text('report_restricted')})" if feature in explanation.restricted else name
        for name, feature in zip(
            style.name_texts([speaker.label(name) for name in table["feature"]], 28),
            table["feature"],
            strict=True,
        )
    ]
    # the first column is as wide as its names, so that they never run into the values
    left = max(1.3, 0.2 + _LETTER_WIDTH * max(len(name) for name in names))
    width = left + _CELL_WIDTH * len(columns)
    ax = style.new_axes(ax, width + 0.2, _ROW_HEIGHT * (len(table) + 5.2) + 0.45)
    _draw_head(ax, [_tell_column(name, speaker) for name in columns], columns, left)
    for row, (name, line) in enumerate(zip(names, table.to_dict("records"), strict=True), start=1):
        _draw_row(ax, explanation, row, name, line, left)
    last = len(table) + 1
    left_out = len(explanation.columns) - len(table)
    if left_out > 0:
        more = speaker.text("plot_left_out", n=speaker.count(left_out))
        ax.text(0, last, more, va="center", fontsize=8.5, color=style.FAINT, style="italic")
    _draw_scores(ax, explanation, last + 1.7, left, width, speaker)
    ax.set_xlim(-0.08, width + 0.08)
    ax.set_ylim(last + 3.1, -0.75)
    style.empty(ax)
    title(ax, *_make_headings(explanation, speaker))
    return ax


def _prepare(explanation: ShownExplanation, max_sets: int, max_features: int, speaker: Speaker) -> pd.DataFrame:
    """One line a feature: ``feature``, ``used`` (by a set shown), then one column of text for each thing shown, the
    sets by their numbers; a cell that a set leaves alone is empty.
    """
    shown = explanation.sets[:max_sets]
    used = tuple(dict.fromkeys(name for names in shown for name in names))
    others = [name for name in (*explanation.differing_features, *explanation.columns) if name not in used]
    listed = (*used, *dict.fromkeys(others))[: max(max_features, len(used))]
    lines = []
    for name in listed:
        line: dict[str, object] = {"feature": name, "used": name in used}
        line["query"] = _value_text(name, explanation.query, speaker)
        if explanation.values == "reference":  # else each set has values of its own
            line["reference"] = _value_text(name, explanation.reference, speaker)
        for number, names in enumerate(shown):
            made = _new_text(explanation, name, number, speaker) if name in names else ""
            line[_make_label(explanation, number + 1, len(shown), speaker)] = made
        lines.append(line)
    return pd.DataFrame(lines)


def _value_text(name: str, row: pd.Series, speaker: Speaker) -> str:
    return style.name_text(speaker.value(name, row), 23)


def _new_text(explanation: ShownExplanation, name: str, number: int, speaker: Speaker) -> str:
    """What a set makes of a feature: all values that do where they are known and can be read, else the one found."""
    made = explanation.donor_of(number)
    enough = enough_in_text(explanation.enough_of(number).get(name))
    several = speaker.range_text(name, made, enough, explanation.limits)
    return _value_text(name, made, speaker) if several is None or len(several) > 26 else several


def _make_label(explanation: ShownExplanation, number: int, shown: int, speaker: Speaker) -> str:
    base = speaker.text("plot_change" if explanation.kind == "minus" else "plot_enough")
    return base if shown == 1 else f"{base} ({number})"


def _tell_column(column: str, speaker: Speaker) -> str:
    """What a column of :func:`_prepare` is called on the picture."""
    return speaker.text(f"plot_{column}") if column in ("query", "reference") else column


def _make_headings(explanation: ShownExplanation, speaker: Speaker) -> tuple[str, str]:
    target = style.name_text(speaker.decision(explanation.target))
    scores = {"score": speaker.number(explanation.score), "threshold": speaker.number(explanation.threshold)}
    if explanation.status is Status.NOT_TARGET:
        return speaker.text("plot_not_predicted", target=target), speaker.text("plot_nothing_to_explain", **scores)
    if explanation.status is Status.ERROR:
        return speaker.text("plot_failed"), style.name_text(explanation.reason, 240)
    if explanation.size is None:
        status = speaker.text(f"status_{explanation.status}")
        return speaker.text("plot_without_set", target=target, what=status), speaker.text("plot_no_set", **scores)
    head = "plot_undone" if explanation.kind == "minus" else "plot_brought_about"
    n_sets = len(explanation.sets)
    several = "plot_several_sets" if explanation.sets_complete else "plot_several_sets_or_more"
    return (
        speaker.text(head, target=target, n=speaker.count(explanation.size)),
        join_notes(
            *_tell_proof(explanation, speaker),
            speaker.text(several, first=speaker.count(n_sets)) if n_sets > 1 else "",
            credibility_text(explanation, speaker),
        ),
    )


def _tell_proof(explanation: ShownExplanation, speaker: Speaker) -> list[str]:
    if explanation.status is not Status.OPTIMAL:
        return [speaker.text("plot_at_least", n=speaker.count(explanation.lower_bound))]
    if explanation.minimise == "cost":
        return [speaker.text("plot_proof_cost_tried" if explanation.proof_scope == "tried" else "plot_proof_cost")]
    claim = speaker.text(f"plot_proof_{explanation.proof_scope}")
    return [claim, speaker.text("plot_smaller_exists")] if explanation.not_permitted == "smaller" else [claim]


def _draw_head(ax: Axes, heads: list[str], columns: list[str], left: float) -> None:
    colours = {"query": style.POSITIVE, "reference": style.NEGATIVE}
    for number, (head, name) in enumerate(zip(heads, columns, strict=True)):
        x = left + _CELL_WIDTH * number
        ax.text(x, 0, head, va="center", fontsize=9, fontweight="bold", color=colours.get(name, style.INK))
    ax.plot([0, left + _CELL_WIDTH * len(columns)], [0.5, 0.5], color=style.INK, linewidth=1)


def _draw_row(
    ax: Axes, explanation: ShownExplanation, row: int, name: str, line: Mapping[str, str | bool], left: float
) -> None:
    from matplotlib.patches import FancyBboxPatch

    minus = explanation.kind == "minus"
    fill = style.NEGATIVE_PALE if minus else style.POSITIVE_PALE
    edge = style.NEGATIVE if minus else style.POSITIVE
    weight = "bold" if line["used"] else "normal"
    colour = style.INK if line["used"] else style.FAINT
    ax.text(0, row, name, va="center", fontsize=9, color=colour, fontweight=weight, **style.LITERAL)
    for number, column in enumerate(list(line)[2:]):
        x = left + _CELL_WIDTH * number
        changed = column not in ("query", "reference")
        if changed and not line[column]:
            ax.text(x, row, "·", va="center", fontsize=9, color=style.FAINT)
            continue
        if changed:
            box = FancyBboxPatch(
                (x - 0.05, row - 0.33),
                _CELL_WIDTH - 0.12,
                0.66,
                boxstyle="round,pad=0,rounding_size=0.06",
                fc=fill,
                ec=edge,
            )
            ax.add_patch(box)
        ax.text(
            x,
            row,
            str(line[column]),
            va="center",
            fontsize=8.5,
            color=colour,
            fontweight=weight if changed else "normal",
            **style.LITERAL,
        )


def _draw_scores(
    ax: Axes, explanation: ShownExplanation, y: float, start: float, width: float, speaker: Speaker
) -> None:
    """The scores before and after on one line, with the threshold."""
    scores = {speaker.text("plot_query"): explanation.score}
    if explanation.result_score is not None:
        scores[_make_label(explanation, 1, 1, speaker)] = explanation.result_score
    values = [*scores.values(), explanation.threshold]
    if any(value != value for value in values):
        return
    low, high = (0.0, 1.0) if min(values) >= 0 and max(values) <= 1 else (min(values), max(values))
    length = width - start - 0.4

    def at(score: float) -> float:
        return start + length * (score - low) / ((high - low) or 1.0)

    ax.text(0, y, speaker.text("plot_score"), va="center", fontsize=9, color=style.INK)
    ax.plot([start, at(explanation.threshold)], [y, y], color=style.NEGATIVE_PALE, linewidth=7, solid_capstyle="butt")
    ax.plot(
        [at(explanation.threshold), start + length],
        [y, y],
        color=style.POSITIVE_PALE,
        linewidth=7,
        solid_capstyle="butt",
    )
    ax.plot(
        [at(explanation.threshold)] * 2, [y - 0.45, y + 0.45], color=style.INK, linewidth=1.2, linestyle=(0, (3, 2))
    )
    ax.text(
        at(explanation.threshold),
        y + 0.75,
        speaker.text("plot_threshold", threshold=speaker.number(explanation.threshold)),
        ha="center",
        va="center",
        fontsize=8,
        color=style.FAINT,
    )
    close = len(scores) == 2 and abs(at(explanation.score) - at(values[1])) < 1.7
    for name, score in scores.items():
        colour, marker = (style.POSITIVE, "o") if score >= explanation.threshold else (style.NEGATIVE, "s")
        side = "center" if not close else ("left" if score == max(scores.values()) else "right")
        ax.scatter(at(score), y, s=60, color=colour, marker=marker, edgecolor=style.PAPER, zorder=4)
        text = f" {name} {speaker.number(score)} "
        ax.text(at(score), y - 0.75, text, ha=side, va="center", fontsize=8, color=colour)
