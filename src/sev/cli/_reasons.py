"""``sev reasons``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from sev.cli._labels import label_options, load_with_labels
from sev.cli._options import change_options, choice_options, common, trust_pickle
from sev.cli._output import say, write_result
from sev.cli._tables import explained_table

if TYPE_CHECKING:
    import pandas as pd

    from sev import Explanations
    from sev.typing import SearchOptions


@click.command()
@click.argument("explainer", type=click.Path(exists=True, dir_okay=False))
@click.argument("data", type=click.Path())
@click.option(
    "--codes", required=True, type=click.Path(), help="YAML or JSON file with a code and a text for each feature."
)
@click.option("--id", "id_column", help="Column that names the rows, such as an application's number.")
@click.option("--max-reasons", type=click.IntRange(1), default=4, show_default=True, help="Codes for one decision.")
@click.option(
    "--template", type=click.Path(), help="Jinja template of a notice, filled in for each decision that has reasons."
)
@click.option("--one-document", is_flag=True, help="Fill the template in once, with the list of all notices.")
@change_options
@choice_options
@label_options
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(),
    help="Folder for reasons.csv, reasons_wide.csv, records.jsonl and, with a template, notices.",
)
@trust_pickle
@common
def reasons(
    explainer: str,
    data: str,
    codes: str,
    id_column: str | None,
    max_reasons: int,
    template: str | None,
    one_document: bool,
    actions: str | None,
    labels: str | None,
    language: str | None,
    output: str,
    trust_pickle: bool,
    as_json: bool,
    quiet: bool,
    **choices: Unpack[SearchOptions],
) -> None:
    """Write the reasons of each decision about the rows of DATA: ranked, coded, and recorded with their proof.

    With --template, a notice is written for each decision that has reasons: one file each in OUTPUT/notices, or one
    document with --one-document. A template of HTML gets its values escaped.

    \b
    Examples:
      sev reasons loans.sev applicants.csv --codes codes.yaml --id number -o out/
      sev reasons loans.sev applicants.csv --codes codes.yaml --id number --template notice.txt -o out/
    """
    import sev
    from sev.core import list_names

    if one_document and template is None:
        raise click.UsageError("--one-document needs --template FILE.")
    loaded = load_with_labels(explainer, labels, language, trust_pickle=trust_pickle, actions=actions)
    many, table = explained_table(loaded, data, id_column, quiet, **choices)
    found = sev.reasons(many, codes, max_reasons=max_reasons, explainer=loaded)
    notices: list[Path] = []
    if template is not None:  # first, because a template that cannot be filled in must leave nothing behind
        folder = Path(output) if one_document else Path(output) / "notices"
        notices = found.save_notices(folder, template, one_document=one_document, rows=table.to_pandas())
    files = found.save(output)
    say(f"wrote {', '.join(str(path) for path in files)}", quiet)
    result = {"rows": len(many), "reasons": len(found.table), "files": [str(path) for path in files]}
    if template is not None:
        without = _without_reason(many, found.table)
        if without:
            shown = list_names(without)
            click.echo(f"Warning: {len(without)} decisions without a reason got no notice: {shown}", err=True)
        result |= {"notices": str(notices[0] if one_document else Path(output) / "notices")}
        result |= {"n_notices": int(found.table["row"].nunique()), "without_reason": len(without)}
    write_result(result, as_json)


def _without_reason(many: Explanations, table: pd.DataFrame) -> list[str]:
    from sev.core import Status

    named = set(table["row"].tolist())
    return [
        str(many.index[row])
        for row, status in enumerate(many.statuses.tolist())
        if status != Status.NOT_TARGET and row not in named
    ]
