"""Files of tables: which format a file has, and how it is read a piece at a time.

Parquet and Feather files come in row groups that any worker can read by itself. CSV, TSV and JSON lines are streams:
they are read once, in order, as text, and cut into pieces of a fixed number of rows.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from sev.core import list_names
from sev.exceptions import BatchError, InputError

FormatName = Literal["csv", "tsv", "jsonl", "parquet", "feather", "xlsx"]
Compression = Literal["gzip", "zstd"]

_BY_ENDING: dict[str, FormatName] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
}
KNOWN_ENDINGS = tuple(_BY_ENDING)
_COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
_HEADER_BYTES = 1 << 20
_BLOCK_BYTES = 8 << 20


@dataclass(frozen=True)
class TableFormat:
    """Format and compression of a file."""

    name: FormatName
    compression: Compression | None = None

    @property
    def is_stream(self) -> bool:
        """Whether it can only be read from the start."""
        return self.name in ("csv", "tsv", "jsonl")


def format_of(path: str | Path, default: FormatName | None = None) -> TableFormat:
    """The format that a file's name tells.

    Parameters
    ----------
    path : path-like
        ``.csv``, ``.tsv``, ``.jsonl``, ``.parquet``, ``.feather``; all may be followed by ``.gz`` or ``.zst``.
    default : str, default=None
        What ``-`` (standard input or output) holds.
    """
    if str(path) == "-":
        return TableFormat(default or "csv")
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    compression = _COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    ending = suffixes[-2] if compression and len(suffixes) > 1 else (suffixes[-1] if suffixes else "")
    if ending not in _BY_ENDING:
        raise InputError(
            f"{path}: unknown file ending; use {', '.join(_BY_ENDING)}, alone or followed by "
            f"{' or '.join(_COMPRESSIONS)}."
        )
    return TableFormat(_BY_ENDING[ending], compression)


def output_format(path: str | Path) -> TableFormat:
    """The format that the name of a file of results tells: one that can be read, or Excel."""
    if Path(path).suffix.lower() == ".xlsx":
        return TableFormat("xlsx")
    try:
        return format_of(path)
    except InputError as error:
        raise InputError(f"{error} Results can also be written as .xlsx.") from error


def open_stream(path: str | Path, compression: Compression | None) -> io.BufferedReader:
    """A file, or standard input for ``-``, as a buffered stream of unpacked bytes."""
    raw: io.RawIOBase = cast("io.RawIOBase", sys.stdin.buffer) if str(path) == "-" else io.FileIO(path)
    if compression is not None:
        raw = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), compression)
    return io.BufferedReader(raw, buffer_size=_HEADER_BYTES)


def stream_tables(path: str | Path, form: TableFormat, rows_per_table: int) -> Iterator[pa.Table]:
    """Tables of text columns, each of ``rows_per_table`` rows but the last; the first one comes even without rows."""
    name = "Standard input" if str(path) == "-" else str(path)
    with open_stream(path, form.compression) as stream:
        if form.name == "jsonl":
            yield from _json_tables(stream, rows_per_table, name)
        else:
            yield from _csv_tables(stream, "\t" if form.name == "tsv" else ",", rows_per_table, name)


def _csv_tables(stream: io.BufferedReader, delimiter: str, rows_per_table: int, name: str) -> Iterator[pa.Table]:
    head = _decode_head(stream.peek(_HEADER_BYTES), name)
    names = next(csv.reader(io.StringIO(head, newline=""), delimiter=delimiter), None)
    if not names:
        raise InputError(f"{name} is empty: expected a line with column names.")
    if len(names) != len(set(names)):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InputError(f"{name} has columns that occur more than once: {list_names(twice, 8)}. Rename them.")
    batches = pa.csv.open_csv(
        stream,
        read_options=pa.csv.ReadOptions(block_size=_BLOCK_BYTES),
        parse_options=pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), null_values=[""], strings_can_be_null=True
        ),
    )
    return _regroup_batches(batches, batches.schema, rows_per_table)


def _decode_head(data: bytes, name: str) -> str:
    """The start of a file as text; a letter that the end of the bytes cuts in two is left out."""
    try:
        return codecs.getincrementaldecoder("utf-8-sig")().decode(data)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not UTF-8 text (byte {error.start + 1:,} cannot be read): save it as UTF-8, which "
            'spreadsheets call "CSV UTF-8".'
        ) from error


def _regroup_batches(batches: Iterable[pa.RecordBatch], schema: pa.Schema, rows_per_table: int) -> Iterator[pa.Table]:
    """The same rows in tables of one length, so that pieces do not depend on how bytes arrived."""
    waiting: list[pa.Table] = []
    n_waiting, n_given = 0, 0
    for batch in batches:
        waiting.append(pa.Table.from_batches([batch], schema))
        n_waiting += batch.num_rows
        while n_waiting >= rows_per_table:
            joined = pa.concat_tables(waiting)
            yield joined.slice(0, rows_per_table).combine_chunks()
            n_given += 1
            waiting = [joined.slice(rows_per_table)]
            n_waiting -= rows_per_table
    if n_waiting or not n_given:
        yield pa.concat_tables([schema.empty_table(), *waiting]).combine_chunks()


def _json_tables(stream: io.BufferedReader, rows_per_table: int, name: str) -> Iterator[pa.Table]:
    columns: list[str] | None = None
    rows: list[dict[str, str | None]] = []
    n_given = 0
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        rows.append(_json_row(line, f"{name}, line {number}"))
        if len(rows) == rows_per_table:
            columns = columns or list(rows[0])
            yield _text_table(rows, columns)
            rows, n_given = [], n_given + 1
    if rows or not n_given:
        if not rows:
            raise InputError(f"{name} is empty: expected one JSON object per line.")
        yield _text_table(rows, columns or list(rows[0]))


def _json_row(line: bytes, where: str) -> dict[str, str | None]:
    """One line as text cells; numbers keep the digits that they were written with."""
    try:
        row = json.loads(line, parse_float=str, parse_int=str, parse_constant=str)
    except ValueError as error:
        raise InputError(f"{where}: this is not valid JSON: {error}.") from error
    if not isinstance(row, dict):
        raise InputError(f"{where}: this is not a JSON object with one entry per column.")
    return {
        name: value if value is None or isinstance(value, str) else json.dumps(value) for name, value in row.items()
    }


def _text_table(rows: list[dict[str, str | None]], columns: list[str]) -> pa.Table:
    return pa.table({name: pa.array([row.get(name) for row in rows], type=pa.string()) for name in columns})


# -- files in row groups -----------------------------------------------------------------------------------------------


def group_sizes(path: str | Path, name: FormatName) -> tuple[pa.Schema, list[int]]:
    """Schema of a Parquet or Feather file and the number of rows of each of its groups."""
    try:
        if name == "parquet":
            with pa.parquet.ParquetFile(path) as file:
                groups = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
                return file.schema_arrow, groups
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
            sizes = [reader.get_batch(number).num_rows for number in range(reader.num_record_batches)]
            return reader.schema, sizes
    except (pa.ArrowInvalid, OSError) as error:
        raise BatchError(f"{path} cannot be read as {name}: {error}.") from error


def group_tables(path: str | Path, name: FormatName, group: int, rows_per_table: int) -> Iterator[pa.Table]:
    """The rows of one group, a piece at a time."""
    if name == "parquet":
        with pa.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=rows_per_table, row_groups=[group]):
                yield pa.Table.from_batches([batch])
        return
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
        table = pa.Table.from_batches([reader.get_batch(group)])
        for first in range(0, table.num_rows, rows_per_table):
            yield table.slice(first, rows_per_table)
