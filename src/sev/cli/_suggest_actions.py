"""``sev suggest-actions``."""

from __future__ import annotations

from pathlib import Path

import click

from sev.cli._options import comma_list, common
from sev.cli._output import write_result


@click.command("suggest-actions")
@click.argument("data", type=click.Path())
@click.option(
    "--label", help="The column of labels, which is no feature; bounds then state the medians of its classes."
)
@click.option("--drop", callback=comma_list, help="Columns that the model does not use: a,b.")
@click.option("--text", callback=comma_list, help="Columns to read as text, even if all numbers: a,b.")
@click.option("--numbers", callback=comma_list, help="Columns to read as numbers, if unclear: a,b.")
@click.option("--output", "-o", type=click.Path(), help="File to write; default: standard output.")
@common
def suggest_actions(
    data: str,
    label: str | None,
    drop: tuple[str, ...] | None,
    text: tuple[str, ...] | None,
    numbers: tuple[str, ...] | None,
    output: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Propose actions from the training rows of DATA, as a YAML file in which every line is commented out.

    Each line states its evidence. Nothing applies until a person has removed the comment marks of the lines that are
    right and names the file with --actions.

    \b
    Example:
      sev suggest-actions train.csv --label refused -o actions.yaml
    """
    import sev
    from sev._io import write_file
    from sev.batch import read_frame
    from sev.cli._tables import no_column
    from sev.exceptions import InputError, UnknownFeatureError

    frame = read_frame(data, text=text or (), numbers=numbers or ())
    for option, names in (("--label", () if label is None else (label,)), ("--drop", drop or ())):
        for name in names:
            if name not in frame.columns:
                raise UnknownFeatureError(no_column(data, name, option, frame.columns))
    rows = frame.drop(columns=[*(drop or ()), *([] if label is None else [label])])
    if not len(rows) or not rows.shape[1]:
        raise InputError(
            f"{data} has {len(rows)} rows and, without --label and --drop, {rows.shape[1]} columns: give a table with "
            "rows and columns to propose actions for."
        )
    proposal = sev.suggest_actions(rows, None if label is None else frame[label].to_numpy())
    if output is None or output == "-":
        click.echo(proposal, nl=False)
        return
    if Path(output).exists():
        raise InputError(
            f"{output} exists already and may have been reviewed: choose another name, or remove it first."
        )
    write_file(output, proposal.encode())
    count = sum(line.startswith(("# -", "#   ")) for line in proposal.splitlines())
    write_result({"output": output, "rows": len(rows), "proposals": count}, as_json)
