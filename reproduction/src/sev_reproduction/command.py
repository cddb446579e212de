"""``sev reproduce``, as the command line of sev finds it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import click

from sev_reproduction._plan import Plan
from sev_reproduction._reproduce import Reproduction, show_recorded
from sev_reproduction._reproduce import reproduce as run


def _names(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """``a,b`` as names."""
    return None if value is None else tuple(name.strip() for name in value.split(",") if name.strip())


def _splits(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """``3`` is one split, ``0-4`` are five, ``0,7`` are two."""
    if value is None:
        return None
    found: list[int] = []
    for part in value.split(","):
        first, dash, last = part.strip().partition("-")
        try:
            found += range(int(first), int(last if dash else first) + 1)
        except ValueError:
            raise click.BadParameter(f"{value!r} is not like 3, 0-4 or 0,7") from None
    return tuple(found)


def _run_options(only: str, output: str) -> Callable[[Any], Any]:
    """The options of a run: what ``--only`` takes, and where results go."""

    def decorate(command: Any) -> Any:
        for option in (
            click.option("--json", "as_json", is_flag=True, help="JSON instead of a table on standard output."),
            click.option("--quiet", "-q", is_flag=True, help="No progress and no messages but errors."),
            click.option("--output", "-o", default=output, show_default=True, help="Folder of results and pages."),
            click.option(
                "--page-only", is_flag=True, help="Compute nothing; write the page from the results that are there."
            ),
            click.option(
                "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Tasks at the same time."
            ),
            click.option("--mimic", type=click.Path(exists=True, dir_okay=False), help="Your own file of MIMIC-III."),
            click.option(
                "--data-home", type=click.Path(exists=True, file_okay=False), help="Folder of the data files."
            ),
            click.option("--splits", callback=_splits, help="Some of the splits 0 to 9: 3, 0-4 or 0,7."),
            click.option("--data", callback=_names, help="Some data sets: adult,compas,mimic,german,fico,diabetes."),
            click.option("--only", callback=_names, help=only),
            click.option("--quick", is_flag=True, help="Two splits and samples of rows: minutes instead of hours."),
        ):
            command = option(command)
        return command

    return decorate


def _run_arguments(quiet: bool, jobs: int, page_only: bool) -> dict[str, Any]:
    """How the tasks are run, for both papers."""
    return {
        "n_jobs": jobs,
        "page_only": page_only,
        "say": lambda message: None if quiet else click.echo(message, err=True),
        "progress": not quiet and sys.stderr.isatty(),
    }


@click.group(invoke_without_command=True)
@click.option(
    "--recorded",
    type=click.Path(exists=True, dir_okay=False),
    help="Compute nothing; write the tables of this results.json of an earlier run.",
)
@_run_options("Some sections: table1,figure2,...", "sev-reproduction")
@click.pass_context
def reproduce(
    context: click.Context,
    /,
    quick: bool,
    only: tuple[str, ...] | None,
    jobs: int,
    page_only: bool,
    recorded: str | None,
    output: str,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Compute the paper's tables and figures and write them beside the paper's own; or those of its follow-up.

    A run that was stopped goes on where it was. --data and --splits cut a long run into pieces; each adds to the same
    folder and the same page.

    \b
    Example:
      SEV_DATA_HOME=data sev reproduce --quick -o quick
      SEV_DATA_HOME=data sev reproduce -o full
      sev reproduce --data german --only table1 -o german
      sev reproduce --recorded reproduction/results.json -o tables
      sev reproduce decision-sparsity --quick --data german -o follow-up
    """
    if context.invoked_subcommand is not None:
        return
    if recorded is not None:
        markdown, html = show_recorded(recorded, output)
        _write_result({"page": str(html), "markdown": str(markdown)}, as_json)
        return
    _report(run(output, Plan.of(quick=quick, **given), only=only, **_run_arguments(quiet, jobs, page_only)), as_json)


@reproduce.command("decision-sparsity")
@_run_options("Some measurements: variants,credible,published,tree,peers,training.", "sev-decision-sparsity")
def decision_sparsity(
    quick: bool,
    only: tuple[str, ...] | None,
    jobs: int,
    page_only: bool,
    output: str,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Compute the variants of the follow-up paper, "Improving Decision Sparsity", and what others answer.

    References of clusters, a band around the reference, single trees; with and without a limit on credibility; the
    published way beside the exact one; DiCE, and NICE where it is installed (pip install NICEx). A run that was stopped
    goes on where it was.

    \b
    Example:
      sev reproduce decision-sparsity --quick --data german -o quick
      SEV_DATA_HOME=data sev reproduce decision-sparsity --splits 0-2 -o follow-up
    """
    from sev_reproduction.decision_sparsity import follow_up_plan, reproduce_follow_up

    plan = follow_up_plan(quick=quick, **given)
    _report(reproduce_follow_up(output, plan, only=only, **_run_arguments(quiet, jobs, page_only)), as_json)


def _report(found: Reproduction, as_json: bool) -> None:
    _write_result(
        {
            "page": str(found.html),
            "markdown": str(found.markdown),
            "tasks done": found.done,
            "failed": found.failed,
            "left": found.left,
        },
        as_json,
    )
    if found.failed:
        sys.exit(1)


def _write_result(result: dict[str, Any], as_json: bool) -> None:
    """A few named values on standard output: one JSON object, or one line each."""
    if as_json:
        click.echo(json.dumps(result, ensure_ascii=False))
        return
    width = max(map(len, result))
    for name, value in result.items():
        click.echo(f"{name:<{width}}  {value:,}" if isinstance(value, int) else f"{name:<{width}}  {value}")
