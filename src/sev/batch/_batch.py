"""Explain files that are larger than memory, and go on where a run was ended."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Unpack

import pyarrow as pa
import pyarrow.parquet

from sev.actions import Actions
from sev.batch._engines import EngineName, run
from sev.batch._formats import FormatName, TableFormat, output_format
from sev.batch._inputs import Finished, InputFile, Inputs, Part, input_files, unpacked
from sev.batch._manifest import (
    FORMAT,
    FORMAT_VERSION,
    FinishedParts,
    clear,
    locked,
    open_manifest,
    sweep,
    write_manifest,
)
from sev.batch._partition import PartitionExplainer, PartitionOptions
from sev.batch._work import Work, part_results, place_archive, result_schema_of
from sev.batch._writers import reporting_full_disk, table_writer, write_tables
from sev.core import __version__
from sev.exceptions import BatchError, InputError
from sev.explainers import check_n_jobs, warn_if_nothing_may_change
from sev.files import naming, read_whole
from sev.typing import Parsed

if TYPE_CHECKING:
    from sev.explainers import Explainer

DEFAULT_ROWS_PER_PART = 100_000


@dataclass(frozen=True)
class BatchResult:
    """What a batch has written; rows are counted in the files, where the output is files.

    Parameters
    ----------
    output : Path or None
        The file or folder of results; None for an open file.
    rows : int
        Rows of results, as many as rows of input.
    statuses : dict
        Rows by status.
    rows_before : int
        Rows that an earlier run had done.

    Examples
    --------
    >>> from sev.batch import BatchResult
    >>> BatchResult(output=None, rows=3, statuses={"optimal": 2, "not_target": 1}).statuses["optimal"]
    2
    """

    output: Path | None
    rows: int
    statuses: dict[str, int]
    rows_before: int = 0


def explain_files(
    explainer: Explainer | str | Path,
    inputs: str | Path | Sequence[str | Path],
    output: str | Path | BinaryIO,
    *,
    engine: EngineName = "local",
    address: str | None = None,
    n_jobs: int = 1,
    rows_per_part: int = DEFAULT_ROWS_PER_PART,
    trust_pickle: bool = False,
    on_start: Callable[[int | None, int], None] | None = None,
    on_part: Callable[[int], None] | None = None,
    on_kept: Callable[[int], None] | None = None,
    stdin_format: FormatName | None = None,
    output_format: FormatName | None = None,
    raw: bool = False,
    **options: Unpack[PartitionOptions],
) -> BatchResult:
    """Explain all rows of files of any size, part by part; the same call resumes a run that was stopped.

    Parameters
    ----------
    explainer : Explainer or path-like
        The explainer, or the file that it was saved to.
    inputs : path-like or sequence of path-like
        Tables (CSV, TSV, JSON lines, Parquet, Feather; also packed with gzip or zstd), or folders of them.
    output : path-like or binary file
        A folder for one Parquet file of each part; or a file, in the format of its name; or an open file, such as
        ``sys.stdout.buffer``, to which results are written in order, in this process, and which cannot be resumed.
    engine : {"local", "dask", "ray", "spark"}, default="local"
        What explains the parts. The workers of "dask", "ray" and "spark" must be able to write to the output folder.
    address : str, default=None
        Address of the engine's scheduler; None starts one on this machine.
    n_jobs : int, default=1
        Number of workers, where this call starts them.
    rows_per_part : int, default=100_000
        Rows of a part, for CSV, TSV and JSON lines; Parquet and Feather files are divided by their own row groups.
    trust_pickle : bool, default=False
        See :func:`sev.load`. For an explainer in memory, it also permits its model to be pickled.
    on_start, on_part, on_kept : callable, default=None
        ``on_start(total, done)`` is called once with the number of all rows (None: unknown) and of those that an
        earlier run has done; ``on_part(rows)`` for each part that this run finishes; ``on_kept(rows)`` for each part
        of the earlier run as it is met: these rows are among ``done`` already. Of an open file, ``on_part`` is called
        for each piece that is written.
    stdin_format, output_format : {"csv", "tsv", "jsonl", "parquet", "feather"}, default=None
        Format of an input called ``-``, and of an output that is an open file; None: CSV.
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

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     X.to_csv(f"{folder}/applicants.csv", index=False)
    ...     result = sev.batch.explain_files(explainer, f"{folder}/applicants.csv", f"{folder}/reasons.csv")
    ...     pd.read_csv(f"{folder}/reasons.csv")["status"].tolist()[3:]
    ['optimal', 'optimal', 'optimal']
    >>> result.rows
    6
    """
    if not isinstance(rows_per_part, int) or rows_per_part < 1:
        raise InputError(f"rows_per_part={rows_per_part!r} must be an integer of at least 1.")
    check_n_jobs(n_jobs)
    if "actions" in options:  # plain values, which a manifest holds and workers receive
        chosen = Actions.of(options["actions"])
        options["actions"] = None if chosen is None else chosen.to_plain()
    explain = _partition_explainer(explainer, trust_pickle, options)
    paths = [inputs] if isinstance(inputs, (str, Path)) else list(inputs)
    if not isinstance(output, (str, Path)):
        if (engine, address, n_jobs) != ("local", None, 1):
            raise InputError(
                "engine, address and n_jobs need a path as output: an open file is written by this process only."
            )
        files = input_files(paths, stdin_format=stdin_format, hashed=False)
        form = TableFormat(output_format or "csv")
        return _explain_to_open_file(explain, files, output, form, rows_per_part, raw, on_start, on_part)
    if output_format is not None:
        raise InputError(
            "output_format is for open files only, so leave it out: the ending of a path decides (a folder: Parquet)."
        )
    files = input_files(paths, stdin_format=stdin_format)
    output = Path(output)
    final = _format_or_none(output)
    folder = output if final is None else output.with_name(f"{output.name}.parts")
    if any(folder.absolute() == Path(path).absolute() for path in paths):
        raise InputError(f"{folder} is both input and output: choose another folder for the results.")
    folder.mkdir(parents=True, exist_ok=True)
    with reporting_full_disk(output.parent), locked(folder):
        batch = _Batch(folder, explain, files, rows_per_part, trust_pickle, options)
        result = batch.run(engine, address, n_jobs, on_start, on_part, on_kept)
        if final is None:
            return result
        n_rows = write_tables(output, final, batch.schema, batch.results(), raw=raw)
        if n_rows != result.rows:
            raise BatchError(f"{output} has {n_rows:,} rows instead of {result.rows:,}: run the same command again.")
        clear(folder)
    return BatchResult(output, n_rows, result.statuses, result.rows_before)


def _explain_to_open_file(
    explain: PartitionExplainer,
    files: tuple[InputFile, ...],
    out: BinaryIO,
    form: TableFormat,
    rows_per_part: int,
    raw: bool,
    on_start: Callable[[int | None, int], None] | None,
    on_part: Callable[[int], None] | None,
) -> BatchResult:
    """Write results in order, without parts on disk."""
    statuses: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        inputs = Inputs(unpacked(files, Path(folder)), rows_per_part)
        schema = result_schema_of(explain, inputs)
        if on_start is not None:
            on_start(inputs.n_rows, 0)
        writer = table_writer(out, form, schema, raw=raw)
        for part in inputs.parts():
            for table in part_results(explain, part, schema):
                writer.write(table)
                statuses.update(_count_statuses(table))
                if on_part is not None:
                    on_part(table.num_rows)
        writer.close()
    return BatchResult(None, sum(statuses.values()), dict(sorted(statuses.items())))


class _Batch:
    """One run in one folder."""

    def __init__(
        self,
        folder: Path,
        explain: PartitionExplainer,
        files: tuple[InputFile, ...],
        rows_per_part: int,
        trust_pickle: bool,
        options: PartitionOptions,
    ) -> None:
        self._folder = folder
        self._explain = explain
        self._rows_per_part = rows_per_part
        self._options = json.dumps({**_write_options(options), "trust_pickle": trust_pickle})
        sweep(folder)
        wanted = self._make_manifest(files)
        self._manifest = open_manifest(folder, wanted)
        self._inputs = Inputs(unpacked(files, folder), rows_per_part)
        self.schema = result_schema_of(explain, self._inputs)
        self._finished_parts = FinishedParts(folder, wanted, self.schema.serialize().to_pybytes())
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
            on_start(self._inputs.n_rows, self._finished_parts.n_rows)
        work = Work(
            str(self._folder.absolute()),
            self._options,
            self._explain.digest,
            self.schema.serialize().to_pybytes(),
        )
        parts = (self._marked_if_finished(part) for part in self._inputs.parts())
        for part in run(work, parts, engine=engine, address=address, n_jobs=n_jobs):
            self._parts.append(part)
            if isinstance(part.rows, Finished) and not part.rows.by_earlier_run:
                self._finished_parts.add(part.name, part.n_rows, part.rows.sha256)
            tell = on_kept if _is_of_earlier_run(part) else on_part
            if tell is not None:
                tell(part.n_rows)
        self._parts.sort(key=lambda part: part.name)
        return self._check_finished_parts()

    def _marked_if_finished(self, part: Part) -> Part:
        """The part, without its rows if an earlier run has put its results in place."""
        if self._finished_parts.is_done(part.name, part.n_rows):
            return part.finished(by_earlier_run=True)
        return part

    def results(self) -> Iterator[pa.Table]:
        """All results, in the order of the input, a piece at a time."""
        for part in self._parts:
            with pa.parquet.ParquetFile(self._folder / part.name) as file:
                for batch in file.iter_batches():
                    yield pa.Table.from_batches([batch], self.schema)

    def _check_finished_parts(self) -> BatchResult:
        statuses: Counter[str] = Counter()
        for part in self._parts:
            held = pa.parquet.read_table(self._folder / part.name, columns=["status"], partitioning=None)
            if held.num_rows != part.n_rows:
                raise BatchError(
                    f"{part.name} has {held.num_rows:,} rows instead of {part.n_rows:,}: run the same command again."
                )
            statuses.update(_count_statuses(held))
        rows = sum(statuses.values())
        sweep(self._folder)  # workers that were killed leave half-written files
        for path in self._folder.glob("_unpacked-*"):
            path.unlink()
        by_status = dict(sorted(statuses.items()))
        finished = {"rows": rows, "parts": len(self._parts), "statuses": by_status}
        write_manifest(self._folder, {**self._manifest, "finished": finished})
        before = sum(part.n_rows for part in self._parts if _is_of_earlier_run(part))
        return BatchResult(self._folder, rows, by_status, before)

    def _make_manifest(self, files: tuple[InputFile, ...]) -> dict[str, Parsed]:
        if any(file.path == "-" for file in files) and any(self._folder.glob("part-*.parquet")):
            raise BatchError(
                f"{self._folder} holds results already, and standard input cannot be resumed: choose another output."
            )
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "sev_version": __version__,
            "explainer": self._explain.digest,
            "actions": self._explain.actions_digest,
            "settings": {**json.loads(self._options), "rows_per_part": self._rows_per_part},
            "inputs": [{"file": file.label, "size": file.size, "sha256": file.sha256} for file in files],
        }


def _partition_explainer(
    explainer: Explainer | str | Path, trust_pickle: bool, options: PartitionOptions
) -> PartitionExplainer:
    if isinstance(explainer, (str, Path)):
        with naming(explainer):
            explain = PartitionExplainer(read_whole(explainer), trust_pickle=trust_pickle, **options)
    else:
        explain = PartitionExplainer.of(explainer, allow_pickle=trust_pickle, **options)
    warn_if_nothing_may_change(explain.explainer.allowed_features(options.get("restricted")))
    return explain


def _is_of_earlier_run(part: Part) -> bool:
    return isinstance(part.rows, Finished) and part.rows.by_earlier_run


def _count_statuses(table: pa.Table) -> dict[str, int]:
    counts = table.column("status").value_counts().to_pylist()
    return {entry["values"]: entry["counts"] for entry in counts}


def _write_options(options: PartitionOptions) -> dict[str, object]:
    """Options as JSON returns them, so that those of a manifest compare equal."""
    return {
        name: list(value) if isinstance(value, Iterable) and not isinstance(value, str | Mapping) else value
        for name, value in sorted(options.items())
        if value is not None
    }


def _format_or_none(output: Path) -> TableFormat | None:
    if output.is_dir() or not output.suffix:
        return None
    return output_format(output)
