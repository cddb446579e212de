"""``sev explain``."""

from __future__ import annotations

import os
import shlex
import sys
import threading
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from sev.cli._labels import label_options, load_with_labels
from sev.cli._options import change_options, choice_options, comma_list, common, kind, restricted, trust_pickle
from sev.cli._output import Progress, say, write_result

if TYPE_CHECKING:
    from collections.abc import Callable

    from sev import Explainer
    from sev.batch import BatchResult


#: Exit status of a run that came to its end, but has rows that could not be read or scored.
ROWS_WITH_ERRORS = 3


@click.command()
@click.argument("explainer", type=click.Path(exists=True, dir_okay=False))
@click.argument("inputs", nargs=-1, required=True, type=click.Path())
@click.option("--output", "-o", type=click.Path(), help="File or folder for the results; default: standard output.")
@kind
@restricted
@change_options
@choice_options
@click.option("--max-size", type=click.IntRange(1), help="Search for sets of at most this many features.")
@click.option(
    "--max-sets",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="List at most this many of the smallest sets for each row.",
)
@click.option("--time-limit", type=click.FloatRange(0, min_open=True), help="Longest search for one row, in seconds.")
@click.option("--sets", is_flag=True, help="Write all smallest sets, in a column of their own.")
@click.option(
    "--changes",
    is_flag=True,
    help="Write old and new value of each changed feature; with --values also the range that is enough, and the cost.",
)
@click.option(
    "--credibility",
    is_flag=True,
    help="Write how credible each result is: the share of real rows of the other class that are less ordinary.",
)
@click.option("--sentences", is_flag=True, help="Write a sentence for each row, in a column of its own.")
@label_options
@click.option(
    "--keep", callback=comma_list, help="Columns to carry over: a,b; default: all that the model does not use."
)
@click.option("--id", "id_column", help="The column that names the rows: it comes before all that are carried over.")
@click.option(
    "--raw", is_flag=True, help="Write CSV cells as they are, even those that a spreadsheet would run as formulas."
)
@click.option("--jobs", "-j", type=int, default=1, show_default=True, help="Number of worker processes.")
@click.option(
    "--engine",
    type=click.Choice(["local", "dask", "ray", "spark"]),
    default="local",
    show_default=True,
    help="What runs the workers; all but local need the extra sev[engines].",
)
@click.option("--address", help="Address of the engine's scheduler; default: one is started on this machine.")
@click.option(
    "--rows-per-part",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="Rows that are explained and kept together, for CSV and JSON lines.",
)
@click.option("--format", "stdin_format", type=click.Choice(["csv", "tsv", "jsonl"]), help="Format of standard input.")
@trust_pickle
@common
def explain(
    explainer: str,
    inputs: tuple[str, ...],
    output: str | None,
    labels: str | None,
    language: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Explain the rows of INPUTS, files or folders of any size; - is standard input.

    CSV, TSV, JSON lines (.jsonl), Parquet and Feather are read, also followed by .gz or .zst. With -o, results are
    written part by part: the same command resumes a run that was interrupted, and counts the rows at its end. Without
    it they go to standard output as CSV, or as JSON lines with --json. In CSV, an apostrophe goes before texts that a
    spreadsheet would run as formulas; --raw leaves them as they are. An output that ends in .xlsx is an Excel file.

    The exit status is 0 if every row has an answer, and 3 if the run came to its end but some rows could not be read
    or scored: their status is error, and the column reason names the cause. It is 2 for wrong use, 1 for other errors,
    and 130 after Ctrl-C.

    \b
    Examples:
      sev explain loans.sev applicants.parquet -o reasons.parquet
      sev explain loans.sev incoming/ -o reasons/ --jobs 4
      sev explain loans.sev applicants.csv -o reasons.xlsx --changes --sentences --labels labels.yaml
      sev explain loans.sev applicants.csv -o advice.xlsx --values any --actions actions.yaml --changes --sentences
      sev explain loans.sev applicants.csv -o credible.csv --min-credibility 0.05 --order closest
      cat applicants.csv | sev explain loans.sev - --json
    """
    given: Explainer | str = explainer
    if labels is not None or language is not None:
        given = load_with_labels(explainer, labels, language, trust_pickle=options["trust_pickle"])
    if output is None or output == "-":
        _to_stdout(given, inputs, as_json, quiet, **options)
        return
    from sev.batch import explain_files

    progress = Progress(quiet)
    engine = {
        name: options.pop(name)
        for name in ("engine", "address", "rows_per_part", "stdin_format", "trust_pickle", "raw")
    }
    n_jobs = options.pop("jobs")
    in_thread = engine["engine"] == "local" and n_jobs == 1
    # with workers this process only waits for others, and has to end them
    run = partial(_run_in_thread, explain_files) if in_thread else explain_files
    try:
        result = run(
            given,
            inputs,
            output,
            n_jobs=n_jobs,
            on_start=progress.start,
            on_part=progress.update,
            **engine,
            **options,
        )
    except KeyboardInterrupt:
        progress.close()
        _report_stop(output, inputs, progress.done)
        if in_thread:
            os._exit(130)  # at once: the thread has nothing to say any more
        sys.exit(130)  # in order: what was shared with workers is released
    progress.close()
    write_result({"output": str(result.output), "rows": result.rows, "statuses": result.statuses}, as_json)
    if result.output is not None and result.output.is_dir():
        say(
            f"{result.output} also holds a copy of the explainer (_explainer.sev, with the model and rows of its "
            "background) and the state of the run (_manifest.json, _parts.jsonl): they are for going on with it, and "
            "may be deleted.",
            quiet,
        )
    _end_with_errors(result)


def _end_with_errors(result: BatchResult) -> None:
    """End with a status of its own if rows have no answer because they could not be read or scored."""
    n_errors = result.statuses.get("error", 0)
    if not n_errors:
        return
    where = "the results" if result.output is None else str(result.output)
    rows = "row was not explained because it" if n_errors == 1 else "rows were not explained because they"
    click.echo(
        f"{n_errors:,} {rows} could not be read or scored: in {where} the status is error, and the column reason "
        f"names the cause. (Exit status {ROWS_WITH_ERRORS}.)",
        err=True,
    )
    sys.exit(ROWS_WITH_ERRORS)


def _run_in_thread(call: Callable[..., BatchResult], *given: object, **named: object) -> BatchResult:
    """Run a call in a thread, so that Ctrl-C ends it at once, also while compiled code runs."""
    done: Future[BatchResult] = Future()

    def run() -> None:
        try:
            done.set_result(call(*given, **named))
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return done.result()


def _report_stop(output: str, inputs: tuple[str, ...], done: int) -> None:
    """Say what is kept and how to go on."""
    click.echo(f"\nStopped; {done:,} rows are done and kept.", err=True)
    if "-" in inputs:
        click.echo(f"Standard input cannot be resumed: remove {output} before the next run.", err=True)
    else:
        click.echo(f"To go on:\n  {shlex.join(['sev', *sys.argv[1:]])}", err=True)
    sys.stdout.flush()
    sys.stderr.flush()


def _to_stdout(explainer: Explainer | str, inputs: tuple[str, ...], as_json: bool, quiet: bool, **options: Any) -> None:
    from sev.batch import explain_files

    unused: dict[str, object] = {"engine": "local", "address": None, "jobs": 1}
    for name, default in unused.items():
        if options.pop(name) != default:
            raise click.UsageError(f"--{name} needs an output: add -o FILE or -o FOLDER.")
    out = sys.stdout.buffer
    progress = Progress(quiet or sys.stdout.isatty())  # on a terminal the rows themselves show how it goes on
    result = explain_files(
        explainer,
        inputs,
        out,
        output_format="jsonl" if as_json else "csv",
        on_start=progress.start,
        on_part=progress.update,
        **options,
    )
    out.flush()
    progress.close()
    _end_with_errors(result)
