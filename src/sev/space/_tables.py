"""Tables in the form that a model takes, and one common form for work inside this package.

Inside, rows are pandas DataFrames with the background's columns in the background's order and, as far as the values
allow, its dtypes. Outside, the model is always asked in the form that it was given: pandas, polars, pyarrow or
numpy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from sev.exceptions import InputError
from sev.typing import NativeTable

_FLOAT = np.dtype(np.float64)

TableKind = Literal["pandas", "polars", "pyarrow", "numpy"]


@dataclass(frozen=True, eq=False)
class TableForm:
    """The columns and the container of the rows that a model takes.

    Parameters
    ----------
    kind : {"pandas", "polars", "pyarrow", "numpy"}
        The container.
    columns : tuple
        Column names; ``"x0", "x1", ...`` for arrays.
    dtypes : dict
        pandas dtype of each column.
    schema : object
        What the container needs to be built again: a polars or arrow schema, or a numpy dtype.
    """

    kind: TableKind
    columns: tuple[Any, ...]
    dtypes: dict[Any, Any]
    schema: Any = None

    @cached_property
    def _all_float(self) -> bool:
        return all(dtype == np.float64 for dtype in self.dtypes.values())

    @classmethod
    def of(cls, rows: NativeTable) -> TableForm:
        """Read the form of background rows."""
        kind = _table_kind(rows)
        frame = _as_pandas(rows, kind)
        if frame.shape[0] == 0:
            raise InputError("The background has no rows: pass the rows that the model was trained on.")
        if frame.shape[1] == 0:
            raise InputError("The background has no columns: pass the rows that the model was trained on.")
        if not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()].unique().tolist()
            raise InputError(f"Column names must be unique; these occur more than once: {twice}.")
        schema = {"pandas": None, "numpy": getattr(rows, "dtype", None)}.get(kind, getattr(rows, "schema", None))
        return cls(kind=kind, columns=tuple(frame.columns), dtypes=dict(frame.dtypes), schema=schema)

    def to_frame(self, rows: NativeTable, *, what: str = "X") -> pd.DataFrame:
        """Bring rows into the common form, or say which column or row does not fit.

        Parameters
        ----------
        rows : table, or array of shape (n_rows, n_columns)
            Named columns may come in any order; columns that the background does not have are left out.
        what : str
            What to call the rows in messages.
        """
        kind = _table_kind(rows)
        frame = _as_pandas(rows, kind)
        if kind == "numpy":
            if frame.shape[1] != len(self.columns):
                raise InputError(
                    f"{what} has {frame.shape[1]} columns, the background has {len(self.columns)}: "
                    "pass rows with the same columns."
                )
            frame.columns = list(self.columns)
        else:
            self._check_columns(frame, what)
            if tuple(frame.columns) != self.columns:
                frame = frame[list(self.columns)]
        return self._fit_dtypes(frame, what)

    def one_row(self, row: Any, *, what: str = "row") -> pd.DataFrame:
        """Bring a single row (Series, mapping, 1-D array, or table of one row) into the common form."""
        if isinstance(row, pd.Series):
            if self.kind == "numpy" and not set(self.columns) <= set(row.index):
                table: Any = row.to_numpy()[None, :]
            else:
                label = row.name if row.name is not None else 0
                table = pd.DataFrame({name: [row[name]] for name in row.index}, index=[label])
        elif isinstance(row, Mapping):
            table = pd.DataFrame({name: [value] for name, value in row.items()})
        elif isinstance(row, np.ndarray) and row.ndim == 1:
            table = row[None, :]
        elif isinstance(row, Sequence) and not isinstance(row, str):
            table = pd.DataFrame([list(row)], columns=list(self.columns)) if len(row) == len(self.columns) else None
            if table is None:
                raise InputError(f"The {what} has {len(row)} values, expected {len(self.columns)}.")
        else:
            table = row
        frame = self.to_frame(table, what=what)
        if len(frame) != 1:
            raise InputError(f"Expected one row, got {len(frame)}: use explain() for several.")
        return frame

    def to_native(self, frame: pd.DataFrame) -> NativeTable:
        """Rows of the common form in the container that the model takes."""
        if self.kind == "pandas":
            return frame
        if self.kind == "numpy":
            dtype = np.dtype(self.schema)
            return frame.to_numpy(dtype=dtype if dtype.kind in "fO" else np.float64)
        if self.kind == "polars":
            return _to_polars(frame, self.schema)
        return _to_arrow(frame, self.schema)

    def is_numeric(self, column: Any) -> bool:
        """Whether a column holds quantities (numbers other than booleans, or dates)."""
        return is_quantity(self.dtypes[column])

    def _check_columns(self, frame: pd.DataFrame, what: str) -> None:
        if not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()].unique().tolist()
            raise InputError(f"{what} has columns that occur more than once: {twice}.")
        missing = [column for column in self.columns if column not in frame.columns]
        if missing:
            raise InputError(
                f"{what} lacks {_count(missing, 'column')} of the background: {missing[:8]}. "
                f"It has {list(frame.columns)[:12]}."
            )

    def _fit_dtypes(self, frame: pd.DataFrame, what: str) -> pd.DataFrame:
        """Give each column the background's dtype where its values allow, and refuse what no model should see."""
        if self._all_float and all_float(frame) and np.isfinite(np.add.reduce(frame.to_numpy(), axis=None)):
            return frame  # nothing missing, infinite or of another type: the usual table of numbers
        fitted = {}
        for column in self.columns:
            values = frame[column]
            wanted = self.dtypes[column]
            if values.dtype != wanted or isinstance(wanted, pd.CategoricalDtype):
                values = _fit_column(values, wanted, column, what)
                fitted[column] = values
            if values.dtype.kind == "f":
                _refuse_infinity(values, column, what)
        return _replace(frame, fitted) if fitted else frame


