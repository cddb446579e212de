"""Tables and models at the edges: wide, constant, one-hot, unusual cells, unusual outputs of callables."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from contracts.fuzz.draw import Rng, classifier, labels_of, negative_row, numbers, split
from contracts.fuzz.recipes._registry import recipe
from contracts.fuzz.recipes.boosters import make_lightgbm, make_xgboost
from contracts.fuzz.recipes.dtypes import seen_cells
from contracts.fuzz.recipes.plain import LINEAR, OTHERS, TREES, pick
from contracts.fuzz.setups import Setup


@recipe
def wide_tables(rng: Rng) -> Setup:
    """More features than fit into a word; a few differ between query and reference."""
    n_columns = int(rng.choice([63, 64, 65, 70, 130]))
    rows = rng.normal(size=(70, n_columns)).round(1)
    labels = labels_of(rng, rows[:, ::9])
    kinds = {
        **{name: LINEAR[name] for name in ("logistic", "svc")},
        "forest": TREES["forest"],
        "boosting": TREES["boosting"],
    }
    model = pick(rng, {**kinds, "lightgbm": make_lightgbm, "neighbours": OTHERS["neighbours"]}).fit(rows, labels)
    setup = classifier(rng, model, rows, labels, rows[:6], free_reference=False, rounding=1e-9, order_tolerance=1e-6)
    queries = np.repeat(setup.reference, 6, axis=0)
    for query in queries:
        some = rng.choice(n_columns, 7, replace=False)
        query[some] = rows[int(rng.integers(70)), some] + rng.choice([-3.0, 0.0, 3.0])
    setup.queries = queries
    return setup


@recipe
def constant_and_empty_columns(rng: Rng) -> Setup:
    rows = numbers(rng, int(rng.integers(2, 5)))
    rows[:, 0] = 1.0
    labels = labels_of(rng, rows)
    background, y, queries = split(rows, labels)
    queries = queries.copy()
    queries[::2, 0] = float(rng.choice([1.0, 2.0, -5.0]))
    made: dict[str, Any] = dict(TREES)
    if rng.random() < 0.5:
        background = background.copy()
        background[:, 0] = np.nan  # nothing is known about this column, queries have values in it
        made = {name: TREES[name] for name in ("tree", "forest")}
    model = pick(rng, {**made, "xgboost": make_xgboost, "lightgbm": make_lightgbm}).fit(background, y)
    return classifier(rng, model, background, y, queries, order_tolerance=1e-5, may_fail=True)


@recipe
def small_backgrounds(rng: Rng) -> Setup:
    """Two or three rows, from which little can be learned about a model."""
    rows = numbers(rng, int(rng.integers(2, 5)))
    labels = labels_of(rng, rows)
    model = pick(
        rng, {**{name: LINEAR[name] for name in ("logistic", "svc", "gaussian")}, **TREES, "network": OTHERS["network"]}
    )
    model.fit(rows, labels)
    return classifier(
        rng,
        model,
        rows[:3],
        labels[:3],
        rows[60:],
        free_reference=False,
        vary_threshold=False,
        rounding=1e-9,
        order_tolerance=1e-6,
    )


@recipe
def one_hot_blocks_that_are_found(rng: Rng) -> Setup:
    """Columns named after one variable that exclude each other are one feature without being told."""
    codes = rng.integers(0, 3, 90)
    frame = pd.DataFrame({f"colour_{name}": (codes == number).astype(int) for number, name in enumerate("rgb")})
    frame["age"] = rng.integers(18, 60, 90)
    frame["income"] = rng.normal(size=90).round(1)
    background, y, queries = split(frame, labels_of(rng, frame.to_numpy(dtype=float)))
    model = pick(rng, {**LINEAR, **TREES}).fit(background, y)
    blocks = {"colour": ["colour_r", "colour_g", "colour_b"]}
    return classifier(rng, model, background, y, queries, blocks=blocks, rounding=1e-9)


UNUSUAL_CELLS: dict[str, list[Any]] = {
    "equal but not the same": [1, 1.0, True, "1", 0, False, 0.0, -0.0],
    "missing": [None, float("nan"), pd.NA, pd.NaT, "", "nan", "None"],
    "decimals": [Decimal("1.0"), Decimal("1.00"), Decimal("2"), None],
    "days": [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2), None],
    "bytes and words": [b"a", "a", b"b", "b"],
    "integers beyond float": [2**53, 2**53 + 1, 2**70, -(2**63)],
}


@recipe
def unusual_cells(rng: Rng) -> Setup:
    """Objects of Python in object columns; values that compare as equal may be different to a model."""
    n_columns = int(rng.integers(2, 4))
    columns = {}
    for place in range(n_columns):
        cells = UNUSUAL_CELLS[str(rng.choice(list(UNUSUAL_CELLS)))]
        columns[f"c{place}"] = pd.Series([cells[number] for number in rng.integers(0, len(cells), 70)], dtype=object)
    frame = pd.DataFrame(columns)
    background, _, queries = split(frame, np.zeros(70))
    return seen_cells(rng, background, queries)


ARROW_AND_NULLABLE = {
    "int64[pyarrow]": lambda rng, n: rng.integers(0, 4, n),
    "double[pyarrow]": lambda rng, n: rng.integers(0, 4, n) / 2,
    "string[pyarrow]": lambda rng, n: rng.choice(["a", "b", "c"], n),
    "bool[pyarrow]": lambda rng, n: rng.random(n) < 0.5,
    "Float64": lambda rng, n: rng.integers(0, 4, n) / 2,
    "UInt8": lambda rng, n: rng.integers(0, 4, n),
    "Float32": lambda rng, n: rng.integers(0, 4, n) / 2,
    "string": lambda rng, n: rng.choice(["a", "b", "c"], n),
    "datetime64[s, Europe/Paris]": lambda rng, n: (
        pd.Timestamp("2024-01-01", tz="Europe/Paris") + pd.to_timedelta(rng.integers(0, 4, n), unit="D")
    ),
    "timedelta64[s]": lambda rng, n: pd.to_timedelta(rng.integers(0, 4, n), unit="D"),
    "uint64": lambda rng, n: rng.integers(0, 4, n).astype(np.uint64) + np.uint64(2**63),
    "int16": lambda rng, n: rng.integers(0, 4, n),
    "float16": lambda rng, n: rng.integers(0, 4, n) / 4,
}


@recipe
def further_pandas_dtypes(rng: Rng) -> Setup:
    # a row of a frame has one dtype: pandas rounds, or fails, where arrow's and its own have none in common
    of_arrow = bool(rng.random() < 0.4)
    pool = [name for name in ARROW_AND_NULLABLE if ("pyarrow" in name) == of_arrow]
    chosen = rng.choice(pool, int(rng.integers(2, 5)), replace=False)
    frame = pd.DataFrame(
        {
            f"c{place}": pd.Series(ARROW_AND_NULLABLE[str(name)](rng, 70)).astype(str(name))
            for place, name in enumerate(chosen)
        }
    )
    if rng.random() < 0.5:
        for name in frame.columns:
            if not isinstance(frame[name].dtype, np.dtype):
                frame[name] = frame[name].mask(rng.random(70) < 0.2)
    background, _, queries = split(frame, np.zeros(70))
    return seen_cells(rng, background, queries)


@recipe
def unusual_categories(rng: Rng) -> Setup:
    """Categories that are numbers, booleans, intervals or dates, ordered or not."""
    kinds: dict[str, Any] = {
        "integers": pd.Categorical(rng.integers(0, 4, 70), categories=[3, 1, 2, 0]),
        "ordered": pd.Categorical(rng.choice(["low", "mid", "high"], 70), ["low", "mid", "high"], ordered=True),
        "booleans": pd.Categorical(rng.random(70) < 0.5),
        "intervals": pd.cut(rng.normal(size=70), [-9.0, -0.5, 0.5, 9.0]),
        "dates": pd.Categorical(pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 3, 70), unit="D")),
    }
    chosen = rng.choice(list(kinds), int(rng.integers(2, 4)), replace=False)
    frame = pd.DataFrame({f"c{place}": kinds[str(name)] for place, name in enumerate(chosen)})
    if rng.random() < 0.4:
        frame = frame.mask(rng.random(frame.shape) < 0.15)
    background, _, queries = split(frame, np.zeros(70))
    return seen_cells(rng, background, queries)


class OutputsOf:
    """A callable whose probabilities come in one of the forms that people return them in."""

    def __init__(self, weights: np.ndarray, form: str) -> None:
        self.weights, self.form = weights, form

    def second(self, rows: Any) -> np.ndarray:
        return (np.asarray(rows, dtype=float) @ self.weights > 0.5) * 0.5 + 0.25

    def __call__(self, rows: Any) -> Any:
        second = self.second(rows)
        both = np.column_stack([1.0 - second, second])
        forms = {
            "column": second[:, None],
            "both": both,
            "frame": pd.DataFrame(both, columns=["no", "yes"]),
            "series": pd.Series(second, index=range(5, 5 + len(second))),
            "list": second.tolist(),
            "single": second.astype(np.float32),
            "matrix": np.asfortranarray(both),
            "booleans": second > 0.5,
            "integers": (second > 0.5).astype(int),
        }
        return forms[self.form]


@recipe
def outputs_of_callables(rng: Rng) -> Setup:
    rows = rng.integers(-2, 3, (70, int(rng.integers(2, 6)))).astype(float)
    form = str(rng.choice(["column", "both", "frame", "series", "list", "single", "matrix", "booleans", "integers"]))
    model = OutputsOf(rng.integers(-1, 3, rows.shape[1]).astype(float), form)
    background, _, queries = split(rows, labels_of(rng, rows))

    def score(table: Any) -> np.ndarray:
        second = model.second(table)
        return (second > 0.5).astype(float) if form in ("booleans", "integers") else second

    return Setup(
        model=model,
        background=background,
        queries=queries,
        score=score,
        reference=negative_row(rng, score, 0.5, background),
        order_tolerance=0.0,
    )


@recipe
def positive_references(rng: Rng) -> Setup:
    """Allowed when asked for: from a positive reference nothing has to be added."""
    rows = numbers(rng)
    background, y, queries = split(rows, labels_of(rng, rows))
    model = pick(rng, {**LINEAR, **TREES, "neighbours": OTHERS["neighbours"]}).fit(background, y)
    setup = classifier(rng, model, background, y, queries, vary_threshold=False, rounding=1e-9)
    setup.reference = background[[int(rng.integers(len(background)))]]
    setup.options.pop("reference", None)
    setup.options["allow_positive_reference"] = True
    return setup


@recipe
def arrays_of_all_layouts(rng: Rng) -> Setup:
    """Fortran order, views with steps, read-only, and lists."""
    rows = numbers(rng, int(rng.integers(2, 5)))
    background, y, queries = split(rows, labels_of(rng, rows))
    model = pick(rng, {**LINEAR, **TREES}).fit(background, y)
    setup = classifier(rng, model, background, y, queries, free_reference=False, rounding=1e-9)
    layout = str(rng.choice(["fortran", "steps", "read-only"]))
    if layout == "fortran":
        setup.queries, setup.background = np.asfortranarray(queries), np.asfortranarray(background)
    elif layout == "steps":
        wide = np.zeros((len(queries), 2 * queries.shape[1]))
        wide[:, ::2] = queries
        setup.queries = wide[:, ::2]
    else:
        setup.queries, setup.background = queries.copy(), background.copy()
        setup.queries.setflags(write=False)
        setup.background.setflags(write=False)
    return setup
