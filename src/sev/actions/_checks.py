"""Actions against the data that they meet: features that are not there, bounds that no value meets, misspelt values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from sev.actions._actions import Actions, Allowed
from sev.actions._bounds import Between, Shifts, plain_number
from sev.actions._grid import first_on_grid, last_on_grid
from sev.actions._ground import ChoiceGround, FeatureGround, Ground, NumberGround, cell_key
from sev.actions._rules import Constant, Rule
from sev.core import suggest_name
from sev.exceptions import InputError
from sev.space import FeatureSpace
from sev.typing import Cell

_Entry = TypeVar("_Entry")


def check_actions(
    actions: Actions, space: FeatureSpace, ground: Ground, step_of: Callable[[int], float | None]
) -> None:
    """Refuse actions that do not fit the features and the background; ``step_of`` returns the step of a feature."""
    _check_names(actions, space)
    for name, mine in zip(space.names, ground.features, strict=True):
        _check_feature(actions, space, name, mine)
    for name, limits in actions.within.items():
        _check_limits(actions, space, ground, step_of, name, limits)
    for name in actions.steps:
        _check_step(space, ground, step_of, name)
    for rule in actions.rules:
        _check_rule(space, ground, rule)


def find_entry(held: Mapping[str, _Entry], space: FeatureSpace, number: int) -> _Entry | None:
    """What a mapping of the actions says of a feature, by its name or by that of one of its columns."""
    return next((held[name] for name in _list_aliases(space, number) if name in held), None)


def is_named(actions: Actions, space: FeatureSpace, entry: str, number: int) -> bool:
    """Whether an entry of the actions names a feature, or one of its columns."""
    return any(name in getattr(actions, entry) for name in _list_aliases(space, number))


def _list_aliases(space: FeatureSpace, number: int) -> tuple[str, ...]:
    feature = space.features[number]
    return tuple(dict.fromkeys([feature.name, *map(str, feature.columns)]))


def _check_names(actions: Actions, space: FeatureSpace) -> None:
    seen: dict[tuple[str, int], str] = {}
    for entry, name in actions.named():
        number = int(np.flatnonzero(space.select([name], what=entry))[0])
        first = seen.setdefault((entry, number), name)
        if entry != "rules" and first != name:
            raise InputError(f"{entry} names {first!r} and {name!r}, which are one feature: leave one out.")


def _check_feature(actions: Actions, space: FeatureSpace, name: str, ground: FeatureGround) -> None:
    number = space.names.index(name)
    if isinstance(ground, NumberGround):
        for one in every_value(find_entry(actions.allowed, space, number)):
            if isinstance(one, (str, bool)):
                raise InputError(f"allowed[{name!r}] lists {one!r}, but {name!r} holds numbers: list numbers.")
        return
    columns = space.features[number].columns
    if len(columns) > 1:
        _check_group(actions, space, name, number)
    for entry in ("increase", "decrease"):
        if is_named(actions, space, entry, number) and not ground.is_ordered:
            raise InputError(
                f"{entry} names {name!r}, whose values have no order ({_show_first(ground.names)}): list the permitted "
                f"moves in allowed, or make the column an ordered category."
            )
    for entry in ("within", "steps"):
        if is_named(actions, space, entry, number):
            raise InputError(f"{entry} names {name!r}, which does not hold numbers: use allowed.")
    for one in every_value(find_entry(actions.allowed, space, number)):
        if cell_key(one) not in {cell_key(known) for known in ground.names if known is not None}:
            meant = suggest_name(one, ground.names)
            quoted = " In YAML, yes and no need quotes." if isinstance(one, bool) else ""
            raise InputError(
                f"allowed[{name!r}] lists {one!r}, which the background does not hold{meant}{quoted} "
                f"It holds {_show_first(ground.names)}."
            )


def _check_group(actions: Actions, space: FeatureSpace, name: str, number: int) -> None:
    """Refuse directions and limits of one column of a group: its columns change together."""
    columns = list(map(str, space.features[number].columns))
    for entry in ("increase", "decrease", "within", "steps"):
        for column in columns:
            if column in getattr(actions, entry):
                raise InputError(
                    f"{entry} names {column!r}, which moves together with the other columns of the group {name!r} "
                    f"({_show_first(columns)}): take it out of the group, or state it in rules."
                )


def _check_limits(
    actions: Actions,
    space: FeatureSpace,
    ground: Ground,
    step_of: Callable[[int], float | None],
    name: str,
    limits: Between | Shifts,
) -> None:
    number = int(np.flatnonzero(space.select([name], what="within"))[0])
    held = ground.features[number]
    if not isinstance(limits, Between) or not isinstance(held, NumberGround) or math.isnan(held.low):
        return
    shown = f"within[{name!r}]={limits}"
    span = f"from {plain_number(held.low)} to {plain_number(held.high)}"
    if limits.low > held.high or limits.high < held.low:
        raise InputError(
            f"{shown} lies outside the values of the background, {span}: no permitted value is left. Write bounds "
            f"that reach into them, or put {name!r} under frozen."
        )
    for entry, none_left, way in (
        ("increase", limits.high <= held.low, "larger"),
        ("decrease", limits.low >= held.high, "smaller"),
    ):
        if none_left and is_named(actions, space, entry, number):
            raise InputError(
                f"{entry} names {name!r}, but {shown} leaves no {way} value for anybody in the background, whose "
                f"values lie {span}. Write other bounds, or put {name!r} under frozen."
            )
    step = step_of(number)
    if step is not None and not _has_multiple(max(limits.low, held.low), min(limits.high, held.high), step):
        raise InputError(
            f"{shown} holds no multiple of {plain_number(step)}, the step of {name!r}, among the values of the "
            f"background, {span}: write wider bounds or a smaller step."
        )


def _check_step(space: FeatureSpace, ground: Ground, step_of: Callable[[int], float | None], name: str) -> None:
    """Refuse a step of which the background's range holds no multiple: the feature could never change."""
    number = int(np.flatnonzero(space.select([name], what="steps"))[0])
    held, step = ground.features[number], step_of(number)
    if not isinstance(held, NumberGround) or math.isnan(held.low) or step is None:
        return
    if not _has_multiple(held.low, held.high, step):
        raise InputError(
            f"steps[{name!r}]={plain_number(step)} leaves no permitted value: those of the background lie from "
            f"{plain_number(held.low)} to {plain_number(held.high)}. Write a smaller step, or put {name!r} under "
            f"frozen."
        )


