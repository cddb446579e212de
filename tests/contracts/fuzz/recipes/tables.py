"""Names of columns, rows that are nearly the same, and what tables may look like beside their cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from contracts.fuzz.draw import Rng, classifier, labels_of, numbers, split
from contracts.fuzz.recipes._registry import recipe
from contracts.fuzz.recipes.boosters import make_lightgbm
from contracts.fuzz.recipes.dtypes import seen_cells
from contracts.fuzz.recipes.plain import LINEAR, TREES, pick
from contracts.fuzz.setups import Setup

ODD_NAMES: list[list[Any]] = [
    ["", "a", "b", "c"],
    ["a", "", "b", "c"],
    [1, "1", 2, "2"],
    [0, 1, 2, 3],
    ["0", 1, "a", 7],
    [" ", "  ", "a", "A"],
    ["x0", "x1", "x2", "x3"],
    ["index", "level_0", "size", "values"],
    ["None", "nan", "True", "1.0"],
    [True, 2, "True", "2"],
    [1.5, "1.5", 2.0, "2"],
]


@recipe
def odd_column_names(rng: Rng) -> Setup:
    """Any model that takes a frame has to get these names back."""
    names = ODD_NAMES[int(rng.integers(len(ODD_NAMES)))]
    rows = rng.integers(0, 4, (70, 4))
    frame = pd.DataFrame(rows, columns=pd.Index(names, dtype=object))
    background, _, queries = split(frame, labels_of(rng, rows.astype(float)))
    # rows that differ in one column only, each of them beside its twin
    place = int(rng.integers(4)) if "" not in names or rng.random() < 0.3 else names.index("")
    twins = queries.copy()
    twins.isetitem(place, rng.integers(0, 4, len(twins)))
    both = pd.concat([queries.iloc[:4], twins.iloc[:4]], ignore_index=True)
    return seen_cells(rng, background, both)


@recipe
def integer_column_names_and_trees(rng: Rng) -> Setup:
    """Trees are read whatever the columns are called."""
    rows = numbers(rng, 4)
    frame = pd.DataFrame(rows, columns=[0, 1, 2, 3])
    background, y, queries = split(frame, labels_of(rng, rows))
    model = pick(rng, {**TREES, "lightgbm": make_lightgbm}).fit(background, y)
    return classifier(rng, model, background, y, queries, expects_backend="trees", order_tolerance=1e-6)


@recipe
def nearly_the_same_rows(rng: Rng) -> Setup:
    """Twins, and rows that differ in one cell, in one batch."""
    rows = numbers(rng, int(rng.integers(2, 5)))
    background, y, queries = split(rows, labels_of(rng, rows))
    queries = np.repeat(queries[:3], 3, axis=0)
    queries[1::3, 0] += 1.0
    queries[2::3, -1] = -queries[2::3, -1]
    model = pick(rng, {**LINEAR, **TREES}).fit(background, y)
    return classifier(rng, model, background, y, queries, rounding=1e-9)


@recipe
def columns_in_another_order(rng: Rng) -> Setup:
    """Queries bring their columns in another order, and one more; the model gets its own."""
    rows = numbers(rng, int(rng.integers(2, 6)))
    frame = pd.DataFrame(rows, columns=[f"c{place}" for place in range(rows.shape[1])])
    background, y, queries = split(frame, labels_of(rng, rows))
    model = pick(rng, TREES).fit(background, y)
    setup = classifier(rng, model, background, y, queries)
    own = setup.score
    columns = list(frame.columns)
    setup.score = lambda table: own(table[columns])
    decide = setup.predict
    setup.predict = None if decide is None else lambda table: decide(table[columns])
    setup.explained = queries.assign(more="text")[[*columns[::-1], "more"]]
    return setup


@recipe
def one_hot_blocks(rng: Rng) -> Setup:
    """Columns of one variable, grouped by the user, and a column that has nothing to do with them."""
    codes = rng.integers(0, 3, 70)
    frame = pd.DataFrame({f"colour {name}": (codes == number).astype(int) for number, name in enumerate("rgb")})
    frame["age"] = rng.integers(18, 60, 70)
    frame["income"] = rng.normal(size=70).round(1)
    background, y, queries = split(frame, labels_of(rng, frame.to_numpy(dtype=float)))
    model = pick(rng, {**LINEAR, **TREES}).fit(background, y)
    groups = {"colour": [name for name in frame.columns if name.startswith("colour")]}
    return classifier(rng, model, background, y, queries, groups=groups, rounding=1e-9)
