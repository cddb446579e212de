"""The files of a batch, cut into parts: one for each row group, or for each so many rows of a stream."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import pyarrow as pa

from sev._io import replacing
from sev.batch._formats import (
    KNOWN_ENDINGS,
    FormatName,
    TableFormat,
    format_of,
    group_sizes,
    group_tables,
    open_stream,
    stream_tables,
)
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


@dataclass(frozen=True)
class RowGroup:
    """Rows of a part that any worker can read from the file by itself."""

    path: str
    form: FormatName
    number: int

    def tables(self) -> Iterator[pa.Table]:
        """The rows, a piece at a time."""
        return group_tables(self.path, self.form, self.number, ROWS_AT_ONCE)


@dataclass(frozen=True, eq=False)
class HeldTable:
    """Rows of a part that were read from a stream, which only one process can do."""

    table: pa.Table

    def tables(self) -> Iterator[pa.Table]:
        """The rows, a piece at a time."""
        for first in range(0, max(self.table.num_rows, 1), ROWS_AT_ONCE):
            yield self.table.slice(first, ROWS_AT_ONCE)


@dataclass(frozen=True)
class Finished:
    """Rows of a part whose results are in place.

    Parameters
    ----------
    by_earlier_run : bool
        Whether this run has not touched them.
    sha256 : str
        Digest of the file of results, if this run has written it.
    """

    by_earlier_run: bool = False
    sha256: str = ""

    def tables(self) -> Iterator[pa.Table]:
        """No rows: there is nothing left to do with them."""
        return iter(())


@dataclass(frozen=True)
class Part:
    """What one worker does at a time.

    Parameters
    ----------
    name : str
        File name of its results; in the order of the names, parts have the order of the input.
    label : str
        The input file, as results call it.
    first_row : int
        Number of its first row in the file.
    n_rows : int
        How many it has.
    rows : RowGroup, HeldTable or Finished
        Where its rows are.
    """

    name: str
    label: str
    first_row: int
    n_rows: int
    rows: RowGroup | HeldTable | Finished

    def finished(self, *, by_earlier_run: bool = False, sha256: str = "") -> Part:
        """The same part without its rows, once its results are in place."""
        return self if isinstance(self.rows, Finished) else replace(self, rows=Finished(by_earlier_run, sha256))


def input_files(
    paths: Sequence[str | Path], *, stdin_format: FormatName | None = None, hashed: bool = True
) -> tuple[InputFile, ...]:
    """Files of a batch, in order; of folders all their tables, sorted by name."""
    found: list[InputFile] = []
    for path in paths:
        if str(path) == "-":
            found.append(InputFile("-", "-", format_of("-", stdin_format)))
            continue
        root = Path(path)
        if not root.exists():
            raise InputError(f"{path} does not exist: check the name and the folder.")
        for file in _tables_below(root) if root.is_dir() else [root]:
            label = str(file.relative_to(root)) if root.is_dir() else file.name
            digest = sha256_of(file) if hashed else None
            found.append(InputFile(str(file.absolute()), label, format_of(file), file.stat().st_size, digest))
    if not found:
        raise InputError(
            f"No file to explain in {', '.join(str(path) for path in paths)}: files end in "
            f"{', '.join(KNOWN_ENDINGS)}, alone or packed."
        )
    labels = [file.label for file in found]
    if len(set(labels)) != len(labels):
        found = [InputFile(one.path, one.path, one.form, one.size, one.sha256) for one in found]
    return tuple(found)


class Inputs:
    """Files that are read once, in order: row groups by whoever works on them, streams as parts are taken.

    Parameters
    ----------
    files : sequence of InputFile
        The files, none of them packed Parquet or Feather (see :func:`unpacked`).
    rows_per_part : int
        Rows of each part of a stream.
    """

    def __init__(self, files: Sequence[InputFile], rows_per_part: int) -> None:
        self.files = tuple(files)
        self._rows_per_part = rows_per_part
        first = self.files[0]
        if first.form.is_stream:
            self._first_tables = _read_stream(first, rows_per_part)
            self._first_table = next(self._first_tables)
            self.schema: pa.Schema = self._first_table.schema
        else:
            self.schema = group_sizes(first.path, first.form.name)[0]

    @property
    def n_rows(self) -> int | None:
        """Number of rows of all files, None when some are streams."""
        if any(file.form.is_stream for file in self.files):
            return None
        return sum(sum(group_sizes(file.path, file.form.name)[1]) for file in self.files)

    def parts(self) -> Iterator[Part]:
        """All parts of all files, in order; to be called once, because streams cannot be read again."""
        for number, file in enumerate(self.files):
            first_row = 0
            for group, (n_rows, rows) in enumerate(self._list_pieces(number)):
                yield Part(f"part-{number:05d}-{group:06d}.parquet", file.label, first_row, n_rows, rows)
                first_row += n_rows

    def _list_pieces(self, number: int) -> Iterator[tuple[int, RowGroup | HeldTable]]:
        file = self.files[number]
        if not file.form.is_stream:
            for group, n_rows in enumerate(group_sizes(file.path, file.form.name)[1]):
                yield n_rows, RowGroup(file.path, file.form.name, group)
            return
        tables = _read_stream(file, self._rows_per_part) if number else chain([self._first_table], self._first_tables)
        for table in tables:
            yield table.num_rows, HeldTable(table)


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
            raise InputError(
                f"Standard input cannot be read as {file.form.name}: use CSV, TSV or JSON lines, or pass a file."
            )
        ready.append(file)
    return tuple(ready)


def sha256_of(path: Path) -> str:
    """Checksum of a file's content."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_HASH_BYTES):
            digest.update(block)
    return digest.hexdigest()


def schema_of(file: InputFile) -> pa.Schema:
    """Columns of a file, of which no more than the beginning is read."""
    if not file.form.is_stream:
        return group_sizes(file.path, file.form.name)[0]
    return next(_read_stream(file, 1)).schema


def _read_stream(file: InputFile, rows_per_part: int) -> Iterator[pa.Table]:
    try:
        yield from stream_tables(file.path, file.form, rows_per_part)
    except (pa.ArrowInvalid, OSError, EOFError) as error:
        raise BatchError(f"{file.label} cannot be read as {file.form.name}: {error}.") from error


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
