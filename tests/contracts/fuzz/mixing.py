"""Mixed rows as a user would build them, in plain pandas, numpy, polars or pyarrow.

Nothing here comes from the package. A mixed row is the query's row with the cells of some columns replaced by the
reference's, as ``row.loc[:, column] = value`` does it: a column keeps the query's dtype if that holds the reference's
value, else a replaced cell brings its own. So an integer that nobody touched stays an integer, also where the reference
holds a mean. Rows whose columns have different dtypes come in different tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd


def kind_of(table: Any) -> str:
    """The library that a table belongs to."""
    package = type(table).__module__.partition(".")[0]
    return package if package in ("pandas", "polars", "pyarrow") else "numpy"


def columns_of(table: Any) -> list[Any]:
    """Column names; positions for arrays."""
    kind = kind_of(table)
    if kind == "numpy":
        return list(range(table.shape[1]))
    return list(table.column_names) if kind == "pyarrow" else list(table.columns)


def take(table: Any, rows: Sequence[int]) -> Any:
    """Some rows of a table, in the given order."""
    kind = kind_of(table)
    rows = [int(row) for row in rows]
    if kind == "pandas":
        return table.iloc[rows]
    if kind == "pyarrow":
        return table.take(rows)
    return table[rows]


def same_cells(query: np.ndarray, reference: np.ndarray, places: list[int]) -> bool:
    """Whether two rows of numbers are the same in some columns."""
    return bool((np.asarray(query)[0, places] == np.asarray(reference)[0, places]).all())


def one_row(table: Any, row: int) -> Any:
    """A row as users hold one: a Series, a 1-D array, a mapping."""
    kind = kind_of(table)
    if kind == "pandas":  # cell by cell: ``iloc`` looks for one dtype, and rounds or fails where there is none
        return pd.Series([table[name].array[row] for name in table.columns], index=table.columns, dtype=object)
    if kind == "numpy":
        return table[row]
    return table.row(row, named=True) if kind == "polars" else table.slice(row, 1).to_pylist()[0]


def mixed_rows(query: Any, reference: Any, replaced: np.ndarray) -> Iterator[tuple[np.ndarray, Any]]:
    """All vertices between a query and its reference.

    Parameters
    ----------
    query, reference : tables of one row, of one library
        The row to start from, and the row that cells are taken from.
    replaced : ndarray of bool, shape (n_vertices, n_columns)
        Which cells are the reference's.

    Yields
    ------
    numbers : ndarray of int
        Which vertices these are.
    table : table
        Their rows, as a model takes them.
    """
    kind = kind_of(query)
    if kind == "numpy":
        yield np.arange(len(replaced)), _mixed_array(query[0], reference[0], replaced)
        return
    names = columns_of(query)
    cells = {"pandas": _PandasColumn, "polars": _PolarsColumn, "pyarrow": _ArrowColumn}[kind]
    columns = [cells(query, reference, name) for name in names]
    two_types = np.array([column.has_two_types for column in columns], dtype=bool)
    patterns, group = np.unique(replaced[:, two_types], axis=0, return_inverse=True)
    group = np.asarray(group).ravel()
    for number in range(len(patterns)):
        some = np.flatnonzero(group == number)
        mixed = [column.mixed(replaced[some, place]) for place, column in enumerate(columns)]
        yield some, _table(kind, names, mixed)


def _mixed_array(query: np.ndarray, reference: np.ndarray, replaced: np.ndarray) -> np.ndarray:
    """Arrays have one dtype: the query's where it holds the reference's values, else the one that holds both."""
    dtype = query.dtype if _holds(query.dtype, reference) else np.result_type(query, reference)
    return np.where(replaced, reference.astype(dtype)[None, :], query.astype(dtype)[None, :])


def _holds(dtype: np.dtype, values: np.ndarray) -> bool:
    if dtype.kind == "O" or values.dtype == dtype:
        return True
    with np.errstate(invalid="ignore"):
        cast = values.astype(dtype)
    return bool(((cast == values) | ((cast != cast) & (values != values))).all())


def _table(kind: str, names: list[Any], mixed: list[Any]) -> Any:
    if kind == "pandas":
        frame = pd.concat(mixed, axis=1)
        frame.columns = pd.Index(names)
        return frame
    if kind == "polars":
        import polars

        return polars.DataFrame(mixed)
    import pyarrow

    return pyarrow.table(mixed, names=names)


class _PandasColumn:
    """Cells of one column; a list of values under an explicit dtype keeps None, NaN and NA apart."""

    def __init__(self, query: pd.DataFrame, reference: pd.DataFrame, name: Any) -> None:
        self._values = [query[name].array[0], reference[name].array[0]]
        self._dtypes = [query[name].dtype, reference[name].dtype]
        if isinstance(self._dtypes[0], pd.CategoricalDtype) and isinstance(self._dtypes[1], pd.CategoricalDtype):
            self._dtypes = [_all_categories(*self._dtypes)] * 2
        elif _column_holds(self._dtypes[0], reference[name]):
            self._dtypes[1] = self._dtypes[0]
        self.has_two_types = self._dtypes[0] != self._dtypes[1]

    def mixed(self, replaced: np.ndarray) -> pd.Series:
        return pd.Series(
            [self._values[int(chosen)] for chosen in replaced], dtype=self._dtypes[int(replaced[0])], copy=True
        )


def _column_holds(dtype: Any, cell: pd.Series) -> bool:
    """Whether a cell can be written into a column of this dtype without a change."""
    if dtype == cell.dtype or dtype.kind == "O":
        return True
    if pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_bool_dtype(cell.dtype):
        return False
    if isinstance(dtype, np.dtype) and dtype.kind in "iu" and cell.isna().any():
        return False
    try:
        cast = cell.astype(dtype)
    except (TypeError, ValueError):
        return False
    return bool((cast.isna() == cell.isna()).all() and (cast.dropna() == cell.dropna()).all())


def _all_categories(one: pd.CategoricalDtype, other: pd.CategoricalDtype) -> pd.CategoricalDtype:
    """The longer list of categories: of two tables of one source, one may have categories that the other lacks."""
    longer, shorter = (one, other) if len(one.categories) >= len(other.categories) else (other, one)
    more = [name for name in shorter.categories if name not in longer.categories]
    return pd.CategoricalDtype([*longer.categories, *more], ordered=longer.ordered)


class _PolarsColumn:
    def __init__(self, query: Any, reference: Any, name: Any) -> None:
        self._cells = [query[name], reference[name]]
        self.has_two_types = query[name].dtype != reference[name].dtype

    def mixed(self, replaced: np.ndarray) -> Any:
        import polars

        if self.has_two_types:
            return polars.concat([self._cells[int(replaced[0])]] * len(replaced))
        return polars.concat(self._cells).gather(replaced.astype(int).tolist())


class _ArrowColumn:
    def __init__(self, query: Any, reference: Any, name: Any) -> None:
        self._cells = [query.column(name).combine_chunks(), reference.column(name).combine_chunks()]
        self.has_two_types = self._cells[0].type != self._cells[1].type

    def mixed(self, replaced: np.ndarray) -> Any:
        import pyarrow

        if self.has_two_types:
            return pyarrow.concat_arrays([self._cells[int(replaced[0])]] * len(replaced))
        return pyarrow.concat_arrays(self._cells).take(pyarrow.array(replaced.astype(int)))
