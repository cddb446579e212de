"""Every dtype of pandas, numpy, polars and pyarrow before a model that sees each cell as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from contracts.fuzz.draw import Rng, labels_of, mixed_frame, negative_row, split, with_missing
from contracts.fuzz.hashing import CellScore
from contracts.fuzz.recipes._registry import recipe
from contracts.fuzz.setups import Setup


def seen_cells(rng: Rng, background: Any, queries: Any, *, dtypes: bool = True, **known: Any) -> Setup:
    """The setup of a :class:`CellScore`."""
    model = CellScore(int(rng.integers(1 << 30)), dtypes=dtypes)
    counted = CellScore(model.salt, dtypes=dtypes)  # the truth's own, so that counts are the package's
    threshold = float(rng.choice([0.5, 0.0, 1.0]))
    return Setup(
        model=model,
        background=background,
        queries=queries,
        score=counted,
        threshold=threshold,
        options={"threshold": threshold, **known.pop("options", {})},
        reference=known.pop("reference", None) or negative_row(rng, counted, threshold, background),
        order_tolerance=0.0,
        scored=lambda: model.n_scored,
        **known,
    )


@recipe
def pandas_dtypes(rng: Rng) -> Setup:
    frame, labels = mixed_frame(rng)
    background, _, queries = split(frame, labels)
    return seen_cells(rng, background, queries)


@recipe
def pandas_object_columns_with_none(rng: Rng) -> Setup:
    frame, labels = mixed_frame(rng, kinds=["object", "float", "object", "text"][: int(rng.integers(2, 5))])
    frame = with_missing(rng, frame, 0.25)
    if rng.random() < 0.3:  # both markers in one column are two different cells
        frame["object0"] = pd.Series(
            [np.nan if rng.random() < 0.2 else cell for cell in frame["object0"]], dtype=object
        )
    background, _, queries = split(frame, labels)
    return seen_cells(rng, background, queries)


@recipe
def pandas_nullable_columns(rng: Rng) -> Setup:
    frame, labels = mixed_frame(rng, kinds=list(rng.choice(["Int", "boolean", "text", "category", "date"], 4)))
    background, _, queries = split(with_missing(rng, frame, 0.2), labels)
    return seen_cells(rng, background, queries)


@recipe
def pandas_means_of_integers(rng: Rng) -> Setup:
    """The reference is a mean, given by the user: unchanged integers stay integers beside it."""
    frame, labels = mixed_frame(rng, kinds=["int", "int", "float", "bool"][: int(rng.integers(2, 5))])
    background, _, queries = split(frame, labels)
    reference = background.iloc[[0]].copy()
    for name in reference.columns[: int(rng.integers(1, 3))]:
        reference[name] = [0.25 + float(rng.integers(3))]
    setup = seen_cells(rng, background, queries)
    if setup.score(reference)[0] < setup.threshold:
        setup.reference = reference
    return setup


@recipe
def pandas_single_precision_background(rng: Rng) -> Setup:
    """Queries hold numbers that float32 does not."""
    frame, labels = mixed_frame(rng, kinds=["single", "single", "float"][: int(rng.integers(2, 4))])
    background, _, queries = split(frame, labels)
    queries = queries.astype(dict.fromkeys(queries.columns, np.float64))
    queries += rng.choice([0.0, 1e-9, 0.1], queries.shape)
    return seen_cells(rng, background, queries, dtypes=False)


@recipe
def numpy_dtypes(rng: Rng) -> Setup:
    dtype = str(rng.choice(["int64", "int32", "int8", "uint8", "bool", "float32", "float64", "big"]))
    rows = rng.integers(0, 4, (70, int(rng.integers(2, 6))))
    table: Any = rows.astype(np.int64) + (1 << 60) if dtype == "big" else (rows % 2 if dtype == "bool" else rows)
    table = table if dtype == "big" else table.astype(dtype)
    background, _, queries = split(table, labels_of(rng, rows.astype(float)))
    return seen_cells(rng, background, queries)


@recipe
def numpy_single_precision_background(rng: Rng) -> Setup:
    rows = rng.normal(size=(70, int(rng.integers(2, 5)))).round(1)
    background, _, queries = split(rows, labels_of(rng, rows))
    return seen_cells(rng, background.astype(np.float32), queries, dtypes=False)


@recipe
def numpy_objects(rng: Rng) -> Setup:
    frame, labels = mixed_frame(rng, kinds=["object", "int", "float", "bool"][: int(rng.integers(2, 5))])
    table = np.empty(frame.shape, dtype=object)
    for place, name in enumerate(frame.columns):
        table[:, place] = frame[name].tolist()
    if rng.random() < 0.5:
        table[rng.random(table.shape) < 0.15] = None
    background, _, queries = split(table, labels)
    return seen_cells(rng, background, queries)


def _columns_with_both_markers(rng: Rng, n_rows: int) -> dict[str, list[Any]]:
    def cells(make: Any, *, marks: tuple[Any, ...]) -> list[Any]:
        return [marks[int(rng.integers(len(marks)))] if rng.random() < 0.3 else make() for _ in range(n_rows)]

    every = {
        "amount": cells(lambda: round(float(rng.normal()), 1), marks=(None, float("nan"))),
        "count": cells(lambda: int(rng.integers(0, 4)), marks=(None,)),
        "word": cells(lambda: str(rng.choice(["red", "green", "blue"])), marks=(None,)),
        "flag": cells(lambda: bool(rng.random() < 0.5), marks=(None,)),
        "whole": [int(rng.integers(0, 4)) for _ in range(n_rows)],
    }
    chosen = ["amount", *rng.choice(["count", "word", "flag", "whole"], int(rng.integers(1, 4)), replace=False)]
    return {str(name): every[str(name)] for name in chosen}


@recipe
def polars_tables(rng: Rng) -> Setup:
    """NaN and null are two different cells."""
    import polars

    table = polars.DataFrame(_columns_with_both_markers(rng, 70))
    if rng.random() < 0.3:
        table = table.with_columns(polars.col("amount").cast(polars.Float32))
    if "word" in table.columns and rng.random() < 0.4:
        table = table.with_columns(polars.col("word").cast(polars.Categorical))
    return seen_cells(rng, table[:62], table[62:])


@recipe
def arrow_tables(rng: Rng) -> Setup:
    import pyarrow

    columns = _columns_with_both_markers(rng, 70)
    arrays = {name: pyarrow.array(cells, from_pandas=False) for name, cells in columns.items()}
    if "word" in arrays and rng.random() < 0.4:
        arrays["word"] = arrays["word"].dictionary_encode()
    table = pyarrow.table(arrays)
    return seen_cells(rng, table.slice(0, 62), table.slice(62))
