"""What a worker does: explain one part and put its results in place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from joblib import parallel_config

from sev._io import read_regular_file, write_file
from sev.batch._formats import TableFormat
from sev.batch._inputs import Part
from sev.batch._partition import PartitionExplainer
from sev.batch._writers import telling_full_disk, write_tables
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
    with_label : bool
        Whether results name the file that they belong to.
    """

    folder: str
    options: str
    digest: str
    schema: bytes
    with_label: bool

    def __call__(self, part: Part) -> Part:
        """Explain a part; returns the part without its rows."""
        # scikit-learn's own Parallel would otherwise go out to the cluster again for each call, to load or to explain
        with parallel_config(backend="sequential"):
            return self._explained(part, _partition(self.folder, self.digest, self.options))

    def _explained(self, part: Part, explain: PartitionExplainer) -> Part:
        schema = pa.ipc.read_schema(pa.py_buffer(self.schema))
        path = Path(self.folder) / part.name
        try:
            with telling_full_disk(path.parent):
                n_rows = write_tables(path, _PARQUET, schema, self._results(explain, part, schema))
        except (InputError, pa.ArrowInvalid) as error:
            raise BatchError(f"{part.label}, rows from {part.first_row:,} on: {error}") from error
        if n_rows != part.n_rows:
            path.unlink()
            raise BatchError(f"{part.label} has {n_rows:,} rows where {part.n_rows:,} were expected: was it changed?")
        return Part(part.name, part.label, part.first_row, part.n_rows, ())

    def _results(self, explain: PartitionExplainer, part: Part, schema: pa.Schema) -> Iterator[pa.Table]:
        first = part.first_row
        for table in part.tables():
            results = explain.arrow(table)
            places: list[Any] = [pa.array(np.arange(first, first + table.num_rows, dtype=np.int64))]
            if self.with_label:
                places.insert(0, pa.array([part.label] * table.num_rows, type=pa.string()))
            columns = dict(zip(schema.names, [*places, *results.columns], strict=False))
            if results.column_names != schema.names[len(places) :]:
                raise InputError(f"it has other columns than the files before it: {results.column_names}")
            yield pa.table(columns).cast(schema)
            first += table.num_rows


def part_rows(path: Path) -> int | None:
    """Rows of a part that is in place and can be read, else None."""
    try:
        return int(pa.parquet.read_metadata(path).num_rows)
    except (OSError, pa.ArrowInvalid):
        return None


def done_rows(folder: Path) -> int:
    """Rows of all parts that are in place."""
    return sum(part_rows(path) or 0 for path in folder.glob("part-*.parquet"))


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
            f"{path} is not the explainer that this batch began with, and was not loaded: somebody has changed it. "
            "Remove it and run the same command again."
        )
    return archive


@lru_cache(maxsize=2)
def _partition(folder: str, digest: str, options: str) -> PartitionExplainer:
    return PartitionExplainer(_read_archive(Path(folder), digest), **json.loads(options))
