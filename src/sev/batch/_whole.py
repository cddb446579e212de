"""A whole table in memory, for fitting: types are read from the cells, carefully."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sev.batch._cells import NO_NUMBER
from sev.batch._formats import format_of, group_sizes, group_tables, stream_tables
from sev.batch._inputs import input_files, unpacked
from sev.exceptions import BatchError, InputError

_ROWS = 1_000_000
#: Digits that a number would lose: "007" is a code, "0.7" and "0" are numbers.
_LEADING_ZERO = r"^[+-]?0[0-9]"


def read_frame(
    path: str | Path, *, text: Iterable[str] = (), numbers: Iterable[str] = (), stdin_format: Any = None
) -> pd.DataFrame:
    """A table as a DataFrame.

    Parquet and Feather files have types. In CSV, TSV and JSON lines a column holds numbers if all its cells are numbers
    that keep all their digits, so that "007" makes a column of text; truth values if all are true or false; else text.

    Parameters
    ----------
    path : path-like
        The file, or ``-`` for standard input.
    text, numbers : iterable of str
        Columns whose type is known.
    stdin_format : str, default=None
        Format of standard input.
    """
    table = read_table(path, stdin_format=stdin_format)
    text, numbers = set(text), set(numbers)
    unknown = sorted((text | numbers) - set(table.column_names))
    if unknown:
        raise InputError(f"{path} has no column {unknown[0]!r}; it has {table.column_names[:12]}.")
    if not format_of(path, stdin_format).is_stream:
        return table.to_pandas()
    return pd.DataFrame({name: _inferred(table.column(name), name, text, numbers) for name in table.column_names})


def read_table(path: str | Path, *, stdin_format: Any = None) -> pa.Table:
    """A table as arrow has it: text columns where the format has no types."""
    [file] = input_files([path], stdin_format=stdin_format, hashed=False)
    try:
        tables = list(stream_tables(path, file.form, _ROWS)) if file.form.is_stream else _group_tables(file)
    except (pa.ArrowInvalid, OSError, EOFError) as error:
        raise BatchError(f"{path} cannot be read as {file.form.name}: {error}.") from error
    return pa.concat_tables(tables)


def _group_tables(file: Any) -> list[pa.Table]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        [ready] = unpacked([file], Path(folder))
        schema, groups = group_sizes(ready.path, ready.form.name)
        pieces = [piece for g in range(len(groups)) for piece in group_tables(ready.path, ready.form.name, g, _ROWS)]
        # a copy, because the folder goes away
        return [pa.table(pa.concat_tables([schema.empty_table(), *pieces]).to_pandas())]


def _inferred(values: pa.ChunkedArray, name: str, text: set[str], numbers: set[str]) -> pd.Series:
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
        raise InputError(f"Column {name!r} holds cells that are no numbers.")
    return values.to_pandas()
