"""Results straight to an open file, such as standard output, in order and without parts on disk."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sev.batch._formats import TableFormat
from sev.batch._inputs import InputFile, first_schema, parts_of, unpacked
from sev.batch._partition import PartitionExplainer
from sev.batch._writers import TableWriter, table_writer
from sev.exceptions import InputError


def explain_stream(
    archive: bytes,
    files: Sequence[InputFile],
    out: Any,
    *,
    as_json: bool,
    rows_per_part: int,
    raw: bool = False,
    on_rows: Callable[[int], None] | None = None,
    **options: Any,
) -> int:
    """Explain all rows of files; returns their number.

    Parameters
    ----------
    archive : bytes
        The explainer's file.
    files : sequence of InputFile
        What to explain.
    out : binary file
        Where results go, as CSV or, with ``as_json``, as JSON lines.
    rows_per_part : int
        Rows that are read at once from streams.
    raw : bool, default=False
        Write CSV cells as they are, even those that a spreadsheet would run as formulas.
    on_rows : callable, default=None
        Is told the number of rows of each piece that is written.
    **options
        As for :class:`PartitionExplainer`.
    """
    explain = PartitionExplainer(archive, **options)
    opened: dict[str, Any] = {}
    writer: TableWriter | None = None
    n_rows, names = 0, None
    with tempfile.TemporaryDirectory() as folder:
        ready = unpacked(files, Path(folder))
        first_schema(ready[0], opened, rows_per_part)
        for part in parts_of(ready, opened, rows_per_part):
            first = part.first_row
            for table in part.tables():
                rows = pa.array(np.arange(first, first + table.num_rows, dtype=np.int64))
                results = explain.arrow(table).add_column(0, "row", rows)
                if len(ready) > 1:
                    results = results.add_column(0, "file", pa.array([part.label] * table.num_rows, type=pa.string()))
                if writer is None:
                    writer = table_writer(out, TableFormat("jsonl" if as_json else "csv"), results.schema, raw=raw)
                    names = results.column_names
                if results.column_names != names:
                    raise InputError(f"{part.label} has other columns than the files before it.")
                writer.write(results)
                if on_rows is not None:
                    on_rows(table.num_rows)
                first += table.num_rows
                n_rows += table.num_rows
    if writer is not None:
        writer.close()
    return n_rows
