"""``sev reasons``."""

from __future__ import annotations

import click

from sev.cli._options import common, explained, trust_pickle
from sev.cli._output import say, write_result


@click.command()
@click.argument("explainer", type=click.Path(exists=True, dir_okay=False))
@click.argument("data", type=click.Path())
@click.option(
    "--codes", required=True, type=click.Path(), help="YAML or JSON file with a code and a text for each feature."
)
@click.option("--id", "id_column", help="Column that names the rows, such as an application's number.")
@click.option("--max-reasons", type=click.IntRange(1), default=4, show_default=True, help="Codes for one decision.")
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(),
    help="Folder for reasons.csv, reasons_wide.csv and records.jsonl.",
)
@trust_pickle
@common
def reasons(
    explainer: str,
    data: str,
    codes: str,
    id_column: str | None,
    max_reasons: int,
    output: str,
    trust_pickle: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write the reasons of each decision about the rows of DATA: ranked, coded, and recorded with their proof.

    \b
    Example:
      sev reasons loans.sev applicants.csv --codes codes.yaml --id number -o notices/
    """
    import sev

    loaded = sev.load(explainer, trust_pickle=trust_pickle)
    many = explained(loaded, data, id_column, quiet)
    found = sev.reasons(many, codes, max_reasons=max_reasons, explainer=loaded)
    files = found.save(output)
    say(f"wrote {', '.join(str(path) for path in files)}", quiet)
    write_result({"rows": len(many), "reasons": len(found.table), "files": [str(path) for path in files]}, as_json)
