"""``sev report``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import click

from sev.cli._labels import label_options, load_with_labels
from sev.cli._options import change_options, choice_options, common, trust_pickle
from sev.cli._output import output_file, write_result
from sev.cli._tables import explained_table, no_column

if TYPE_CHECKING:
    from sev.typing import SearchOptions


@click.command()
@click.argument("explainer", type=click.Path(exists=True, dir_okay=False))
@click.argument("data", type=click.Path())
@click.option("--id", "id_column", help="Column that names the rows, such as an application's number.")
@click.option("--title", help='Heading of the report; default: "Reasons for decisions".')
@click.option(
    "--by", help="Column of DATA: count, for each of its values, the decisions that no permitted change undoes."
)
@change_options
@choice_options
@label_options
@click.option("--output", "-o", required=True, type=click.Path(), help="HTML file to write; - is standard output.")
@trust_pickle
@common
def report(
    explainer: str,
    data: str,
    id_column: str | None,
    title: str | None,
    by: str | None,
    actions: str | None,
    labels: str | None,
    language: str | None,
    output: str,
    trust_pickle: bool,
    as_json: bool,
    quiet: bool,
    **choices: Unpack[SearchOptions],
) -> None:
    """Write one HTML file about the decisions on the rows of DATA; it needs no network.

    \b
    Examples:
      sev report loans.sev applicants.csv --id number -o report.html
      sev report loans.sev applicants.csv --values any --actions actions.yaml -o what-would-help.html
    """
    import sev
    from sev.exceptions import InputError

    loaded = load_with_labels(explainer, labels, language, trust_pickle=trust_pickle, actions=actions)
    many, table = explained_table(loaded, data, id_column, quiet, **choices)
    if by is not None and by not in table.column_names:
        raise InputError(no_column(data, by, "--by", table.column_names))
    groups = None if by is None else table.column(by).to_pandas().rename(by)
    with output_file(output, ".html") as path:
        sev.report(many, path, title=title, explainer=loaded, by=groups)
    write_result({"output": output, "rows": len(many)}, as_json)
