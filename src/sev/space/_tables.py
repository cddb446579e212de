"""Tables in the form that a model takes, and one common form for work inside this package.

Inside, rows are pandas DataFrames with the background's columns in the background's order. A column keeps the dtype
that it came with: the model would have seen that one. Only where a dtype was lost (a row given as a mapping or a list,
numbers in an object column, categories read from text) does it get the background's, if that keeps every value.
Outside, the model always gets the container of the background: pandas, polars, pyarrow or numpy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from sev.core import list_names, suggest_columns
from sev.exceptions import InputError
from sev.space._native import (
    TableKind,
    column_dtypes,
    native_row,
    table_kind,
    to_arrow,
    to_numpy,
    to_pandas,
    to_pandas_for_model,
    to_polars,
)
from sev.typing import Cell, ColumnLabel, Dtype, NativeTable, RowLike, TableSchema

_FLOAT = np.dtype(np.float64)


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
    columns: tuple[ColumnLabel, ...]
    dtypes: dict[ColumnLabel, Dtype]
    schema: TableSchema = None

    @cached_property
    def _all_float(self) -> bool:
        return all(dtype == np.float64 for dtype in self.dtypes.values())

    @cached_property
    def _labels(self) -> pd.Index:
        return pd.Index(list(self.columns))

    @classmethod
    def of(cls, rows: NativeTable, names: Sequence[str] | None = None) -> TableForm:
        """Read the form of background rows.

        Parameters
        ----------
        rows : table or array
            The rows.
        names : sequence of str, default=None
            Names of the columns of an array.

        Returns
        -------
        TableForm
            Columns, dtypes and kind of table.

        Raises
        ------
        InputError
            If there are no rows or no columns, a column name occurs twice, or the cells of a column are lists.
        """
        kind = table_kind(rows)
        frame = to_pandas(rows, kind)
        if names is not None:
            frame = _with_names(frame, kind, names)
        if frame.shape[0] == 0:
            raise InputError("The background has no rows: pass the rows that the model was trained on.")
        if frame.shape[1] == 0:
            raise InputError("The background has no columns: pass the rows that the model was trained on.")
        if not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()].unique().tolist()
            raise InputError(f"Column names must be unique; these occur more than once: {twice}. Rename or drop them.")
        _refuse_nested_cells(frame)
        schema = {"pandas": None, "numpy": getattr(rows, "dtype", None)}.get(kind, getattr(rows, "schema", None))
        return cls(kind=kind, columns=tuple(frame.columns), dtypes=dict(frame.dtypes), schema=schema)

    def to_frame(self, rows: NativeTable, *, what: str = "X", restore: bool = False) -> pd.DataFrame:
        """Bring rows into the common form, or report which column or row does not fit.

        Parameters
        ----------
        rows : table, or array of shape (n_rows, n_columns)
            Named columns may come in any order; columns that the background does not have are left out.
        what : str
            What to call the rows in messages.
        restore : bool
            Whether the dtypes of the rows mean nothing (a mapping, a list, JSON), so that each column gets the
            background's where that keeps its values.

        Returns
        -------
        DataFrame
            Rows with the columns of the background, in its order.

        Raises
        ------
        InputError
            If columns are missing, or cells do not fit; the message names them.
        """
        kind = table_kind(rows)
        frame = to_pandas(rows, kind, self._labels if self.kind == "numpy" else None)
        if kind == "numpy":
            if frame.shape[1] != len(self.columns):
                raise InputError(
                    f"{what} has {frame.shape[1]} columns, the background has {len(self.columns)}: "
                    "pass rows with the same columns."
                )
            if self.kind != "numpy":
                frame.columns = list(self.columns)
            if self._all_float and getattr(rows, "dtype", None) == _FLOAT and _is_finite(frame):
                return frame
        elif not frame.columns.equals(self._labels) and tuple(frame.columns) != self.columns:
            self._check_columns(frame, what)
            frame = frame[list(self.columns)]
        return self._fit_dtypes(frame, what, restore)

    def one_row(self, row: RowLike, *, what: str = "row") -> pd.DataFrame:
        """Bring a single row (Series, mapping, 1-D array, or table of one row) into the common form.

        Parameters
        ----------
        row : object
            The row.
        what : str, default="row"
            What it is, for messages.

        Returns
        -------
        DataFrame
            One row.

        Raises
        ------
        InputError
            If it is not one row, or does not fit the columns.
        """
        restore = True
        if isinstance(row, pd.Series):
            if self.kind == "numpy" and not set(self.columns) <= set(row.index):
                table: NativeTable = row.to_numpy()[None, :]
            else:
                label = row.name if row.name is not None else 0
                table = self._table_of_cells({name: row[name] for name in row.index}, label)
        elif isinstance(row, Mapping):
            table = self._table_of_cells(row, 0)
            restore = isinstance(table, pd.DataFrame)
        elif isinstance(row, Sequence) and not isinstance(row, str):
            if len(row) != len(self.columns):
                raise InputError(f"The {what} has {len(row)} values: pass {len(self.columns)}, one for each column.")
            table = self._table_of_cells(dict(zip(self.columns, row, strict=True)), 0)
        else:
            table = row[None, :] if isinstance(row, np.ndarray) and row.ndim == 1 else row
            restore = False
        frame = self.to_frame(table, what=what, restore=restore)
        if len(frame) != 1:
            raise InputError(f"Expected one row, got {len(frame)}: use explain() for several.")
        return frame

    def _table_of_cells(self, cells: Mapping[ColumnLabel, Cell], label: object) -> NativeTable:
        """One row of cells as they are: None stays None in a column of objects, and null beside NaN in polars."""
        if self.kind in ("polars", "pyarrow") and set(self.columns) <= set(cells):
            table = native_row({name: cells[name] for name in self.columns}, self.kind, self.schema)
            if table is not None:
                return table
        objects = {name for name, dtype in self.dtypes.items() if pd.api.types.is_object_dtype(dtype)}
        columns = {
            name: pd.Series([value], index=[label], dtype=object if name in objects else None)
            for name, value in cells.items()
        }
        return pd.DataFrame(columns, index=[label])

    def to_native(self, frame: pd.DataFrame) -> NativeTable:
        """Rows of the common form in the container that the model takes, for the model to keep.

        Parameters
        ----------
        frame : DataFrame
            Rows of the common form.

        Returns
        -------
        table or array
            pandas, polars, arrow or numpy.
        """
        frame = self._drop_unused_categories(frame)
        if self.kind == "pandas":
            return to_pandas_for_model(frame)
        if self.kind == "numpy":
            return to_numpy(frame)
        if self.kind == "polars":
            return to_polars(frame, self.schema, self.dtypes)
        return to_arrow(frame, self.schema, self.dtypes)

    def _drop_unused_categories(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Without categories that neither the background nor these rows hold: other rows of the same table may hold
        them, and some models refuse a table for their mere mention.
        """
        trimmed = {}
        for column, wanted in self._categories.items():
            values = frame[column]
            if isinstance(values.dtype, pd.CategoricalDtype) and len(values.cat.categories) > len(wanted.categories):
                fitted = _fit_categories(values, wanted)
                if len(fitted.cat.categories) < len(values.cat.categories):
                    trimmed[column] = fitted
        return _replace_columns(frame, trimmed) if trimmed else frame

    @cached_property
    def _categories(self) -> dict[ColumnLabel, pd.CategoricalDtype]:
        return {column: dtype for column, dtype in self.dtypes.items() if isinstance(dtype, pd.CategoricalDtype)}

    def is_numeric(self, column: ColumnLabel) -> bool:
        """Whether a column holds quantities (numbers other than booleans, or dates).

        Parameters
        ----------
        column : object
            A column.

        Returns
        -------
        bool
            False for text and booleans.
        """
        return is_quantity(self.dtypes[column])

    def _check_columns(self, frame: pd.DataFrame, what: str) -> None:
        if not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()].unique().tolist()
            raise InputError(f"{what} has columns that occur more than once: {twice}. Rename or drop them.")
        missing = [column for column in self.columns if column not in frame.columns]
        if missing:
            raise InputError(
                f"{what} lacks {_count_noun(missing, 'column')} of the background: {list_names(missing, 8)}."
                f"{suggest_columns(missing, [one for one in frame.columns if one not in self.dtypes])} "
                f"It has {list_names(frame.columns)}."
            )

    def _fit_dtypes(self, frame: pd.DataFrame, what: str, restore: bool) -> pd.DataFrame:
        """Give columns whose dtype was lost the background's, and refuse what no model should see."""
        dtypes = column_dtypes(frame)
        if self._all_float and _all_float(dtypes) and _is_finite(frame):
            return frame  # nothing missing, infinite or of another type: the usual table of numbers
        fitted = {}
        for number, (column, held) in enumerate(zip(self.columns, dtypes, strict=True)):
            wanted = self.dtypes[column]
            if held != wanted or isinstance(wanted, pd.CategoricalDtype):
                fitted[column] = _fit_column(frame.iloc[:, number], wanted, column, what, restore)
        if fitted:
            frame = _replace_columns(frame, fitted)
            dtypes = column_dtypes(frame)
        self._refuse_infinities(frame, dtypes, what)
        return frame

    def _refuse_infinities(self, frame: pd.DataFrame, dtypes: list[Dtype], what: str) -> None:
        floats = [number for number, dtype in enumerate(dtypes) if dtype.kind == "f"]
        if not floats:
            return
        plain = [number for number in floats if dtypes[number] == _FLOAT]
        # a sum is one pass without a temporary array; only a suspicious one is looked at more closely
        if len(plain) == len(floats) and np.isfinite(np.add.reduce(frame.iloc[:, plain].to_numpy(), axis=None)):
            return
        for number in floats:
            _refuse_infinity(frame.iloc[:, number], frame.columns[number], what)


