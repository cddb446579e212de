"""Results in the format that was asked for."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from sev.batch._formats import TableFormat
from sev.exceptions import BatchError

_FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class TableWriter(Protocol):
    """Takes tables of one schema, in order."""

    def write(self, table: pa.Table) -> None:
        """Write the rows of a table."""
        ...

    def close(self) -> None:
        """Finish the file; it stays open."""
        ...


def table_writer(file: Any, form: TableFormat, schema: pa.Schema) -> TableWriter:
    """A writer into an open binary file."""
    if form.compression is not None:
        file = pa.CompressedOutputStream(pa.PythonFile(_KeptOpen(file), mode="w"), form.compression)
    kinds: dict[str, Any] = {
        "parquet": _ParquetWriter,
        "feather": _FeatherWriter,
        "csv": lambda file, schema: _CsvWriter(file, schema, ","),
        "tsv": lambda file, schema: _CsvWriter(file, schema, "\t"),
        "jsonl": _JsonWriter,
    }
    writer: TableWriter = kinds[form.name](file, schema)
    return writer if form.compression is None else _Closing(writer, file)


@contextmanager
def replacing(path: Path) -> Iterator[Any]:
    """A binary file under a temporary name that takes its own only when everything is on disk."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def telling_full_disk(folder: Path) -> Iterator[None]:
    """Say what to do when nothing more can be written."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL_DISK:
            raise
        raise BatchError(
            f"The disk is full: {folder} cannot take more results. What is done is kept: make room and run the same "
            "command again."
        ) from error


def write_tables(path: Path, form: TableFormat, schema: pa.Schema, tables: Iterable[pa.Table]) -> int:
    """Write tables to one file, whole or not at all; gives the number of rows."""
    n_rows = 0
    with replacing(path) as file:
        writer = table_writer(file, form, schema)
        try:
            for table in tables:
                writer.write(table)
                n_rows += table.num_rows
            writer.close()
        except BaseException:
            if isinstance(writer, _ParquetWriter):
                writer.abandon()
            raise
    return n_rows


class _ParquetWriter:
    def __init__(self, file: Any, schema: pa.Schema) -> None:
        self._writer = pa.parquet.ParquetWriter(file, schema, compression="zstd")

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table)

    def close(self) -> None:
        self._writer.close()

    def abandon(self) -> None:
        """Leave a half-written file; else pyarrow tries to finish it long after it is gone."""
        self._writer.is_open = False


class _FeatherWriter:
    def __init__(self, file: Any, schema: pa.Schema) -> None:
        self._writer = pa.ipc.new_file(file, schema, options=pa.ipc.IpcWriteOptions(compression="lz4"))

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table)

    def close(self) -> None:
        self._writer.close()


class _CsvWriter:
    """CSV has no lists: they are written as JSON."""

    def __init__(self, file: Any, schema: pa.Schema, delimiter: str) -> None:
        self._file = file
        self._delimiter = delimiter
        header = io.StringIO()
        csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(schema.names)
        file.write(header.getvalue().encode())

    def write(self, table: pa.Table) -> None:
        options = pa.csv.WriteOptions(include_header=False, delimiter=self._delimiter, quoting_style="needed")
        buffer = io.BytesIO()
        pa.csv.write_csv(_flat(table), buffer, options)
        self._file.write(buffer.getvalue())

    def close(self) -> None:
        pass


class _JsonWriter:
    def __init__(self, file: Any, schema: pa.Schema) -> None:
        self._file = file

    def write(self, table: pa.Table) -> None:
        lines = [json.dumps(row, ensure_ascii=False, default=str) for row in table.to_pylist()]
        if lines:
            self._file.write(("\n".join(lines) + "\n").encode())

    def close(self) -> None:
        pass


class _Closing:
    """Ends the compressed stream behind a writer, too."""

    def __init__(self, writer: TableWriter, file: Any) -> None:
        self._writer = writer
        self._file = file

    def write(self, table: pa.Table) -> None:
        self._writer.write(table)

    def close(self) -> None:
        self._writer.close()
        self._file.close()


class _KeptOpen(io.RawIOBase):
    """A file that a compressing stream cannot close: syncing and moving come after it."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return int(self._file.write(data))


def _flat(table: pa.Table) -> pa.Table:
    for number, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            texts = [None if value is None else json.dumps(value) for value in table.column(number).to_pylist()]
            table = table.set_column(number, field.name, pa.array(texts, type=pa.string()))
    return table
