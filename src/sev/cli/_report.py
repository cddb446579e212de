"""``sev report``."""

from __future__ import annotations

import click

from sev.cli._options import common, explained, trust_pickle
from sev.cli._output import output_file, write_result


@click.command()
@click.argument("explainer", type=click.Path(exists=True, dir_okay=False))
@click.argument("data", type=click.Path())
@click.option("--id", "id_column", help="Column that names the rows, such as an application's number.")
@click.option("--title", default="Reasons for decisions", show_default=True, help="Heading of the report.")
@click.option("--output", "-o", required=True, type=click.Path(), help="HTML file to write; - is standard output.")
@trust_pickle
@common
def report(
    explainer: str,
    data: str,
    id_column: str | None,
    title: str,
    output: str,
    trust_pickle: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write one HTML file about the decisions on the rows of DATA; it needs no network.

    \b
    Example:
      sev report loans.sev applicants.csv --id number -o report.html
    """
    import sev

    loaded = sev.load(explainer, trust_pickle=trust_pickle)
    many = explained(loaded, data, id_column, quiet)
    with output_file(output, ".html") as path:
        sev.report(many, path, title=title, explainer=loaded)
    write_result({"output": output, "rows": len(many)}, as_json)