def _with_names(frame: pd.DataFrame, kind: TableKind, names: Sequence[str]) -> pd.DataFrame:
    if kind != "numpy":
        raise InputError("feature_names is for arrays, but these rows have column names: use labels= to rename them.")
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InputError(f"feature_names is {names!r}, expected a list of texts.")
    if len(names) != frame.shape[1]:
        raise InputError(
            f"feature_names has {len(names)} names, but the rows have {frame.shape[1]} columns: pass one per column."
        )
    return frame.set_axis(list(names), axis=1)


def _is_finite(frame: pd.DataFrame) -> bool:
    """Whether all numbers of a table of float64 are finite, and none is so large that their sum is not."""
    return bool(np.isfinite(np.add.reduce(frame.to_numpy(), axis=None)))


def _all_float(dtypes: list[Dtype]) -> bool:
    """Whether a table is one block of float64, which can be worked on as one array."""
    return dtypes.count(_FLOAT) == len(dtypes)


def is_plain_number(dtype: object) -> bool:
    """Whether a dtype is one of numpy's numbers or booleans, which need no care when columns are put together.

    Parameters
    ----------
    dtype : object
        Of a column.

    Returns
    -------
    bool
        False for pandas' own, nullable dtypes.
    """
    return isinstance(dtype, np.dtype) and dtype.kind in "fiub"