def all_float(frame: pd.DataFrame) -> bool:
    """Whether a table is one block of float64, which can be worked on as one array."""
    return all(dtype == _FLOAT for dtype in frame.dtypes.array)  # a comparison of a Series takes longer than all else


def is_quantity(dtype: Any) -> bool:
    """Whether a dtype stands for quantities, of which a mean makes sense."""
    return (pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)) or (
        pd.api.types.is_datetime64_any_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype)
    )


def _replace(frame: pd.DataFrame, fitted: dict[Any, pd.Series]) -> pd.DataFrame:
    return pd.DataFrame({column: fitted.get(column, frame[column]) for column in frame.columns}, index=frame.index)


def _table_kind(rows: NativeTable) -> TableKind:
    package = type(rows).__module__.partition(".")[0]
    if isinstance(rows, pd.DataFrame):
        return "pandas"
    if package == "polars":
        return "polars"
    if package == "pyarrow":
        return "pyarrow"
    if package == "scipy" and hasattr(rows, "toarray"):
        raise InputError("Sparse matrices are not taken: pass a dense array, X.toarray().")
    return "numpy"


def _as_pandas(rows: NativeTable, kind: TableKind) -> pd.DataFrame:
    if kind == "pandas":
        return rows
    if kind in ("polars", "pyarrow"):
        import narwhals as nw

        return nw.from_native(rows, eager_only=True).to_pandas()
    array = np.asarray(rows)
    if array.ndim != 2:
        raise InputError(
            f"Expected a table or a 2-D array of rows, got {type(rows).__name__} of shape {array.shape}: "
            "for one row use explain_one(row), or reshape it to (1, n_columns)."
        )
    if array.dtype.kind not in "fiubO":
        raise InputError(f"Arrays of dtype {array.dtype} are not taken: pass numbers, or a DataFrame for text.")
    return pd.DataFrame(array, columns=[f"x{number}" for number in range(array.shape[1])], copy=False)


