"""The table of decisions: read column by column, and only as far as somebody looks."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sev.app._errors import ServiceError
from sev.batch import read_frame, rows_of
from sev.core import plain_value, suggest_name
from sev.exceptions import BatchError, InputError
from sev.space import TableForm
from sev.typing import BoolArray, IntArray, PlainValue

#: Rows at the start of a Parquet file that are read at once; enough for the first pages and for histograms.
ROWS_OF_HEAD = 10_000
_MOST_ORDERS = 8

ColumnKind = Literal["number", "text", "boolean", "date"]


class Table:
    """Rows of a file, or of a frame in memory.

    A Parquet file is opened, not read: its first rows are there at once, each column is read when it is first sorted,
    filtered or paged through, and then kept.

    Parameters
    ----------
    head : pyarrow.Table
        The first rows, or all of them.
    n_rows : int
        Number of rows.
    path : Path or None
        The Parquet file that holds the others; None: there are no others.
    id_column : str, default=None
        Column that names the rows.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> sev.app.Table.of_frame(X).n_rows
    6
    """

    def __init__(self, head: pa.Table, n_rows: int, path: Path | None, id_column: str | None = None) -> None:
        self.head = head
        self.n_rows = n_rows
        self._path = path
        self._columns: dict[str, pa.ChunkedArray] = {}
        self._lock = threading.Lock()
        if id_column is not None and id_column not in head.column_names:
            raise InputError(
                f"The data has no column {id_column!r} for the names of its rows"
                f"{suggest_name(id_column, head.column_names)}"
            )
        self.id_column = id_column

    @classmethod
    def open(cls, path: str | Path, form: TableForm, id_column: str | None = None) -> Table:
        """Open a file.

        Parameters
        ----------
        path : path-like
            Parquet; or CSV, TSV, JSON lines or Feather, which are read whole.
        form : TableForm
            Columns that hold text there stay text, such as "007".
        id_column : str, default=None
            Column that names the rows.

        Returns
        -------
        Table
            The table; of a Parquet file, only its first rows are read.

        Raises
        ------
        BatchError
            If the file cannot be read.
        InputError
            If the column of names is not there.
        """
        path = Path(path)
        if path.suffix.lower() in (".parquet", ".pq"):
            try:
                with pq.ParquetFile(path) as file:
                    head = _first_rows(file)
                    return cls(head, file.metadata.num_rows, path, id_column)
            except (pa.ArrowInvalid, OSError) as error:
                raise BatchError(f"{path} cannot be read as parquet: {error}.") from error
        texts = [str(column) for column in form.columns if not pd.api.types.is_numeric_dtype(form.dtypes[column])]
        frame = read_frame(path, text_if_there=texts)
        return cls.of_frame(frame, id_column)

    @classmethod
    def of_frame(cls, frame: pd.DataFrame, id_column: str | None = None) -> Table:
        """Rows that are in memory already.

        Parameters
        ----------
        frame : DataFrame
            Rows.
        id_column : str, default=None
            The column that names the rows.

        Returns
        -------
        Table
            The table.
        """
        named = frame.set_axis([str(column) for column in frame.columns], axis=1)
        table = pa.Table.from_pandas(named, preserve_index=False)
        return cls(table, table.num_rows, None, id_column)

    @property
    def names(self) -> list[str]:
        """The columns."""
        names: list[str] = self.head.column_names
        return names

    def kind_of(self, name: str) -> ColumnKind:
        """What a column holds.

        Parameters
        ----------
        name : str
            A column.

        Returns
        -------
        ColumnKind
            "number", "text", "boolean" or "date".
        """
        dtype = self.head.schema.field(name).type
        if pa.types.is_dictionary(dtype):
            dtype = dtype.value_type
        if pa.types.is_boolean(dtype):
            return "boolean"
        if pa.types.is_temporal(dtype):
            return "date"
        is_number = pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype)
        return "number" if is_number else "text"

    def kind_of_checked(self, name: str) -> ColumnKind:
        """What a column holds, or an error that says which columns there are.

        Parameters
        ----------
        name : str
            A column.

        Returns
        -------
        ColumnKind
            As :meth:`kind_of`.

        Raises
        ------
        ServiceError
            "not_found", if the table does not have it.
        """
        if name not in self.names:
            hint = suggest_name(name, self.names)
            raise ServiceError("not_found", f"The table has no column {name[:100]!r}{hint}", "column")
        return self.kind_of(name)

    def column(self, name: str) -> pa.ChunkedArray:
        """A whole column; text as a dictionary.

        Parameters
        ----------
        name : str
            A column.

        Returns
        -------
        pyarrow.ChunkedArray
            One cell for each row.
        """
        self.kind_of_checked(name)
        with self._lock:
            if name not in self._columns:
                self._columns[name] = self._read_column(name)
            return self._columns[name]

    def _read_column(self, name: str) -> pa.ChunkedArray:
        if self._path is None:
            values = self.head.column(name)
            return values.dictionary_encode() if pa.types.is_string(values.type) else values
        texts = [name] if self.kind_of(name) == "text" else []
        with pq.ParquetFile(self._path, read_dictionary=texts) as file:
            return file.read(columns=[name]).column(0)

    def rows(self, numbers: IntArray, names: list[str] | None = None) -> pa.Table:
        """Some rows, in the order of their numbers.

        Parameters
        ----------
        numbers : ndarray of int
            Numbers of rows.
        names : list of str, default=None
            Columns; None is all.

        Returns
        -------
        pyarrow.Table
            The rows, with the chosen columns.
        """
        names = self.names if names is None else names
        if len(numbers) and int(numbers.max()) < self.head.num_rows:
            return self.head.select(names).take(pa.array(numbers))
        chosen = pa.array(numbers)
        taken = {}
        for name in names:
            values = self.column(name).take(chosen)
            taken[name] = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
        return pa.table(taken)

    def frame(self, numbers: IntArray, form: TableForm) -> tuple[pd.DataFrame, dict[int, str]]:
        """Some rows in the form that a model takes, and what is wrong with the others, by place in ``numbers``.

        Parameters
        ----------
        numbers : ndarray of int64
            Places of rows.
        form : TableForm
            Columns and dtypes of the rows.

        Returns
        -------
        tuple of DataFrame, dict of int to str
            Rows, and problems by place.
        """
        wanted = [name for name in self.names if name in {str(column) for column in form.columns}]
        whole = form.kind == "numpy" and len(wanted) < len(form.columns)
        return rows_of(self.rows(numbers, None if whole else wanted), form)

    def frame_of_row(self, number: int, form: TableForm) -> pd.DataFrame:
        """One row in the form that a model takes, or an error that says what is wrong with it.

        Parameters
        ----------
        number : int
            Its place.
        form : TableForm
            Columns and dtypes of the rows.

        Returns
        -------
        DataFrame
            One row.

        Raises
        ------
        ServiceError
            "not_found", if there are not so many rows; "bad_input", if a cell does not fit its column.
        """
        if not 0 <= number < self.n_rows:
            raise ServiceError("not_found", f"There is no row {number:,}: the table has {self.n_rows:,} rows.", "row")
        rows, problems = self.frame(np.array([number]), form)
        if problems:
            raise ServiceError("bad_input", f"Row {number}: {problems[0]}.", "row")
        return rows

    def cells(self, numbers: IntArray, names: list[str] | None = None) -> list[dict[str, PlainValue]]:
        """Some rows as plain values.

        Parameters
        ----------
        numbers : ndarray of int64
            Places of rows.
        names : list of str, default=None
            Columns; None is all.

        Returns
        -------
        list of dict
            One mapping for each row.
        """
        table = self.rows(numbers, names)
        columns = {name: [plain_value(cell) for cell in table.column(name).to_pylist()] for name in table.column_names}
        return [{name: values[place] for name, values in columns.items()} for place in range(len(numbers))]


def _first_rows(file: pq.ParquetFile) -> pa.Table:
    batches = file.iter_batches(batch_size=ROWS_OF_HEAD)
    first = next(batches, None)
    schema = file.schema_arrow
    return schema.empty_table() if first is None else pa.Table.from_batches([first])


class Finder:
    """Which rows of a table match, and in which order; the last few answers are kept.

    Parameters
    ----------
    table : Table
        The rows.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._orders: OrderedDict[Hashable, IntArray] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, key: Hashable, numbers: IntArray) -> IntArray:
        """Keep an answer."""
        with self._lock:
            self._orders[key] = numbers
            while len(self._orders) > _MOST_ORDERS:
                self._orders.popitem(last=False)
        return numbers

    def recall(self, key: Hashable) -> IntArray | None:
        """An answer that was kept."""
        with self._lock:
            found = self._orders.get(key)
            if found is not None:
                self._orders.move_to_end(key)
            return found

    def containing(self, text: str) -> BoolArray:
        """Rows with a cell that contains a text, or a number that it is."""
        matches = np.zeros(self._table.n_rows, dtype=np.bool_)
        number = _as_number(text)
        for name in self._table.names:
            kind = self._table.kind_of(name)
            if kind == "text":
                matches |= _find_text(self._table.column(name), text)
            elif kind == "number" and number is not None:
                matches |= _as_booleans(pc.equal(self._table.column(name), number))
        return matches

    def where(self, name: str, operator: str, value: PlainValue) -> BoolArray:
        """Rows that meet a condition; a missing cell meets none but "missing" and "!="."""
        values = self._table.column(name)
        if operator in ("missing", "present"):
            missing = pc.is_null(values, nan_is_null=self._table.kind_of(name) == "number")
            return _as_booleans(missing if operator == "missing" else pc.invert(missing))
        if operator == "contains":
            if self._table.kind_of(name) != "text":
                raise ServiceError("bad_input", f"Column {name!r} does not hold text: use = instead.", "where")
            return _find_text(values, str(value))
        return self._find_matches(name, values, operator, value)

    def _find_matches(self, name: str, values: pa.ChunkedArray, operator: str, value: PlainValue) -> BoolArray:
        compare = {
            "=": pc.equal,
            "!=": pc.not_equal,
            "<": pc.less,
            "<=": pc.less_equal,
            ">": pc.greater,
            ">=": pc.greater_equal,
        }[operator]
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        try:
            wanted = pa.scalar(value).cast(values.type) if isinstance(value, str) else pa.scalar(value)
            found = compare(values, wanted)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, OverflowError) as error:
            raise ServiceError("bad_input", f"Column {name!r} cannot be compared with this value.", "where") from error
        return _as_booleans(pc.fill_null(found, operator == "!="))

    def sorted_by(self, name: str, *, descending: bool) -> IntArray:
        """All rows in the order of a column; missing cells come last, equal ones stay in the order of the table."""
        values = self._table.column(name)
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        places = pc.array_sort_indices(
            values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values,
            order="descending" if descending else "ascending",
        )
        return places.to_numpy().astype(np.int64)


def _as_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _find_text(values: pa.ChunkedArray, text: str) -> BoolArray:
    if pa.types.is_dictionary(values.type):
        found = [_find_text_in_chunk(chunk, text) for chunk in values.chunks]
        return np.concatenate(found) if found else np.zeros(0, dtype=np.bool_)
    return _as_booleans(pc.match_substring(values, text, ignore_case=True))


def _find_text_in_chunk(chunk: pa.DictionaryArray, text: str) -> BoolArray:
    """Each distinct text is looked at once."""
    if not len(chunk.dictionary):
        return np.zeros(len(chunk), dtype=np.bool_)
    among = _as_booleans(pc.match_substring(chunk.dictionary, text, ignore_case=True))
    places = pc.fill_null(chunk.indices, -1).to_numpy(zero_copy_only=False)
    return np.where(places >= 0, among[places], False)


def _as_booleans(values: pa.Array | pa.ChunkedArray) -> BoolArray:
    filled = pc.fill_null(values, False)
    array: BoolArray = np.asarray(filled.to_numpy(zero_copy_only=False) if isinstance(filled, pa.Array) else filled)
    return array.astype(np.bool_, copy=False)
