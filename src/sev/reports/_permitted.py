"""What the report says of permitted changes: the actions in force, who is left without one, and by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sev.core import Status, plain_value
from sev.explanations import Explanations, groups_of
from sev.text import Speaker

_ENTRIES = ("frozen", "increase", "decrease", "within", "allowed", "steps", "allow_missing", "rules", "costs")


def permitted_changes(many: Explanations, about: dict[str, Any] | None, speaker: Speaker) -> dict[str, Any]:
    """The actions in force, entry by entry, and how many decisions nothing permitted can undo."""
    actions = None if about is None else about["actions"]
    lines = [] if actions is None else list(_lines_of(actions, speaker))
    note = ""
    if many.has_actions and not lines:
        note = speaker.text("report_actions_hash", what=many.actions_hash or "?")
    return {
        "permitted": lines,
        "permitted_note": note,
        "permitted_values": speaker.text(f"report_values_{many.values}"),
        "nobody": list(_count_without(many, speaker)),
    }


def group_table(many: Explanations, by: Any, speaker: Speaker) -> dict[str, Any]:
    """For each group its decisions, those that nothing permitted can undo, and the size of the others' sets."""
    if by is None:
        return {"groups": [], "group_name": ""}
    lines = []
    for value, rows in groups_of(many, by).items():
        summary = many[rows].summary()
        share, mean = summary["share_unexplainable"], summary["mean_size"]
        lines.append(
            {
                "group": speaker.text("missing") if value is None else str(plain_value(value)),
                "rows": speaker.count(len(rows)),
                "target": speaker.count(summary["target"]),
                "unexplainable": speaker.count(summary["unexplainable"]),
                "share": "–" if np.isnan(share) else f"{share:.1%}",
                "width": 0 if np.isnan(share) else round(100 * share, 1),
                "mean": "–" if np.isnan(mean) else f"{mean:.2f}",
            }
        )
    name = str(by if isinstance(by, str) else getattr(by, "name", None) or speaker.text("report_group"))
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
        yield speaker.text("report_nobody_none", first=total)


def _lines_of(actions: Mapping[str, Any], speaker: Speaker) -> Iterator[tuple[str, str]]:
    """Label and content of each entry."""
    for entry in _ENTRIES:
        held = actions.get(entry)
        if not held:
            continue
        if entry == "rules":
            shown = "; ".join(held)
        elif isinstance(held, Mapping):
            shown = "; ".join(f"{_name(name, speaker)}: {_limit(one, speaker)}" for name, one in held.items())
        else:
            shown = ", ".join(_name(name, speaker) for name in held)
        yield speaker.text(f"report_actions_{entry}"), shown


def _name(name: str, speaker: Speaker) -> str:
    return speaker.label(name)


def _limit(one: Any, speaker: Speaker) -> str:
    """What is permitted to one feature: bounds, changes, values or moves between values."""
    if isinstance(one, Mapping) and "between" in one:
        low, high = one["between"]
        if low is None or high is None:
            name = "range_at_most" if low is None else "range_at_least"
            return speaker.text(name, first=_number(low), last=_number(high))
        return speaker.text("range_between", first=_number(low), last=_number(high))
    if isinstance(one, Mapping) and "from" in one:
        return ", ".join(f"{old} → {' / '.join(map(str, new)) or '–'}" for old, new in one["from"])
    if isinstance(one, (list, tuple)):
        return ", ".join(map(str, one))
    return _number(one)


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