def _has_multiple(low: float, high: float, step: float) -> bool:
    """Whether a closed interval holds a multiple of a step."""
    return bool(first_on_grid(np.array([low]), step)[0] <= last_on_grid(np.array([high]), step)[0])


def _check_rule(space: FeatureSpace, ground: Ground, rule: Rule) -> None:
    for name in rule.names:
        number = int(np.flatnonzero(space.select([name], what="rules"))[0])
        columns = space.features[number].columns
        if len(columns) > 1 and name not in columns:
            raise InputError(
                f"rules: {rule.text!r} names {name!r}, which has several columns: name one of {list(columns)[:5]}."
            )
        mine = ground.features[number]
        if name in rule.booleans and isinstance(mine, NumberGround) and not {*mine.observed} <= {0.0, 1.0}:
            raise InputError(
                f"rules: {name!r} stands alone in {rule.text!r}, but holds numbers other than 0 and 1: compare it "
                f"with a value, such as {name} > 0."
            )
        _check_texts(rule, name, mine, n_columns=len(columns))
        if name in rule.numbers and len(columns) == 1 and isinstance(mine, ChoiceGround):
            held = {type(one) for (one,) in mine.choices}
            if not held <= {int, float, bool}:
                raise InputError(
                    f"rules: {rule.text!r} calculates with {name!r}, which does not hold numbers "
                    f"({_show_first(mine.names)}): compare it with one of its values."
                )


def _check_texts(rule: Rule, name: str, ground: FeatureGround, *, n_columns: int) -> None:
    """Texts that a rule compares a feature with must be among its values: a misspelt one would never apply."""
    for text in rule.texts.get(name, ()):
        if isinstance(ground, NumberGround):
            raise InputError(
                f"rules: {rule.text!r} compares {name!r} with {text!r}, but {name!r} holds numbers: write a number."
            )
        if n_columns == 1 and cell_key(text) not in {cell_key(known) for known in ground.names}:
            meant = suggest_name(text, ground.names)
            raise InputError(
                f"rules: {rule.text!r} compares {name!r} with {text!r}, which the background does not hold{meant} "
                f"It holds {_show_first(ground.names)}."
            )


def every_value(listed: Allowed | None) -> list[Constant]:
    """All values that an entry of ``allowed`` lists, those to move from and those to move to."""
    if listed is None:
        return []
    if isinstance(listed, Mapping):
        return [*listed, *(one for new in listed.values() for one in new)]
    return list(listed)


def _show_first(names: Sequence[Cell]) -> str:
    shown = ", ".join(repr(name) for name in names[:6])
    return f"{shown}, ..." if len(names) > 6 else shown
