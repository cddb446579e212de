"""A whole table in memory, for fitting: types are read from the cells, carefully."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sev.batch._cells import NO_NUMBER
from sev.batch._formats import FormatName, format_of, group_sizes, group_tables, stream_tables
from sev.batch._inputs import InputFile, input_files, unpacked
from sev.core import list_names, suggest_name
from sev.exceptions import BatchError, InputError

_ROWS = 1_000_000
#: Digits that a number would lose: "007" is a code, "0.7" and "0" are numbers.
_LEADING_ZERO = r"^[+-]?0[0-9]"


def read_frame(
    path: str | Path,
    *,
    text: Iterable[str] = (),
    numbers: Iterable[str] = (),
    text_if_there: Iterable[str] = (),
    stdin_format: FormatName | None = None,
) -> pd.DataFrame:
    r"""A table as a DataFrame.

    Parquet and Feather files have types. In CSV, TSV and JSON lines a column holds numbers if all its cells are numbers
    that keep all their digits, so that "007" makes a column of text; booleans if all are true or false; else text.

    Parameters
    ----------
    path : path-like
        The file, or ``-`` for standard input.
    text, numbers : iterable of str
        Columns whose type is known.
    text_if_there : iterable of str
        Columns that are read as text if the file has them, even if ``numbers`` names them.
    stdin_format : str, default=None
        Format of standard input.

    Returns
    -------
    DataFrame
        The rows.

    Raises
    ------
    InputError
        If ``text`` or ``numbers`` name a column that the file does not have.
    BatchError
        If the file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile, sev
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.csv")
    ...     _ = path.write_text("number,age\n007,31\n")
    ...     sev.batch.read_frame(path).iloc[0].to_dict()
    {'number': '007', 'age': 31}
    """
    table = read_table(path, stdin_format=stdin_format)
    text, numbers = set(text), set(numbers)
    unknown = sorted((text | numbers) - set(table.column_names))
    if unknown:
        meant = suggest_name(unknown[0], table.column_names)
        raise InputError(f"{path} has no column {unknown[0]!r}{meant} It has {list_names(table.column_names, None)}.")
    text |= set(text_if_there) - numbers
    if not format_of(path, stdin_format).is_stream:
        return table.to_pandas()
    return pd.DataFrame({name: _infer_type(table.column(name), name, text, numbers) for name in table.column_names})


def read_table(path: str | Path, *, stdin_format: FormatName | None = None) -> pa.Table:
    r"""A table in Arrow's types; columns of text where the format has no types.

    Parameters
    ----------
    path : path-like
        The file, or ``-`` for standard input.
    stdin_format : str, default=None
        Format of standard input.

    Returns
    -------
    pyarrow.Table
        The rows.

    Raises
    ------
    BatchError
        If the file cannot be read; the message names its format.

    Examples
    --------
    >>> import pathlib, tempfile, sev
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.csv")
    ...     _ = path.write_text("number,age\n007,31\n")
    ...     sev.batch.read_table(path).to_pylist()
    [{'number': '007', 'age': '31'}]
    """
    [file] = input_files([path], stdin_format=stdin_format, hashed=False)
    try:
        tables = list(stream_tables(path, file.form, _ROWS)) if file.form.is_stream else _group_tables(file)
    except (pa.ArrowInvalid, OSError, EOFError) as error:
        raise BatchError(f"{path} cannot be read as {file.form.name}: {error}.") from error
    return pa.concat_tables(tables)


def _group_tables(file: InputFile) -> list[pa.Table]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        [ready] = unpacked([file], Path(folder))
        schema, groups = group_sizes(ready.path, ready.form.name)
        pieces = [piece for g in range(len(groups)) for piece in group_tables(ready.path, ready.form.name, g, _ROWS)]
        # a copy, because the folder goes away
        return [pa.table(pa.concat_tables([schema.empty_table(), *pieces]).to_pandas())]


def _infer_type(values: pa.ChunkedArray, name: str, text: set[str], numbers: set[str]) -> pd.Series:
    if name in text:
        return values.to_pandas()
    trimmed = pc.utf8_trim_whitespace(values)
    trimmed = pc.if_else(pc.is_in(trimmed, value_set=NO_NUMBER), None, trimmed)
    coded = pc.any(pc.match_substring_regex(trimmed, _LEADING_ZERO)).as_py()
    if name in numbers or not coded:
        for dtype in (pa.int64(), pa.float64(), pa.bool_()):
            if trimmed.null_count == len(trimmed):
                break
            try:
                column = trimmed.cast(dtype).to_pandas()
            except pa.ArrowInvalid:
                continue
            if column.dtype.kind == "f" and np.isinf(column).any():
                break
            return column
    if name in numbers:
        cells = trimmed.to_pandas()
        row = int((pd.to_numeric(cells, errors="coerce").isna() & cells.notna()).to_numpy().argmax())
        raise InputError(
            f"Column {name!r} holds cells that are not numbers, such as {cells.iloc[row]!r} in row {row}: correct "
            "them, or leave them empty."
        )
    return values.to_pandas()