def row_as_series(frame: pd.DataFrame, place: int) -> pd.Series:
    """One row, with every cell as it is: pandas itself would make 3.0 of an integer beside a float.

    Parameters
    ----------
    frame : DataFrame
        Rows.
    place : int
        Which one.

    Returns
    -------
    Series
        Named by the row's label.
    """
    if len(set(column_dtypes(frame))) == 1:
        return frame.iloc[place]
    cells = np.empty(frame.shape[1], dtype=object)
    cells[:] = [frame.iat[place, number] for number in range(frame.shape[1])]
    return pd.Series(cells, index=frame.columns, name=frame.index[place], dtype=object)


def _refuse_nested_cells(frame: pd.DataFrame) -> None:
    """Refuse columns of lists, arrays, sets or mappings, as their first cell tells: nothing can compare them."""
    for number, dtype in enumerate(frame.dtypes):
        if not pd.api.types.is_object_dtype(dtype):
            continue
        row, cell = next(((row, cell) for row, cell in enumerate(frame.iloc[:, number]) if cell is not None), (0, None))
        if isinstance(cell, list | set | dict | np.ndarray):
            raise InputError(
                f"Column {frame.columns[number]!r} holds a {type(cell).__name__} in row {frame.index[row]}: a cell "
                "must be one value, such as a number, text or a date. Split the column into several, or drop it."
            )


