"""Answers of the library beside those of all cells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from actions.cells.draw import Setup
from actions.cells.plain import PlainRow, is_missing


@dataclass
class Totals:
    """What a run has seen."""

    models: int = 0
    left_out: int = 0
    rows: int = 0
    answers: int = 0
    sets: int = 0
    ranges: int = 0
    points: int = 0
    undecided: int = 0
    by_family: dict[str, int] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = ", ".join(f"{name} {count}" for name, count in sorted(self.by_family.items()))
        states = ", ".join(f"{name} {count}" for name, count in sorted(self.statuses.items()))
        return (
            f"{self.models} models ({self.left_out} left out), {self.rows} rows, {self.answers} answers ({states}), "
            f"{self.sets} sets, {self.ranges} ranges with {self.points} points; rows by family: {shown}"
        )


def typical_bands(setup: Setup) -> list[Any]:
    """What is typical of the other class around the reference: ten per cent of its rows on both sides."""
    reference = setup.explainer.reference.iloc[0]
    bands: list[Any] = []
    for one in setup.cells.features:
        wanted = reference[one.name]
        if not one.is_number:
            bands.append((wanted,))
            continue
        column = setup.rows[one.name].to_numpy(dtype=float)
        others = np.sort(column[(setup.labels == 0) & ~np.isnan(column)])
        # of two values none is typical but the reference's own; where that is missing, there is no position around it
        if len(set(column[~np.isnan(column)])) <= 2 or np.isnan(wanted):
            bands.append((wanted, wanted, wanted))
            continue
        position = (np.sum(others < wanted) + np.sum(others <= wanted)) / 2 / len(others)
        low, high = np.quantile(others, np.clip([position - 0.1, position + 0.1], 0, 1))
        bands.append((min(low, wanted), max(high, wanted), wanted))
    return bands


def problems(setup: Setup, totals: Totals) -> Iterator[str]:
    """Every difference between the library and all cells."""
    totals.models += 1
    totals.rows += len(setup.queries)
    totals.by_family[setup.family] = totals.by_family.get(setup.family, 0) + len(setup.queries)
    known = {}
    for values, minimise in (("any", "features"), ("any", "cost"), ("typical", "features")):
        bands = typical_bands(setup) if values == "typical" else None
        many = setup.explainer.explain(setup.queries, values=values, minimise=minimise)
        if values == "any":
            known[minimise] = many
        for number, (one, place) in enumerate(zip(many, setup.places, strict=True)):
            truth = setup.cells.row(place, bands)
            totals.answers += 1
            totals.statuses[str(one.status)] = totals.statuses.get(str(one.status), 0) + 1
            find = _cost_problems if minimise == "cost" else _size_problems
            for problem in find(one, truth, totals):
                yield f"{values}, {minimise}, row {number} ({setup.queries.iloc[number].to_dict()}): {problem}"
    yield from limit_problems(setup, known)
    yield from alone_problems(setup)
    for number in range(min(2, len(setup.queries))):
        for problem in (*_menu_problems(setup, number), *_price_problems(setup, number)):
            yield f"row {number} ({setup.queries.iloc[number].to_dict()}): {problem}"


#: Limits under which an answer may be no proof, and then has to say so.
LIMITS = (
    {"max_size": 1},
    {"max_size": 2},
    {"max_sets": 1},
    {"max_sets": 2},
    {"time_limit": 0.002},
    {"max_predictions": 30},
)


def limit_problems(setup: Setup, known: dict[str, Any]) -> Iterator[str]:
    """What answers under a limit say wrongly of their rows, and rows whose answer alone is another one."""
    options = LIMITS[(len(setup.rows.columns) + len(setup.cells.rules) + sum(setup.places[0])) % len(LIMITS)]
    for minimise in ("features", "cost"):
        many = setup.explainer.explain(setup.queries, values="any", minimise=minimise, **options)
        for number, (one, place) in enumerate(zip(many, setup.places, strict=True)):
            for problem in _limited_problems(one, setup.cells.row(place), options, minimise):
                yield f"{options}, {minimise}, row {number} ({setup.queries.iloc[number].to_dict()}): {problem}"
        whole = known[minimise]
        for number in range(0, len(whole), 5):
            alone = setup.explainer.explain(setup.queries.iloc[[number]], values="any", minimise=minimise)[0]
            shown = [
                (str(one.status), one.lower_bound, one.sets, one.sets_complete, one.values_searched, str(one.changes))
                for one in (alone, whole[number])
            ]
            if shown[0] != shown[1]:
                yield f"{minimise}, row {number} alone: {shown[0]}, in a batch: {shown[1]}"


def _limited_problems(one: Any, truth: PlainRow, options: dict[str, Any], minimise: str) -> Iterator[str]:
    works = dict(truth.sets())
    size = min(map(len, works), default=None)
    within = {chosen: cost for chosen, cost in works.items() if len(chosen) <= options.get("max_size", len(chosen))}
    shown = f"{one.status}, size {one.size}, bound {one.lower_bound}, all cells say {size}"
    if str(one.status) == "unexplainable" and works:
        yield shown
    if size is not None and (one.lower_bound > size or (one.size is not None and one.size < size)):
        yield shown
    names = [feature.name for feature in truth.features]
    if any(frozenset(map(names.index, chosen)) not in within for chosen in one.sets):
        yield f"{one.sets} are listed, which do not work or are too large"
    if str(one.status) == "optimal" and minimise == "cost":
        if not math.isclose(one.cost, min(within.values()), rel_tol=1e-9, abs_tol=1e-12):
            yield f"costs {one.cost}, the least is {min(within.values())}"
    elif str(one.status) == "optimal":
        smallest = sorted(cost for chosen, cost in works.items() if len(chosen) == size)
        if one.size != size or (one.sets_complete and len(one.sets) != len(smallest)):
            yield f"{shown}, {len(smallest)} sets: {one.sets}"
        elif "max_sets" in options and not math.isclose(one.cost, smallest[0], rel_tol=1e-9, abs_tol=1e-12):
            yield f"the first set {one.sets[0]} costs {one.cost}, another {smallest[0]}"


def alone_problems(setup: Setup) -> Iterator[str]:
    """Which features can undo the decision alone, and with which share of their values."""
    lines = setup.explainer.alone(setup.queries)
    for number, place in enumerate(setup.places):
        truth = setup.cells.row(place)
        for axis, one in enumerate(truth.features):
            label = setup.queries.index[number]
            if (label, one.name) not in lines.index:
                if not one.frozen:
                    yield f"alone has no line for {one.name} of row {number}"
                continue
            line = lines.loc[(label, one.name)]
            good, _ = truth.block({axis: truth.permitted[axis]})
            wanted = (bool(good.any()), good.size, int(good.sum()))
            if (line["works"], line["n_values"], round(line["share"] * line["n_values"])) != wanted:
                yield f"alone says {line.to_dict()} of {one.name} in row {number}, all cells say {wanted}"


def _menu_problems(setup: Setup, number: int) -> Iterator[str]:
    truth = setup.cells.row(setup.places[number])
    names = [one.name for one in truth.features]
    menu = setup.explainer.menu(setup.queries.iloc[number], max_size=2)
    listed = {frozenset(map(names.index, line["features"])): line for _, line in menu.iterrows()}
    works = {chosen: cost for chosen, cost in truth.sets() if len(chosen) <= 2}
    for chosen, line in listed.items():
        outcome = "works" if chosen in works else "cannot work"
        if line["outcome"] != outcome:
            yield f"menu says that {line['features']} {line['outcome']}, all cells say {outcome}"
        elif chosen in works and not math.isclose(line["cost"], works[chosen], rel_tol=1e-9):
            yield f"menu says that {line['features']} costs {line['cost']}, all cells say {works[chosen]}"
    for chosen in works:
        if chosen not in listed and not any(other < chosen for other in works):
            yield f"menu does not list {[names[axis] for axis in chosen]}, which works"


def _price_problems(setup: Setup, number: int) -> Iterator[str]:
    truth = setup.cells.row(setup.places[number])
    locks = [one.name for one in truth.features if not one.frozen]
    if not locks:
        return
    lines = setup.explainer.price(setup.queries.iloc[number], locks)
    sets = [chosen for chosen, _ in truth.sets()]
    for name in locks:
        axis = [one.name for one in truth.features].index(name)
        size = min((len(chosen) for chosen in sets if axis not in chosen), default=None)
        found = lines.loc[name, "size_with"]
        if (None if is_missing(found) or math.isnan(found) else int(found)) != size:
            yield f"price says size {found} without {name}, all cells say {size}"
        if (lines.loc[name, "outcome"] == "impossible") != (size is None) or not lines.loc[name, "proven"]:
            yield f"price says {lines.loc[name].to_dict()} of {name}, all cells say {size}"


def _size_problems(one: Any, truth: PlainRow, totals: Totals) -> Iterator[str]:
    wanted = truth.smallest()
    size = min(map(len, wanted), default=None)
    names = [feature.name for feature in truth.features]
    shown = {tuple(names[axis] for axis in sorted(chosen)): cost for chosen, cost in wanted.items()}
    status = "optimal" if wanted else "unexplainable"
    if str(one.status) != status or one.values_searched != "all":
        yield f"status {one.status} ({one.values_searched}), all cells say {status}: {shown}"
    if one.size != size:
        yield f"size {one.size}, all cells say {size}: {shown}"
        return
    if size is not None and one.lower_bound != size:
        yield f"lower bound {one.lower_bound} of size {size}"
    found = {frozenset(map(names.index, chosen)) for chosen in one.sets}
    if not found <= set(wanted) or (one.sets_complete and found != set(wanted)):
        yield f"sets {one.sets}, complete: {one.sets_complete}, all cells say {shown}"
        return
    if not one.sets_complete:
        yield f"not all sets: {one.sets}, all cells say {shown}"
    for number, chosen in enumerate(one.sets):
        least = wanted[frozenset(map(names.index, chosen))]
        yield from _set_problems(one, number, truth, least, totals)
    if one.sets and not math.isclose(one.cost, _cost(one, 0, truth) or 0.0, rel_tol=1e-9, abs_tol=1e-12):
        yield f"cost {one.cost}, its changes cost {_cost(one, 0, truth)}"
    costs = [wanted[frozenset(map(names.index, chosen))] for chosen in one.sets]
    if costs and costs[0] > min(costs) + 1e-9:
        yield f"the first set {one.sets[0]} costs {costs[0]}, another {min(costs)}"


def _cost_problems(one: Any, truth: PlainRow, totals: Totals) -> Iterator[str]:
    least = truth.least_cost()
    status = "unexplainable" if least is None else "optimal"
    if str(one.status) != status or one.values_searched != "all":
        yield f"status {one.status} ({one.values_searched}), all cells say {status} at {least}"
    if least is None:
        return
    if one.size is None:
        yield f"nothing found, all cells say {least}"
        return
    yield from _set_problems(one, 0, truth, least, totals)
    smallest = min(map(len, truth.smallest()))
    if one.lower_bound > smallest:
        yield f"lower bound {one.lower_bound}, but there are sets of {smallest}"


def _place(values: tuple[Any, ...], value: Any) -> int | None:
    for place, one in enumerate(values):
        if (is_missing(one) and is_missing(value)) or one == value:
            return place
    return None


def _cost(one: Any, number: int, truth: PlainRow) -> float | None:
    total = 0.0
    for name, change in one.changes_of(number).items():
        axis = [feature.name for feature in truth.features].index(name)
        place = _place(truth.features[axis].values, change.new)
        if place is None:
            return None
        total += truth.prices[axis][place]
    return total


def _set_problems(one: Any, number: int, truth: PlainRow, least: float, totals: Totals) -> Iterator[str]:
    totals.sets += 1
    names = [feature.name for feature in truth.features]
    changes = one.changes_of(number)
    if set(changes) != set(one.sets[number]):
        yield f"set {one.sets[number]} changes {changes}"
    masks = {}
    for name, change in changes.items():
        axis = names.index(name)
        place = _place(truth.features[axis].values, change.new)
        if place is None or not truth.permitted[axis][place]:
            yield f"{name} becomes {change.new!r}, which is not permitted"
            return
        masks[axis] = np.arange(len(truth.permitted[axis])) == place
    good, costs = truth.block(masks)
    if not good.all():
        yield f"changes {changes} do not undo the decision, or break a rule"
    if not math.isclose(costs.item(), least, rel_tol=1e-9, abs_tol=1e-12):
        yield f"changes {changes} cost {costs.item()}, the least is {least}"
    for name, change in changes.items():
        if change.enough is None:
            continue
        totals.ranges += 1
        axis = names.index(name)
        if not _is_inside(change.new, change.enough):
            yield f"{name} becomes {change.new!r}, which is not in its range {change.enough}"
        inside = np.array([_is_inside(value, change.enough) for value in truth.features[axis].values])
        own = np.arange(len(inside)) == truth.query[axis]
        masks[axis] = inside & (truth.permitted[axis] | own)
    good, _ = truth.block(masks)
    totals.points += good.size
    if not good.all():
        shown = {name: change.enough for name, change in changes.items()}
        yield f"{(~good).sum()} of {good.size} points of the ranges {shown} do not undo the decision, or break a rule"


def _is_inside(value: Any, enough: Any) -> bool:
    if isinstance(enough, tuple):
        return any((is_missing(one) and is_missing(value)) or one == value for one in enough)
    return not is_missing(value) and not isinstance(value, str) and value in enough