def _fit_column(values: pd.Series, wanted: Any, column: Any, what: str) -> pd.Series:
    if isinstance(wanted, pd.CategoricalDtype):
        # categories that the background does not have are kept, behind the known ones: the model decides about them
        if not isinstance(values.dtype, pd.CategoricalDtype):
            values = values.astype("category")
        fresh = values.cat.categories.difference(wanted.categories, sort=False)
        fresh = fresh[fresh.isin(values.dropna().unique())] if len(fresh) else fresh
        # pandas calls dtypes equal whose categories only come in another order; some models look at the codes
        known = wanted.categories.append(fresh) if len(fresh) else wanted.categories
        return values.cat.set_categories(known, ordered=wanted.ordered)
    if pd.api.types.is_numeric_dtype(wanted):
        return _fit_number(values, wanted, column, what)
    if isinstance(values.dtype, pd.CategoricalDtype) or pd.api.types.is_string_dtype(wanted):
        return values.astype(wanted) if _casts_safely(values, wanted) else values
    return values


def _fit_number(values: pd.Series, wanted: Any, column: Any, what: str) -> pd.Series:
    if pd.api.types.is_numeric_dtype(values.dtype):
        numbers = values
    else:
        numbers = pd.to_numeric(values, errors="coerce")
        bad = numbers.isna() & values.notna()
        if bad.any():
            label = values.index[bad.to_numpy()].tolist()[0]  # older pandas would show np.int64(3)
            raise InputError(
                f"{what}: column {column!r} holds numbers in the background, but row {label!r} has "
                f"{values[bad].iloc[0]!r}."
            )
    if numbers.dtype == wanted:
        return numbers
    exact = numbers.astype(wanted) if _casts_safely(numbers, wanted) else numbers
    return exact if pd.api.types.is_bool_dtype(wanted) or exact.dtype.kind != "b" else exact.astype(np.float64)


def _casts_safely(values: pd.Series, wanted: Any) -> bool:
    """Whether a cast to the background's dtype keeps every value."""
    if values.isna().any() and not isinstance(wanted, pd.CategoricalDtype) and getattr(wanted, "kind", "O") in "iub":
        return False
    try:
        cast = values.astype(wanted)
    except (TypeError, ValueError):
        return False
    if getattr(wanted, "kind", "O") == "f":
        return True
    return bool((cast.isna() == values.isna()).all() and (cast[values.notna()] == values[values.notna()]).all())


def _refuse_infinity(values: pd.Series, column: Any, what: str) -> None:
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    # a sum is one pass without a temporary array; only a suspicious one is looked at more closely
    if np.isfinite(np.nansum(numbers)):
        return
    infinite = np.isinf(numbers)
    if infinite.any():
        label = values.index[infinite].tolist()[0]
        raise InputError(f"{what}: column {column!r} is infinite in row {label!r}; use a finite number or NaN.")


def _to_polars(frame: pd.DataFrame, schema: Any) -> NativeTable:
    import polars as pl

    table = pl.from_pandas(frame)
    casts = [pl.col(name).cast(dtype) for name, dtype in schema.items() if _can_go_back(table[name], dtype)]
    return table.with_columns(casts) if casts else table


def _can_go_back(series: Any, dtype: Any) -> bool:
    """Whether a polars column can go back to its dtype; a whole-number column that now holds fractions stays float."""
    return series.dtype != dtype and not (dtype.is_integer() and series.dtype.is_float())


def _to_arrow(frame: pd.DataFrame, schema: Any) -> NativeTable:
    import pyarrow as pa

    table = pa.Table.from_pandas(frame, preserve_index=False)
    for number, name in enumerate(table.column_names):
        wanted = schema.field(name).type
        held = table.schema.field(name).type
        if held != wanted and not (pa.types.is_integer(wanted) and pa.types.is_floating(held)):
            table = table.set_column(number, name, table.column(name).cast(wanted))
    return table


def _count(items: Sequence[Any], noun: str) -> str:
    return f"{len(items)} {noun}{'s' if len(items) != 1 else ''}"
