"""Prices of locked features, and a menu of all small sets: one row with other features that it may use each time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from sev.actions import move_costs
from sev.core import Status, tuple_of_names, unpack
from sev.exceptions import InputError
from sev.explainers._results import answer_choices
from sev.explainers._work import Settings
from sev.explanations import Explanation
from sev.typing import BoolArray, ValuesSearched

if TYPE_CHECKING:
    from sev.explainers._explainer import Explainer

_MOST_SETS = 20_000
#: Two costs that differ by less than this share are the same.
_SAME_COST = 1e-9


def find_price(explainer: Explainer, query: pd.DataFrame, locks: Iterable[str], settings: Settings) -> pd.DataFrame:
    """Size with and without each lock, and with all of them."""
    names = [locks] if isinstance(locks, str) else tuple_of_names(locks, "locks")
    if not names:
        raise InputError("price needs at least one feature to lock: pass a list of names.")
    entries = [(name, explainer.space.select([name], what="locks")) for name in names]
    locked = explainer.space.select(names, what="locks")
    if len(names) > 1:
        entries.append(("all of them", locked))
    free = replace(settings, allowed=settings.allowed | locked)
    usable = free.allowed & ~np.array([np.zeros_like(locked), *(chosen for _, chosen in entries)])
    find = _explain_choices if settings.chooses_values else _explain_locked
    without, *others = find(explainer, query, free, usable)
    lines = {}
    for (name, _), one in zip(entries, others, strict=True):
        lines[name] = {
            "size_without": without.size,
            "size_with": one.size,
            "cost_without": without.cost,
            "cost_with": one.cost,
            "outcome": _tell_outcome(without, one),
            "proven": all(map(_is_proven, (without, one))),
        }
    return pd.DataFrame.from_dict(lines, orient="index").rename_axis("lock")


def _is_proven(answer: Explanation | _Known) -> bool:
    """Whether an answer holds over all permitted values."""
    return answer.status in (Status.OPTIMAL, Status.UNEXPLAINABLE) and answer.values_searched != "candidates"


def _tell_outcome(without: Explanation | _Known, locked: Explanation | _Known) -> str:
    if locked.status is Status.UNEXPLAINABLE:
        return "impossible"
    if locked.size is None or without.size is None:
        return "not decided"
    if locked.size != without.size:
        return f"{locked.size - without.size} more"
    is_costlier = locked.cost is not None and without.cost is not None and locked.cost > without.cost * (1 + _SAME_COST)
    return "costlier" if is_costlier else "free"


def find_menu(explainer: Explainer, query: pd.DataFrame, max_size: int, settings: Settings) -> pd.DataFrame:
    """Every set of features up to a size: whether it can change the decision, and how."""
    features, names = np.flatnonzero(settings.allowed).tolist(), explainer.space.names
    lines: list[dict[str, object]] = []
    working: list[frozenset[int]] = []
    for size in range(1, min(max_size, len(features)) + 1):
        # a set that holds a smaller one that works needs no look
        sets = [one for one in combinations(features, size) if not any(known.issubset(one) for known in working)]
        if len(lines) + len(sets) > _MOST_SETS:
            raise InputError(f"The menu has more than {_MOST_SETS:,} sets: pass a smaller `max_size`.")
        if not sets:
            break
        usable = np.zeros((len(sets), len(names)), dtype=np.bool_)
        np.put_along_axis(usable, np.array(sets), True, axis=1)
        answers = _explain_choices(explainer, query, settings, usable)
        for one, answer in zip(sets, answers, strict=True):
            lines.append({"features": tuple(names[number] for number in one), "size": size, **_menu_line(answer, size)})
            if answer.size == size:
                working.append(frozenset(one))
    return pd.DataFrame(lines, columns=["features", "size", "outcome", "old", "changes", "enough", "cost", "searched"])


class _Known(NamedTuple):
    """What is known of an answer that nobody reads in full; without a set if no size is given."""

    status: Status
    values_searched: ValuesSearched
    size: int | None = None
    cost: float | None = None


def _explain_locked(
    explainer: Explainer, query: pd.DataFrame, settings: Settings, usable: BoolArray
) -> list[Explanation | _Known]:
    """One row without locks and with each, over reference values.

    A lock that leaves one of the smallest sets leaves it in its place; only the other locks need a search.
    """
    many = explainer.explain_rows(query, replace(settings, allowed=usable[0], settled=True))
    without = many[0]
    _check_has_decision(without.status)
    answers: list[Explanation | _Known] = [without]
    sets = unpack(many.answers.masks, usable.shape[1])
    [task] = (task for task in explainer.tasks if task.scorer.target == without.target)
    complete = without.status is Status.OPTIMAL and without.sets_complete and task.bound is not None
    for one in usable[1:]:
        left = sets[~(sets & ~one).any(axis=1)]
        if without.status is Status.UNEXPLAINABLE:
            answers.append(without)
        elif complete and left.size:
            assert task.bound is not None
            costs = move_costs(task.bound, many.queries, many.references.iloc[many.answers.reference])
            answers.append(_Known(Status.OPTIMAL, "reference", without.size, float(costs[0, left[0]].sum())))
        else:
            answers.append(explainer.explain_rows(query, replace(settings, allowed=one))[0])
    return answers


def _explain_choices(
    explainer: Explainer, query: pd.DataFrame, settings: Settings, usable: BoolArray
) -> list[Explanation | _Known]:
    """One row with other features that it may use each time."""
    answers: list[Explanation | _Known]
    if any(task.bound is None for task in explainer.tasks):  # an older file has reference values only
        answers = [explainer.explain_rows(query, replace(settings, allowed=one))[0] for one in usable]
    else:
        many = answer_choices(explainer, query, settings, usable)
        has_set = many.answers.has_set
        assert many.enough is not None
        many.enough.get(many.answers.offsets[:-1][has_set].tolist())  # made together
        answers = [
            many[row] if found else _Known(Status(many.statuses[row]), many.values_searched[row])
            for row, found in enumerate(has_set.tolist())
        ]
    _check_has_decision(answers[0].status)
    return answers


def _check_has_decision(status: Status) -> None:
    if status is Status.NOT_TARGET:
        raise InputError("The row is not predicted as the class being explained: there is nothing to undo.")


def _menu_line(answer: Explanation | _Known, size: int) -> dict[str, object]:
    """What the menu says of a set of some size."""
    # of values of which only some were searched, another may work
    none_works = answer.status is Status.UNEXPLAINABLE and answer.values_searched != "candidates"
    changes = answer.changes if isinstance(answer, Explanation) else {}
    return {
        "outcome": "works" if answer.size == size else "cannot work" if none_works else "not decided",
        "old": {name: change.old for name, change in changes.items()},
        "changes": {name: change.new for name, change in changes.items()},
        "enough": {name: change.enough for name, change in changes.items() if change.enough is not None},
        "cost": answer.cost if answer.size == size else np.nan,
        "searched": answer.values_searched,
    }
