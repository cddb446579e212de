"""Explain files that are larger than memory, and go on where a run was ended."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet

from sev.batch._engines import EngineName, run
from sev.batch._formats import format_of
from sev.batch._inputs import InputFile, Part, first_schema, input_files, n_rows_of, parts_of, unpacked
from sev.batch._manifest import FORMAT, FORMAT_VERSION, clear, locked, open_manifest, sweep, write_manifest
from sev.batch._partition import PartitionExplainer
from sev.batch._work import Work, done_rows, part_rows, place_archive
from sev.batch._writers import telling_full_disk, write_tables
from sev.core import __version__
from sev.exceptions import BatchError, InputError
from sev.files import naming, read_whole

if TYPE_CHECKING:
    from sev.explainers import Explainer

DEFAULT_ROWS_PER_PART = 100_000


@dataclass(frozen=True)
class BatchResult:
    """What a batch gave, counted on disk.

    Parameters
    ----------
    output : Path
        The file or folder of results.
    rows : int
        Rows of results, as many as rows of input.
    statuses : dict
        Rows by status.
    rows_before : int
        Rows that an earlier run had done.
    """

    output: Path
    rows: int
    statuses: dict[str, int]
    rows_before: int = 0


def explain_files(
    explainer: Explainer | str | Path,
    inputs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    engine: EngineName = "local",
    address: str | None = None,
    n_jobs: int = 1,
    rows_per_part: int = DEFAULT_ROWS_PER_PART,
    trust_pickle: bool = False,
    on_start: Callable[[int | None, int], None] | None = None,
    on_part: Callable[[int], None] | None = None,
    on_kept: Callable[[int], None] | None = None,
    stdin_format: Any = None,
    raw: bool = False,
    **options: Any,
) -> BatchResult:
    """Explain all rows of files of any size, part by part; the same call goes on with a run that was ended.

    Parameters
    ----------
    explainer : Explainer or path-like
        The explainer, or the file that it was saved to.
    inputs : path-like or sequence of path-like
        Tables (CSV, TSV, JSON lines, Parquet, Feather; also packed with gzip or zstd), or folders of them.
    output : path-like
        A folder, which gets one Parquet file for each part; or a file, in the format that its name tells.
    engine : {"local", "dask", "ray", "spark"}, default="local"
        Where parts are worked on. All but the first need to see the output folder.
    address : str, default=None
        Of the engine's scheduler; None starts one on this machine.
    n_jobs : int, default=1
        Workers, where this call starts them.
    rows_per_part : int, default=100_000
        For streams (CSV, TSV, JSON lines); Parquet and Feather files have their own row groups.
    trust_pickle : bool, default=False
        See :func:`sev.load`; for an explainer in memory it also allows to pickle its model.
    on_start, on_part, on_kept : callable, default=None
        ``on_start(total, done)`` is called once with the number of all rows (None: unknown) and of those that an
        earlier run has done; ``on_part(rows)`` for each part that this run finishes; ``on_kept(rows)`` for each part
        of the earlier run as it is met: these rows are among ``done`` already.
    stdin_format : str, default=None
        Format of an input called ``-``.
    raw : bool, default=False
        Write the cells of a CSV or TSV output as they are. By default an apostrophe goes before texts, such as
        ``=1+2``, that a spreadsheet would run as formulas.
    **options
        As for :class:`PartitionExplainer`.

    Returns
    -------
    BatchResult
        Counts, taken from the results on disk.

    Raises
    ------
    BatchError
        When the output holds another batch, or the run cannot go on. What is done is kept.
    """
    explain = _partition_explainer(explainer, trust_pickle, options)
    paths = [inputs] if isinstance(inputs, (str, Path)) else list(inputs)
    files = input_files(paths, stdin_format=stdin_format)
    output = Path(output)
    final = _format_or_none(output)
    folder = output if final is None else output.with_name(f"{output.name}.parts")
    if any(folder.absolute() == Path(path).absolute() for path in paths):
        raise InputError(f"{folder} is both input and output: choose another folder for the results.")
    folder.mkdir(parents=True, exist_ok=True)
    with telling_full_disk(output.parent), locked(folder):
        batch = _Batch(folder, explain, files, rows_per_part, trust_pickle, options)
        result = batch.run(engine, address, n_jobs, on_start, on_part, on_kept)
        if final is None:
            return result
        n_rows = write_tables(output, final, batch.schema, batch.results(), raw=raw)
        if n_rows != result.rows:
            raise BatchError(f"{output} got {n_rows:,} rows of {result.rows:,}: run the same command again.")
        clear(folder)
    return BatchResult(output, n_rows, result.statuses, result.rows_before)


class _Batch:
    """One run in one folder."""

    def __init__(
        self,
        folder: Path,
        explain: PartitionExplainer,
        files: tuple[InputFile, ...],
        rows_per_part: int,
        trust_pickle: bool,
        options: dict[str, Any],
    ) -> None:
        if rows_per_part < 1:
            raise InputError(f"rows_per_part={rows_per_part!r} must be at least 1.")
        self._folder = folder
        self._explain = explain
        self._rows_per_part = rows_per_part
        self._options = json.dumps({**_plain(options), "trust_pickle": trust_pickle})
        sweep(folder)
        self._manifest = open_manifest(folder, self._wanted(files))
        self._files = unpacked(files, folder)
        self._opened: dict[str, Any] = {}
        given = first_schema(self._files[0], self._opened, rows_per_part)
        places = [("row", pa.int64())] if len(files) == 1 else [("file", pa.string()), ("row", pa.int64())]
        taken = set(explain.kept_columns(given.names)) & {"file", "row"}
        if taken:
            raise InputError(
                f"The input has a column called {taken.pop()!r}, which results need: leave it out with keep."
            )
        self.schema = pa.schema([*places, *explain.schema(given)])
        self._parts: list[Part] = []

    def run(
        self,
        engine: EngineName,
        address: str | None,
        n_jobs: int,
        on_start: Callable[[int | None, int], None] | None,
        on_part: Callable[[int], None] | None,
        on_kept: Callable[[int], None] | None,
    ) -> BatchResult:
        """Do what is not done yet, then count everything on disk."""
        place_archive(self._folder, self._explain.archive, self._explain.digest)
        if on_start is not None:
            on_start(n_rows_of(self._files), done_rows(self._folder))
        work = Work(
            str(self._folder.absolute()),
            self._options,
            self._explain.digest,
            self.schema.serialize().to_pybytes(),
            len(self._files) > 1,
        )
        before = 0

        def waiting() -> Iterator[Part]:
            nonlocal before
            for part in parts_of(self._files, self._opened, self._rows_per_part):
                self._parts.append(Part(part.name, part.label, part.first_row, part.n_rows, ()))
                if part_rows(self._folder / part.name) == part.n_rows:
                    before += part.n_rows
                    if on_kept is not None:
                        on_kept(part.n_rows)
                    continue
                yield part

        for part in run(work, waiting(), engine=engine, address=address, n_jobs=n_jobs):
            if on_part is not None:
                on_part(part.n_rows)
        return self._finished(before)

    def results(self) -> Iterator[pa.Table]:
        """All results, in the order of the input, a piece at a time."""
        for part in self._parts:
            with pa.parquet.ParquetFile(self._folder / part.name) as file:
                for batch in file.iter_batches():
                    yield pa.Table.from_batches([batch], self.schema)

    def _finished(self, before: int) -> BatchResult:
        statuses: Counter[str] = Counter()
        for part in self._parts:
            held = pa.parquet.read_table(self._folder / part.name, columns=["status"], partitioning=None)
            if held.num_rows != part.n_rows:
                raise BatchError(
                    f"{part.name} has {held.num_rows:,} rows of {part.n_rows:,}: run the same command again."
                )
            counts = held.column("status").value_counts().to_pylist()
            statuses.update({entry["values"]: entry["counts"] for entry in counts})
        rows = sum(statuses.values())
        sweep(self._folder)  # workers that were killed leave half-written files
        for path in self._folder.glob("_unpacked-*"):
            path.unlink()
        by_status = dict(sorted(statuses.items()))
        finished = {"rows": rows, "parts": len(self._parts), "statuses": by_status}
        write_manifest(self._folder, {**self._manifest, "finished": finished})
        return BatchResult(self._folder, rows, by_status, before)

    def _wanted(self, files: tuple[InputFile, ...]) -> dict[str, Any]:
        if any(file.path == "-" for file in files) and any(self._folder.glob("part-*.parquet")):
            raise BatchError(f"{self._folder} holds results already, and standard input cannot be resumed.")
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "sev_version": __version__,
            "explainer": self._explain.digest,
            "settings": {**json.loads(self._options), "rows_per_part": self._rows_per_part},
            "inputs": [{"file": file.label, "size": file.size, "sha256": file.sha256} for file in files],
        }


def _partition_explainer(explainer: Any, trust_pickle: bool, options: dict[str, Any]) -> PartitionExplainer:
    if isinstance(explainer, (str, Path)):
        with naming(explainer):
            return PartitionExplainer(read_whole(explainer), trust_pickle=trust_pickle, **options)
    return PartitionExplainer.of(explainer, allow_pickle=trust_pickle, **options)


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """Options as JSON gives them back, so that those of a manifest compare equal."""
    return {
        name: list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value
        for name, value in sorted(options.items())
        if value is not None
    }


def _format_or_none(output: Path) -> Any:
    if output.is_dir() or not output.suffix:
        return None
    return format_of(output)