def is_quantity(dtype: object) -> bool:
    """Whether a dtype stands for quantities, of which a mean makes sense.

    Parameters
    ----------
    dtype : object
        Of a column.

    Returns
    -------
    bool
        False for text, booleans and categories.
    """
    return (pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)) or (
        pd.api.types.is_datetime64_any_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype)
    )


def _replace_columns(frame: pd.DataFrame, fitted: dict[ColumnLabel, pd.Series]) -> pd.DataFrame:
    return pd.DataFrame({column: fitted.get(column, frame[column]) for column in frame.columns}, index=frame.index)


def _fit_column(values: pd.Series, wanted: Dtype, column: ColumnLabel, what: str, restore: bool) -> pd.Series:
    if isinstance(wanted, pd.CategoricalDtype):
        return _fit_categories(values, wanted)
    if pd.api.types.is_numeric_dtype(wanted):
        if not pd.api.types.is_numeric_dtype(values.dtype):
            values = _read_numbers(values, column, what)
        elif not restore:
            return values
        cast = cast_losslessly(values, wanted)
        return values if cast is None else cast
    if restore and not pd.api.types.is_object_dtype(wanted):
        cast = cast_losslessly(values.astype(object), wanted)
        return values if cast is None else cast
    is_text = pd.api.types.is_string_dtype(wanted) and not pd.api.types.is_object_dtype(wanted)
    # None would become the marker of the text dtype: that is another cell
    if is_text and values.dtype == object and not any(value is None for value in values):
        cast = cast_losslessly(values, wanted)
        return values if cast is None else cast
    return values


def _fit_categories(values: pd.Series, wanted: pd.CategoricalDtype) -> pd.Series:
    """The background's categories, in its order, then others that the values hold: the model decides about these."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype("category")
    held = values.cat.categories
    if wanted.ordered == values.cat.ordered and held.equals(wanted.categories):
        return values
    fresh = held.difference(wanted.categories, sort=False)
    fresh = fresh[fresh.isin(values.dropna().unique())] if len(fresh) else fresh
    # pandas calls dtypes equal whose categories only come in another order; some models look at the codes
    known = wanted.categories.append(fresh) if len(fresh) else wanted.categories
    return values.cat.set_categories(known, ordered=wanted.ordered)


def _read_numbers(values: pd.Series, column: ColumnLabel, what: str) -> pd.Series:
    """Numbers that came as text or objects."""
    numbers = pd.to_numeric(values, errors="coerce")
    bad = numbers.isna() & values.notna()
    if bad.any():
        label = values.index[bad.to_numpy()].tolist()[0]  # older pandas would show np.int64(3)
        raise InputError(
            f"{what}: column {column!r} holds numbers in the background, but row {label!r} has "
            f"{values[bad].iloc[0]!r}: correct the cell, or leave the row out."
        )
    return numbers


def cast_losslessly(values: pd.Series, wanted: Dtype) -> pd.Series | None:
    """The values in another dtype, None where that would change one of them."""
    missing = values.isna()
    if isinstance(wanted, np.dtype) and wanted.kind in "iub" and missing.any():
        return None
    try:
        cast = values.astype(wanted)
        back = cast.astype(values.dtype)
    except (TypeError, ValueError, OverflowError):
        return None
    present = ~missing
    if _has_negative_zero(cast[present]) != _has_negative_zero(values[present]):
        return None
    if not ((cast.isna() == missing).all() and bool((cast[present] == values[present]).all())):
        return None
    return cast if bool((back[present] == values[present]).all()) else None


def _has_negative_zero(values: pd.Series) -> bool:
    """Whether there is a zero with a sign, which no integer has."""
    if values.dtype.kind != "f":
        return False
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    return bool((np.signbit(numbers) & (numbers == 0.0)).any())


def _refuse_infinity(values: pd.Series, column: ColumnLabel, what: str) -> None:
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    # a sum is one pass without a temporary array; only a suspicious one is looked at more closely
    if np.isfinite(np.nansum(numbers)):
        return
    infinite = np.isinf(numbers)
    if infinite.any():
        label = values.index[infinite].tolist()[0]
        raise InputError(f"{what}: column {column!r} is infinite in row {label!r}; use a finite number or NaN.")


def _count_noun(items: Sized, noun: str) -> str:
    return f"{len(items)} {noun}{'s' if len(items) != 1 else ''}"
