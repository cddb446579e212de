"""Random tables, models and actions, small enough that every row which can be made of their values is listed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from actions.cells.models import FAMILIES, Family, score_of
from actions.cells.plain import Cells, Comparison, Implies, OneOf, PlainFeature, PlainRule, is_missing

import sev
from sev.exceptions import InputError, PositiveReferenceError

CATEGORIES = ("x", "y", "z")
N_ROWS = 90
N_QUERIES = 10
MOST_CELLS = 3000


@dataclass
class Setup:
    """One model with actions, and the rows to be explained."""

    family: str
    explainer: sev.Explainer
    cells: Cells
    rows: pd.DataFrame
    labels: np.ndarray
    queries: pd.DataFrame
    places: list[tuple[int, ...]]
    actions: sev.Actions


def draw(seed: int) -> Setup | None:
    """The setup of a seed; None where the drawn model decides all rows alike, or rules contradict each other."""
    random = np.random.default_rng([seed, 18])
    name = list(FAMILIES)[seed % len(FAMILIES)]
    family = FAMILIES[name]
    rows, steps = _table(random, family)
    labels = _labels(random, rows)
    model = family.make(random, rows, labels)
    values = [_every_value(random, rows[column], steps.get(column), family) for column in rows.columns]
    while np.prod([len(one) for one in values]) > MOST_CELLS:  # fewer values outside the background, then inside
        longest = max(range(len(values)), key=lambda at: len(values[at]))
        values[longest] = values[longest][1:] if len(values[longest]) > 2 else values[longest]
    frame = _frame(list(product(*values)), rows)
    scores = score_of(model)(frame).reshape([len(one) for one in values])
    threshold = _threshold(random, family, model, scores)
    if threshold is None:
        return None
    features = [_feature(random, rows[column], mine, steps) for column, mine in zip(rows.columns, values, strict=True)]
    rules = _rules(random, features) if random.random() < 0.5 else []
    cells = Cells(features, scores, threshold, rules)
    try:
        actions = _as_actions(features, rules, steps)
    except InputError as error:
        _check_contradiction(str(error), cells)
        return None
    explained = np.argwhere(scores >= threshold)
    if not len(explained):
        return None
    chosen = explained[random.permutation(len(explained))[:N_QUERIES]]
    places = [tuple(one.tolist()) for one in chosen]
    queries = _frame([[mine[at] for mine, at in zip(values, place, strict=True)] for place in places], rows)
    try:
        explainer = sev.Explainer(
            model, rows, labels, actions=actions, threshold=threshold, allow_positive_reference=True, credibility=False
        )
    except PositiveReferenceError:  # no row of the other class is on the other side of the threshold
        return None
    return Setup(name, explainer, cells, rows, labels, queries, places, actions)


def _check_contradiction(message: str, cells: Cells) -> None:
    """Rules were refused: no known values keep them together."""
    known = np.ones(cells.scores.shape, dtype=bool)
    for axis, one in enumerate(cells.features):
        is_known = np.array([not is_missing(value) for value in one.values])
        known &= is_known.reshape([-1 if at == axis else 1 for at in range(known.ndim)])
    assert "contradict each other" in message
    assert "within" in message or not (known & ~np.any(cells.broken, axis=0)).any()


def _table(random: np.random.Generator, family: Family) -> tuple[pd.DataFrame, dict[str, float]]:
    columns: dict[str, Any] = {
        "n0": random.integers(-1, int(random.integers(2, 5)), N_ROWS),
        "n1": random.integers(0, int(random.integers(3, 6)), N_ROWS).astype(float),
    }
    steps = {}
    kind = random.integers(0, 4)
    if kind == 1:
        steps["n2"] = float(random.choice([0.5, 0.1, 0.25]))
        columns["n2"] = np.round(random.integers(0, 4, N_ROWS) * steps["n2"], 3)
    elif kind == 2:
        columns["n2"] = random.integers(0, 2, N_ROWS)
    if family.missing and random.random() < 0.7:
        columns["n1"] = np.where(random.random(N_ROWS) < 0.15, np.nan, columns["n1"])
    if family.categories != "none":
        texts = random.choice(CATEGORIES, N_ROWS).astype(object)
        if family.categories == "native":
            if random.random() < 0.5:
                texts[random.random(N_ROWS) < 0.1] = None
            columns["job"] = pd.Categorical(texts, categories=CATEGORIES, ordered=bool(random.integers(2)))
        else:
            columns["job"] = texts
    return pd.DataFrame(columns), steps


def _labels(random: np.random.Generator, rows: pd.DataFrame) -> np.ndarray:
    score = random.normal(size=len(rows)) * 0.6
    for name in rows.columns:
        if name == "job":
            score += rows[name].astype(object).map({"x": 1.5, "z": -1.5}).fillna(0.0).to_numpy(dtype=float)
        else:
            numbers = rows[name].to_numpy(dtype=float)
            shape = random.choice(["rise", "bump"])
            moved = np.abs(numbers - np.nanmean(numbers)) if shape == "bump" else numbers
            score += np.nan_to_num(random.normal() * moved / (np.nanstd(numbers) or 1.0), nan=0.7)
    return (score > np.quantile(score, random.uniform(0.4, 0.7))).astype(int)


def _every_value(random: np.random.Generator, values: pd.Series, step: float | None, family: Family) -> list[Any]:
    """Values outside the background first; all that may be permitted; missing last."""
    missing = [np.nan] if family.missing and (values.isna().any() or random.random() < 0.3) else []
    if not pd.api.types.is_numeric_dtype(values.dtype):
        present = set(values.dropna())
        known = [one for one in CATEGORIES if one in present]
        return known + ([None] if values.isna().any() else [])
    width = step or 1.0
    low, high = round(values.min() / width), round(values.max() / width)
    inside = [round(place * width, 6) for place in range(low, high + 1)]
    outside = []
    if random.random() < 0.4:
        outside.append(round((low - 1) * width, 6))
    if random.random() < 0.3 and values.dtype.kind == "f":
        outside.append(round((low + 0.4) * width, 6))  # between two steps
    if values.dtype.kind != "f":
        return [int(one) for one in outside + inside]
    return outside + inside + missing


def _frame(points: list[Any], rows: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(points, columns=list(rows.columns)).astype(rows.dtypes.to_dict())


def _threshold(random: np.random.Generator, family: Family, model: Any, scores: np.ndarray) -> float | None:
    """One of the scores, so that there are ties, where these are exact; else between two of them."""
    different = np.unique(scores)
    if len(different) < 3:
        return None
    if callable(model) and not hasattr(model, "predict_proba"):
        return float(random.choice(different[1:-1]))
    if family.exact and random.random() < 0.5:
        return float(random.choice(different[1:-1])) if random.random() < 0.5 else 0.5
    for place in random.permutation(len(different) - 1).tolist():
        low, high = different[place], different[place + 1]
        if high - low > 1e-6 and 0.1 < place / len(different) < 0.9:
            return float((low + high) / 2)
    return None


def _feature(
    random: np.random.Generator, background: pd.Series, values: list[Any], steps: dict[str, float]
) -> PlainFeature:
    name = str(background.name)
    known = background.dropna()
    base = {"cost": float(random.integers(1, 4)) + float(random.integers(0, 99)) / 1000}
    base["allow_missing"] = any(is_missing(one) for one in values) and bool(random.random() < 0.6)
    entry = random.choice(["frozen", "one way", "one way", "limits", "limits", "allowed", "", "", ""])
    if entry == "frozen":
        base.update(frozen=True, allow_missing=False)
    if not pd.api.types.is_numeric_dtype(background.dtype):
        is_ordered = isinstance(background.dtype, pd.CategoricalDtype) and bool(background.dtype.ordered)
        if entry == "one way" and is_ordered:
            base["direction"] = int(random.choice([-1, 1]))
        elif entry in ("allowed", "limits"):
            base["allowed"] = _allowed_moves(random, [one for one in values if not is_missing(one)])
        return PlainFeature(
            name, tuple(values), None, frozenset(known), 1.0, None, is_ordered=is_ordered, **base
        )  # fmt: skip
    numbers = known.to_numpy(dtype=float)
    step = steps.get(name, 1.0)
    if entry == "one way":
        base["direction"] = int(random.choice([-1, 1]))
    if entry == "limits" or (entry == "one way" and random.random() < 0.3):
        base["within"] = _limits(random, numbers, step, base.get("direction", 0))
    if entry == "allowed":
        inside = [one for one in values if not is_missing(one)]
        base["allowed"] = _allowed_moves(random, inside)
        steps.pop(name, None)
    return PlainFeature(
        name,
        tuple(values),
        (float(numbers.min()), float(numbers.max())),
        frozenset(),
        float(np.sqrt(((numbers - numbers.mean()) ** 2).mean())) or 1.0,
        step,
        **base,
    )


def _limits(random: np.random.Generator, numbers: np.ndarray, step: float, direction: int) -> tuple[str, float, float]:
    kind = random.choice(["percent", "change", "between"])
    if kind == "percent":
        low, high = random.choice([-100.0, -50.0, -25.0, 0.0]), random.choice([0.0, 50.0, 100.0, 200.0])
    elif kind == "change":
        low, high = -step * random.integers(0, 3), step * random.integers(0, 3)
    else:
        ends = np.sort(random.choice(np.unique(numbers), 2))
        return "between", float(ends[0]), float(ends[1])
    # a direction with a limit that leaves nothing in it is refused
    low, high = (low or -step if kind == "change" else low or -50.0), (high or (step if kind == "change" else 50.0))
    return str(kind), float(low), float(high)


def _allowed_moves(random: np.random.Generator, values: list[Any]) -> Any:
    some = [one for one in values if random.random() < 0.6] or values[:1]
    if random.random() < 0.5:
        return some
    return {one: [to for to in values if random.random() < 0.6] for one in values if random.random() < 0.8} or some


def _rules(random: np.random.Generator, features: list[PlainFeature]) -> list[PlainRule]:
    numbers = [one for one in features if one.is_number]
    texts = [one for one in features if not one.is_number]

    def comparison(names: list[PlainFeature]) -> Comparison:
        weights = {one.name: float(random.choice([-2.0, -1.0, 0.5, 1.0])) for one in names}
        middle = [float(random.choice([x for x in one.values if not is_missing(x)])) for one in names]
        limit = sum(weight * value for weight, value in zip(weights.values(), middle, strict=True))
        sign = str(random.choice(["<", "<=", ">", ">=", "!=", "=="], p=[0.2, 0.3, 0.15, 0.25, 0.07, 0.03]))
        return Comparison(weights, sign, round(limit, 6))

    rules: list[PlainRule] = []
    for _ in range(int(random.integers(1, 3))):
        kind = random.integers(0, 4)
        two = [numbers[at] for at in random.permutation(len(numbers))[:2]]
        if kind == 0 or (kind > 2 and not texts):
            rules.append(comparison(two[:1]))
        elif kind == 1:
            rules.append(comparison(two))
        elif kind == 2:
            rules.append(Implies(comparison(two[:1]), comparison(two[1:])))
        else:
            known = [one for one in texts[0].values if not is_missing(one)]
            rules.append(Implies(OneOf("job", tuple(known[:1])), comparison(two[:1])))
    return rules


def _as_actions(features: list[PlainFeature], rules: list[PlainRule], steps: dict[str, float]) -> sev.Actions:
    entries: dict[str, Any] = {"frozen": [], "increase": [], "decrease": [], "allow_missing": []}
    entries.update(within={}, allowed={}, costs={}, steps=steps)
    for one in features:
        entries["costs"][one.name] = one.cost
        for entry, named in (
            ("frozen", one.frozen), ("increase", one.direction > 0), ("decrease", one.direction < 0),
            ("allow_missing", one.allow_missing),
        ):  # fmt: skip
            if named:
                entries[entry].append(one.name)
        if one.allowed is not None:
            entries["allowed"][one.name] = one.allowed
        if one.within is not None:
            kind, low, high = one.within
            unit = "%" if kind == "percent" else ""
            pair = (f"{low:+}{unit}", f"{high:+}{unit}")
            entries["within"][one.name] = sev.between(low, high) if kind == "between" else pair
    return sev.Actions(**entries, rules=[str(rule) for rule in rules])
