"""The files of a batch, cut into parts: one for each row group, or for each so many rows of a stream."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sev._io import replacing
from sev.batch._formats import TableFormat, format_of, group_sizes, group_tables, open_stream, stream_tables
from sev.exceptions import BatchError, InputError

_HASH_BYTES = 1 << 22
#: Rows that are in memory at once, however large a row group is.
ROWS_AT_ONCE = 65_536


@dataclass(frozen=True)
class InputFile:
    """A file of a batch.

    Parameters
    ----------
    path : str
        Where it is; ``-`` is standard input.
    label : str
        What results call it: its name, with the folders below the one that was given.
    form : TableFormat
        Its format.
    size : int or None
        In bytes, as far as known.
    sha256 : str or None
        Of its content, as far as known.
    """

    path: str
    label: str
    form: TableFormat
    size: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """What one worker does at a time: a row group of a file, or a table that was read for it.

    Parameters
    ----------
    name : str
        File name of its results.
    label : str
        The input file, as results call it.
    first_row : int
        Number of its first row in the file.
    n_rows : int
        How many it has.
    source : tuple
        Path, format and row group; or a table alone.
    """

    name: str
    label: str
    first_row: int
    n_rows: int
    source: tuple[Any, ...]

    def tables(self) -> Iterator[pa.Table]:
        """Its rows, a piece at a time."""
        if len(self.source) == 1:
            table = self.source[0]
            for first in range(0, max(table.num_rows, 1), ROWS_AT_ONCE):
                yield table.slice(first, ROWS_AT_ONCE)
        else:
            path, name, group = self.source
            yield from group_tables(path, name, group, ROWS_AT_ONCE)


def input_files(paths: Sequence[str | Path], *, stdin_format: Any = None, hashed: bool = True) -> tuple[InputFile, ...]:
    """Files of a batch, in order; folders give all their tables, sorted by name."""
    found: list[InputFile] = []
    for path in paths:
        if str(path) == "-":
            found.append(InputFile("-", "-", format_of("-", stdin_format)))
            continue
        root = Path(path)
        if not root.exists():
            raise InputError(f"{path} does not exist.")
        for file in _tables_below(root) if root.is_dir() else [root]:
            label = str(file.relative_to(root)) if root.is_dir() else file.name
            digest = sha256_of(file) if hashed else None
            found.append(InputFile(str(file.absolute()), label, format_of(file), file.stat().st_size, digest))
    if not found:
        raise InputError(f"There is no table to explain in {', '.join(str(path) for path in paths)}.")
    labels = [file.label for file in found]
    if len(set(labels)) != len(labels):
        found = [InputFile(one.path, one.path, one.form, one.size, one.sha256) for one in found]
    return tuple(found)


def first_schema(file: InputFile, opened: dict[str, Any], rows_per_part: int) -> pa.Schema:
    """Schema of a file's rows.

    A stream that had to be opened for it is left in ``opened`` with its first table, and read on from there.
    """
    if not file.form.is_stream:
        return group_sizes(file.path, file.form.name)[0]
    _, table = _stream(file, opened, rows_per_part)
    schema: pa.Schema = table.schema
    return schema


def parts_of(files: Sequence[InputFile], opened: dict[str, Any], rows_per_part: int) -> Iterator[Part]:
    """All parts of all files, in order. Streams are read as parts are asked for."""
    for number, file in enumerate(files):
        if file.form.is_stream:
            yield from _stream_parts(number, file, opened, rows_per_part)
            continue
        first_row = 0
        for group, n_rows in enumerate(group_sizes(file.path, file.form.name)[1]):
            source = (file.path, file.form.name, group)
            yield Part(_part_name(number, group), file.label, first_row, n_rows, source)
            first_row += n_rows


def n_rows_of(files: Sequence[InputFile]) -> int | None:
    """Number of rows of all files, None when some are streams."""
    if any(file.form.is_stream for file in files):
        return None
    return sum(sum(group_sizes(file.path, file.form.name)[1]) for file in files)


def unpacked(files: Sequence[InputFile], folder: Path) -> tuple[InputFile, ...]:
    """The same files, with packed Parquet and Feather files unpacked into a folder: they cannot be read in streams."""
    ready = []
    for number, file in enumerate(files):
        if file.form.compression is not None and not file.form.is_stream:
            target = folder / f"_unpacked-{number:05d}.{file.form.name}"
            with open_stream(file.path, file.form.compression) as stream, replacing(target) as plain:
                shutil.copyfileobj(stream, plain, _HASH_BYTES)
            file = InputFile(str(target), file.label, TableFormat(file.form.name), file.size, file.sha256)
        elif file.path == "-" and not file.form.is_stream:
            raise InputError(f"Standard input cannot be {file.form.name}: use CSV, TSV or JSON lines, or a file.")
        ready.append(file)
    return tuple(ready)


def sha256_of(path: Path) -> str:
    """Checksum of a file's content."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_HASH_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _stream(file: InputFile, opened: dict[str, Any], rows_per_part: int) -> Any:
    if file.path not in opened:
        tables = stream_tables(file.path, file.form, rows_per_part)
        opened[file.path] = (tables, _next_table(file, tables))
    return opened[file.path]


def _stream_parts(number: int, file: InputFile, opened: dict[str, Any], rows_per_part: int) -> Iterator[Part]:
    tables, table = _stream(file, opened, rows_per_part)
    first_row, group = 0, 0
    while table is not None:
        if table.num_rows or not group:
            yield Part(_part_name(number, group), file.label, first_row, table.num_rows, (table,))
        first_row += table.num_rows
        group += 1
        table = _next_table(file, tables)
    opened.pop(file.path)


def _next_table(file: InputFile, tables: Iterator[pa.Table]) -> pa.Table | None:
    try:
        return next(tables, None)
    except (pa.ArrowInvalid, OSError, EOFError) as error:
        raise BatchError(f"{file.label} cannot be read as {file.form.name}: {error}.") from error


def _part_name(file: int, group: int) -> str:
    return f"part-{file:05d}-{group:06d}.parquet"


def _tables_below(folder: Path) -> list[Path]:
    found = []
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        if path.is_file() and not any(name.startswith(("_", ".")) for name in inside):
            try:
                format_of(path)
            except InputError:
                continue
            found.append(path)
    return found
