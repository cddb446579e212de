"""Actions by the letter, one cell at a time: shares nothing with the package but the model under test."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd


def is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def permits(entries: dict[str, Any], name: str, old: Any, new: Any, *, step: float | None) -> bool:
    """Whether a feature may move from one value to another."""
    if name in entries.get("frozen", ()):
        return False
    if is_missing(new):
        return name in entries.get("allow_missing", ()) and not is_missing(old)
    if name in entries.get("allowed", {}):
        listed = entries["allowed"][name]
        if isinstance(listed, dict):
            listed = listed.get(old, [])
        if new not in listed:
            return False
    if isinstance(new, str):
        return True
    moves = name in entries.get("increase", ()) or name in entries.get("decrease", ())
    limits = entries.get("within", {}).get(name)
    if is_missing(old) and (moves or (limits is not None and limits[0] != "between")):
        return False
    if name in entries.get("increase", ()) and new < old:
        return False
    if name in entries.get("decrease", ()) and new > old:
        return False
    if limits is not None:
        kind, low, high = limits
        if kind == "percent":
            low, high = old + low / 100 * abs(old), old + high / 100 * abs(old)
        elif kind == "change":
            low, high = old + low, old + high
        if not low - 1e-12 <= new <= high + 1e-12:
            return False
    return step is None or name in entries.get("allowed", {}) or abs(new / step - round(new / step)) < 1e-9


def nearest(entries: dict[str, Any], name: str, old: Any, wanted: Any, *, step: float | None) -> tuple[bool, Any]:
    """Whether a feature can be used, and the permitted value nearest to the reference's."""
    if is_missing(wanted) or isinstance(wanted, str):
        return wanted != old and permits(entries, name, old, wanted, step=step), wanted
    candidates = [float(wanted)]
    if name in entries.get("allowed", {}):
        listed = entries["allowed"][name]
        candidates = list(listed.get(old, []) if isinstance(listed, dict) else listed)
    elif step is not None:
        candidates = [step * k for k in range(-400, 401)]
    else:
        limits = entries.get("within", {}).get(name)
        if limits is not None and not is_missing(old):
            kind, low, high = limits
            share = {"percent": abs(old) / 100, "change": 1.0, "between": 0.0}[kind]
            ends = (low, high) if kind == "between" else (old + low * share, old + high * share)
            candidates += [float(end) for end in ends]
        elif limits is not None and limits[0] == "between":
            candidates += [float(limits[1]), float(limits[2])]
    good = [one for one in candidates if permits(entries, name, old, one, step=step)]
    if not good:
        return False, wanted
    best = min(good, key=lambda one: (round(abs(one - wanted), 9), 0 if is_missing(old) else abs(one - old)))
    if not is_missing(old) and abs(old - wanted) <= abs(best - wanted) + 1e-12:
        return False, wanted
    return True, best


def smallest(
    score: Any, query: pd.Series, changes: dict[str, Any], costs: dict[str, float], threshold: float, rules: Any
) -> tuple[int | None, set[frozenset[str]], float]:
    """Size, all sets, and the least cost of one, from every set of usable features."""
    kept = [rule for rule in rules if rule(query)]
    for size in range(1, len(changes) + 1):
        chosen = list(combinations(changes, size))
        rows = []
        for names in chosen:
            row = query.copy()
            for name in names:
                row[name] = changes[name]
            rows.append(row)
        scores = score(pd.DataFrame(rows).infer_objects())
        good = [
            frozenset(names)
            for names, row, one in zip(chosen, rows, scores, strict=True)
            if one < threshold and all(rule(row) for rule in kept)
        ]
        if good:
            return size, set(good), min(sum(costs[name] for name in names) for names in good)
    return None, set(), math.nan


def spread(values: pd.Series) -> float:
    """Standard deviation of the known values."""
    known = np.array([float(one) for one in values if not is_missing(one)])
    return float(np.sqrt(((known - known.mean()) ** 2).mean())) or 1.0
