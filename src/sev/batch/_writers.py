"""Results in the requested format."""

from __future__ import annotations

import errno
import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

from sev._io import replacing
from sev._spreadsheet import FORMULA_START, csv_line, escape_formula
from sev.batch._excel import ExcelWriter
from sev.batch._formats import TableFormat
from sev.exceptions import BatchError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class TableWriter(Protocol):
    """Takes tables of one schema, in order."""

    def write(self, table: pa.Table) -> None:
        """Write the rows of a table."""
        ...

    def close(self) -> None:
        """Finish the file; it stays open."""
        ...


def table_writer(file: IO[bytes], form: TableFormat, schema: pa.Schema, *, raw: bool = False) -> TableWriter:
    """A writer into an open binary file.

    With ``raw``, CSV and TSV cells are written as they are, even those that a spreadsheet would run as formulas.
    """
    if form.compression is not None:
        file = pa.CompressedOutputStream(pa.PythonFile(_KeptOpen(file), mode="w"), form.compression)
    kinds: dict[str, Callable[[IO[bytes], pa.Schema], TableWriter]] = {
        "parquet": _ParquetWriter,
        "feather": _FeatherWriter,
        "csv": lambda file, schema: _CsvWriter(file, schema, ",", raw),
        "tsv": lambda file, schema: _CsvWriter(file, schema, "\t", raw),
        "jsonl": _JsonWriter,
        "xlsx": ExcelWriter,
    }
    writer: TableWriter = kinds[form.name](file, schema)
    return writer if form.compression is None else _Closing(writer, file)


@contextmanager
def reporting_full_disk(folder: Path) -> Iterator[None]:
    """Report what to do when nothing more can be written."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL_DISK:
            raise
        raise BatchError(
            f"The disk is full: {folder} cannot take more results. What is done is kept: free some space and run the "
            "same command again."
        ) from error


def write_tables(
    path: Path, form: TableFormat, schema: pa.Schema, tables: Iterable[pa.Table], *, raw: bool = False
) -> int:
    """Write tables to one file, whole or not at all; returns the number of rows. ``raw``: see :func:`table_writer`."""
    n_rows = 0
    with replacing(path) as file:
        writer = table_writer(file, form, schema, raw=raw)
        try:
            for table in tables:
                writer.write(table)
                n_rows += table.num_rows
            writer.close()
        except BaseException:
            if isinstance(writer, _ParquetWriter | ExcelWriter):
                writer.abandon()
            raise
    return n_rows


class _ParquetWriter:
    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        self._writer = pa.parquet.ParquetWriter(file, schema, compression="zstd")

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table)

    def close(self) -> None:
        self._writer.close()

    def abandon(self) -> None:
        """Leave a half-written file; else pyarrow tries to finish it long after it is gone."""
        self._writer.is_open = False


class _FeatherWriter:
    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        self._writer = pa.ipc.new_file(file, schema, options=pa.ipc.IpcWriteOptions(compression="lz4"))

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table)

    def close(self) -> None:
        self._writer.close()


class _CsvWriter:
    """CSV has no lists: they are written as JSON."""

    def __init__(self, file: IO[bytes], schema: pa.Schema, delimiter: str, raw: bool) -> None:
        self._file = file
        self._delimiter = delimiter
        self._raw = raw
        names = schema.names if raw else [escape_formula(name) for name in schema.names]
        file.write(csv_line(names, delimiter).encode())

    def write(self, table: pa.Table) -> None:
        if not table.num_rows:
            return
        options = pa.csv.WriteOptions(include_header=False, delimiter=self._delimiter, quoting_style="needed")
        buffer = io.BytesIO()
        flat = _flatten_lists(
            table
        ).combine_chunks()  # for a chunk without rows pyarrow 26 writes memory that it never filled
        pa.csv.write_csv(flat if self._raw else _escape_formulas(flat), buffer, options)
        self._file.write(buffer.getvalue())

    def close(self) -> None:
        pass


class _JsonWriter:
    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        self._file = file

    def write(self, table: pa.Table) -> None:
        lines = [json.dumps(row, ensure_ascii=False, default=str) for row in table.to_pylist()]
        if lines:
            self._file.write(("\n".join(lines) + "\n").encode())

    def close(self) -> None:
        pass


class _Closing:
    """Ends the compressed stream behind a writer, too."""

    def __init__(self, writer: TableWriter, file: IO[bytes]) -> None:
        self._writer = writer
        self._file = file

    def write(self, table: pa.Table) -> None:
        self._writer.write(table)

    def close(self) -> None:
        self._writer.close()
        self._file.close()


class _KeptOpen(io.RawIOBase):
    """A file that a compressing stream cannot close: syncing and moving come after it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        return int(self._file.write(data))


def _escape_formulas(table: pa.Table) -> pa.Table:
    """The same table with no text that a spreadsheet would run as a formula."""
    for number, field in enumerate(table.schema):
        column = table.column(number)
        if pa.types.is_dictionary(field.type):
            column = column.cast(field.type.value_type)
        if not any(is_text(column.type) for is_text in _TEXTS):
            continue
        # most columns have no such cell, and are left as they are; the pattern names letters, which bytes do not have
        is_bytes = pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)
        if is_bytes or pa.compute.any(pa.compute.match_substring_regex(column, f"^{FORMULA_START}")).as_py():
            cells = [None if cell is None else _escaped_cell(cell) for cell in column.to_pylist()]
            table = table.set_column(number, field.name, pa.array(cells, type=column.type))
    return table


def _escaped_cell(cell: str | bytes) -> str | bytes:
    if isinstance(cell, str):
        return escape_formula(cell)
    text = cell.decode(errors="replace")
    return cell if escape_formula(text) == text else b"'" + cell


_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)


def _flatten_lists(table: pa.Table) -> pa.Table:
    for number, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            texts = [None if value is None else json.dumps(value) for value in table.column(number).to_pylist()]
            table = table.set_column(number, field.name, pa.array(texts, type=pa.string()))
    return table
