"""What a worker does: explain one part and put its results in place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from joblib import parallel_config

from sev._io import read_regular_file, write_file
from sev.batch._formats import TableFormat
from sev.batch._inputs import Finished, InputFile, Inputs, Part, schema_of
from sev.batch._manifest import file_digest
from sev.batch._partition import PartitionExplainer
from sev.batch._writers import reporting_full_disk, write_tables
from sev.core import list_names, suggest_columns
from sev.exceptions import BatchError, InputError
from sev.files import MOST_BYTES

ARCHIVE = "_explainer.sev"
_PARQUET = TableFormat("parquet")


@dataclass(frozen=True)
class Work:
    """Everything that a worker has to know; small, because it is sent with each part.

    Parameters
    ----------
    folder : str
        Where the explainer lies and results go.
    options : str
        Keywords of :class:`PartitionExplainer`, as JSON.
    digest : str
        Checksum of the explainer's file.
    schema : bytes
        Schema of the results, as arrow writes it.
    """

    folder: str
    options: str
    digest: str
    schema: bytes

    def __call__(self, part: Part) -> Part:
        """Explain a part, unless its results are in place; returns the part without its rows."""
        if isinstance(part.rows, Finished):
            return part
        # scikit-learn's own Parallel would otherwise go out to the cluster again for each call, to load or to explain
        with parallel_config(backend="sequential"):
            return self._explain_part(part, _load_partition(self.folder, self.digest, self.options))

    def _explain_part(self, part: Part, explain: PartitionExplainer) -> Part:
        schema = pa.ipc.read_schema(pa.py_buffer(self.schema))
        path = Path(self.folder) / part.name
        try:
            with reporting_full_disk(path.parent):
                n_rows = write_tables(path, _PARQUET, schema, part_results(explain, part, schema))
        except (InputError, pa.ArrowInvalid) as error:
            raise BatchError(f"{part.label}, rows from {part.first_row:,} on: {error}") from error
        if n_rows != part.n_rows:
            path.unlink()
            raise BatchError(
                f"{part.label} has {n_rows:,} rows where {part.n_rows:,} were expected: it has changed since this "
                "batch began. Choose another output for a new batch."
            )
        return part.finished(sha256=file_digest(path) or "")


def result_schema_of(explain: PartitionExplainer, inputs: Inputs) -> pa.Schema:
    """Columns of the results of a batch: where a row comes from, columns that are kept, and what was found.

    The columns of all files are compared with those that the explainer needs and with the first file's.

    Raises
    ------
    InputError
        That names the first file that cannot be explained with the others, and its columns.
    """
    places = [("row", pa.int64())] if len(inputs.files) == 1 else [("file", pa.string()), ("row", pa.int64())]
    kept = _kept_columns(explain, inputs.files[0], inputs.schema)
    taken = set(kept) & {"file", "row"}
    if taken:
        raise InputError(
            f"The input has a column called {taken.pop()!r}, which is also a column of the results: rename it, or "
            "leave it out of the columns to keep."
        )
    for file in inputs.files[1:]:
        if file.path == "-":
            continue  # standard input is read once only
        found = _kept_columns(explain, file, schema_of(file))
        more, fewer = ([one for one in some if one not in other] for some, other in ((found, kept), (kept, found)))
        if more or fewer:
            differences = [f"also has {list_names(more, 8)}"] if more else []
            differences += [f"lacks {list_names(fewer, 8)}"] if fewer else []
            raise InputError(
                f"{file.label} does not have the same columns to keep as {inputs.files[0].label}: it "
                f"{' and '.join(differences)}.{suggest_columns(fewer, more)} Give both the same columns, or name those "
                "to keep (keep=, --keep)."
            )
    return pa.schema([*places, *explain.schema(inputs.schema)])


def _kept_columns(explain: PartitionExplainer, file: InputFile, schema: pa.Schema) -> list[str]:
    try:
        return list(explain.kept_columns(schema.names))
    except InputError as error:
        raise InputError(f"{file.label}: {error}") from error


def part_results(explain: PartitionExplainer, part: Part, schema: pa.Schema) -> Iterator[pa.Table]:
    """Results of a part's rows, a piece at a time."""
    first = part.first_row
    for table in part.rows.tables():
        results = explain.arrow(table)
        places: dict[str, pa.Array] = {"row": pa.array(np.arange(first, first + table.num_rows, dtype=np.int64))}
        if schema.names[0] == "file":
            places = {"file": pa.array([part.label] * table.num_rows, type=pa.string()), **places}
        wanted = schema.names[len(places) :]
        if set(results.column_names) != set(wanted):
            raise InputError(
                f"{part.label} does not have the columns of the files before it ({results.column_names}): give all "
                "files the same columns."
            )
        results = results.select(wanted)  # columns to carry over may come in another order
        yield pa.table(dict(zip(schema.names, [*places.values(), *results.columns], strict=True))).cast(schema)
        first += table.num_rows


def place_archive(folder: Path, archive: bytes, digest: str) -> None:
    """Put the explainer's file where workers find it, unless it is there already.

    Raises
    ------
    BatchError
        When a file of that name is there and is not the explainer of this batch.
    """
    if (folder / ARCHIVE).exists() or (folder / ARCHIVE).is_symlink():
        _read_archive(folder, digest)
        return
    write_file(folder / ARCHIVE, archive)


def _read_archive(folder: Path, digest: str) -> bytes:
    """The explainer's file, compared with its digest before anything in it is parsed or run.

    Others may be able to write to the folder, and the file may hold a pickle that the user trusts: only the very bytes
    that the user named are trusted.
    """
    path = folder / ARCHIVE
    try:
        archive = read_regular_file(path, MOST_BYTES)
    except OSError as error:
        raise BatchError(f"{path} cannot be read: {error.strerror}.") from error
    if hashlib.sha256(archive).hexdigest() != digest:
        raise BatchError(
            f"{path} is not the explainer that this batch began with, so it was not loaded. Remove "
            "it and run the same command again."
        )
    return archive


@lru_cache(maxsize=2)
def _load_partition(folder: str, digest: str, options: str) -> PartitionExplainer:
    return PartitionExplainer(_read_archive(Path(folder), digest), **json.loads(options))
