"""What the report says of permitted changes: the actions in force, who is left without one, and by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np

from sev.core import Status, plain_value
from sev.explanations import Explanations, Groups, groups_of
from sev.text import Speaker
from sev.typing import Cell, ColumnLabel, Parsed

#: The columns of each feature.
Columns: TypeAlias = Mapping[str, tuple[ColumnLabel, ...]]

_ENTRIES = ("frozen", "increase", "decrease", "within", "allowed", "steps", "allow_missing", "rules", "costs")


def permitted_changes(many: Explanations, about: Mapping[str, Parsed] | None, speaker: Speaker) -> dict[str, object]:
    """The actions in force, entry by entry, and how many decisions nothing permitted can undo."""
    actions = None if about is None else about["actions"]
    lines = [] if actions is None else list(_lines_of(actions, many.columns, speaker))
    note = ""
    if many.has_actions and not lines:
        note = speaker.text("report_actions_hash", what=many.actions_hash or "?")
    return {
        "permitted": lines,
        "permitted_note": note,
        "permitted_values": speaker.text(f"report_values_{many.values}"),
        "nobody": list(_count_without(many, speaker)),
    }


def group_table(many: Explanations, by: Groups | None, speaker: Speaker) -> dict[str, object]:
    """For each group its decisions, those that nothing permitted can undo, and the size of the others' sets."""
    if by is None:
        return {"groups": [], "group_name": ""}
    lines = []
    name = str(by if isinstance(by, str) else getattr(by, "name", None) or speaker.text("report_group"))
    for value, rows in groups_of(many, by).items():
        summary = many[rows].summary()
        share, mean = summary["share_unexplainable"], summary["mean_size"]
        lines.append(
            {
                "group": speaker.text("missing")
                if value is None
                else _tell_value(name, plain_value(value), many.columns, speaker),
                "rows": speaker.count(len(rows)),
                "target": speaker.count(summary["target"]),
                "unexplainable": speaker.count(summary["unexplainable"]),
                "share": "–" if np.isnan(share) else speaker.percent(share, ".1f"),
                "width": 0 if np.isnan(share) else round(100 * share, 1),
                "mean": "–" if np.isnan(mean) else speaker.number(mean, ".2f"),
            }
        )
    shown = speaker.label(name) if name in many.columns else name
    return {"groups": lines, "group_name": shown}


def _count_without(many: Explanations, speaker: Speaker) -> Iterator[str]:
    """Sentences about decisions that cannot be undone; where only some values were tried, nothing is proven."""
    explained = many.statuses != Status.NOT_TARGET
    stuck = many.statuses == Status.UNEXPLAINABLE
    tried = np.array(many.values_searched) == "candidates"
    limited = many.has_actions or many.values != "reference"
    total = speaker.count(int(explained.sum()))
    for name, rows in (("proven", stuck & ~tried), ("tried", stuck & tried)):
        if limited and rows.any():
            yield speaker.text(f"report_nobody_{name}", n=speaker.count(int(rows.sum())), first=total)
    if limited and explained.any() and not np.isnan(many.sizes[explained]).any():
        yield speaker.text("report_nobody_none", n=total, first=total)


def _lines_of(actions: Mapping[str, Parsed], columns: Columns, speaker: Speaker) -> Iterator[tuple[str, str]]:
    """Label and content of each entry."""
    for entry in _ENTRIES:
        held = actions.get(entry)
        if not held:
            continue
        if entry == "rules":
            shown = "; ".join(held)
        elif isinstance(held, Mapping):
            shown = "; ".join(
                f"{speaker.label(name)}: {_tell_limit(name, one, columns, speaker)}" for name, one in held.items()
            )
        else:
            shown = ", ".join(map(speaker.label, held))
        yield speaker.text(f"report_actions_{entry}"), shown


def _tell_limit(name: str, one: Parsed, columns: Columns, speaker: Speaker) -> str:
    """What is permitted to one feature: bounds, changes, values, moves between values, a step or a weight."""

    def told(value: Cell) -> str:
        return _tell_value(name, value, columns, speaker)

    if isinstance(one, Mapping) and "between" in one:
        low, high = one["between"]
        text = "range_at_most" if low is None else "range_at_least" if high is None else "range_between"
        return speaker.text(text, first=told(low), last=told(high))
    if isinstance(one, Mapping) and "from" in one:
        return ", ".join(f"{told(old)} → {' / '.join(map(told, new)) or '–'}" for old, new in one["from"])
    if isinstance(one, (list, tuple)):
        return ", ".join(map(told, one))
    return speaker.number(one, "g") if isinstance(one, (int, float)) else str(one)


def _tell_value(name: str, value: Cell, columns: Columns, speaker: Speaker) -> str:
    """A value as the labels call it; changes such as "-20%" and values of several columns as they were typed."""
    held = columns.get(name, ())
    is_change = isinstance(value, str) and value[:1] in "+-" and value[1:2].isdigit()
    return str(value) if is_change or len(held) != 1 else speaker.value(name, {held[0]: value})
