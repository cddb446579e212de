"""A model that sees everything: each cell's value, missing marker and dtype decide its part of the score."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np
from contracts.fuzz.mixing import kind_of


class CellScore:
    """Sums of small integers, one for each cell, that follow from the cell as it is written out.

    A cell that arrives as another value, another missing marker or (with ``dtypes``) in a column of another dtype has
    another part in the score.

    Parameters
    ----------
    salt : int
        Another salt is another model.
    dtypes : bool
        Whether the dtype of a column matters.
    """

    def __init__(self, salt: int, *, dtypes: bool = True) -> None:
        self.salt = salt
        self.dtypes = dtypes
        self.n_scored = 0
        self._known: dict[str, int] = {}

    def __call__(self, rows: Any) -> np.ndarray:
        columns = _columns(rows)
        total = np.zeros(rows.shape[0])
        for place, (dtype, cells) in enumerate(columns):
            prefix = f"{self.salt}|{place}|{dtype if self.dtypes else ''}|"
            total += [self._part(prefix, cell) for cell in cells]
        self.n_scored += rows.shape[0]
        return total

    def _part(self, prefix: str, cell: Any) -> int:
        written = prefix + repr(cell)
        if written not in self._known:
            self._known[written] = crc32(written.encode()) % 7 - 3
        return self._known[written]


def _columns(rows: Any) -> list[tuple[str, list[Any]]]:
    kind = kind_of(rows)
    if kind == "pandas":
        return [(_dtype_name(rows.iloc[:, place].dtype), _cells(rows.iloc[:, place])) for place in range(rows.shape[1])]
    if kind == "polars":
        return [(str(column.dtype), column.to_list()) for column in rows.get_columns()]
    if kind == "pyarrow":
        return [(str(column.type), column.to_pylist()) for column in rows.columns]
    return [(str(rows.dtype), rows[:, place].tolist()) for place in range(rows.shape[1])]


def _cells(column: Any) -> list[Any]:
    return list(column.array) if column.dtype == object else column.tolist()


def _dtype_name(dtype: Any) -> str:
    return str(getattr(dtype, "name", dtype))  # of a category column without its list of categories
