"""``sev fit``."""

from __future__ import annotations

import json
from typing import Any

import click

from sev.cli._options import comma_list, common, restricted, rows_and_labels, table_options, trust_pickle, typed
from sev.cli._output import output_file, say, write_result


@click.command()
@click.option(
    "--model",
    required=True,
    type=click.Path(),
    help="Fitted model: .skops, .ubj, .json, .txt, .cbm; .pkl with --trust-pickle.",
)
@table_options
@click.option("--drop", callback=comma_list, help="Columns that the model does not take: a,b.")
@click.option(
    "--reference", default="auto", show_default=True, help='auto, mean, median, or a row as JSON: {"age": 40}.'
)
@click.option("--group", "groups", multiple=True, help="Columns that move as one: name=a,b. May be given again.")
@restricted
@click.option("--target", help="The class to explain; default: the model's second class.")
@click.option("--threshold", type=float, help="On the score of the target; default: the model's own.")
@click.option("--allow-positive-reference", is_flag=True, help="Go on with a reference that is itself positive.")
@click.option(
    "--output", "-o", required=True, type=click.Path(), help="File to write, such as loans.sev; - is standard output."
)
@trust_pickle
@common
def fit(
    model: str,
    data: str,
    label: str,
    text: tuple[str, ...] | None,
    numbers: tuple[str, ...] | None,
    drop: tuple[str, ...] | None,
    reference: str,
    groups: tuple[str, ...],
    restricted: tuple[str, ...] | None,
    target: str | None,
    threshold: float | None,
    allow_positive_reference: bool,
    output: str,
    trust_pickle: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Make an explainer from a fitted model and rows with labels, and save it to one file.

    The columns that the model was fitted on are used; a model without column names gets all but the label and --drop.

    \b
    Example:
      sev fit --model loans.skops --data train.csv --label refused --restricted age,sex -o loans.sev
    """
    import sev
    from sev.files import load_model

    fitted = load_model(model, trust_pickle=trust_pickle)
    rows, labels = rows_and_labels(data, label, text, numbers, [fitted], drop)
    say(f"read {type(fitted).__name__} and {len(rows):,} rows of {rows.shape[1]} columns", quiet)
    explainer = sev.Explainer(
        fitted,
        rows,
        labels.to_numpy(),
        target="predicted" if target == "predicted" else _class(target, fitted),
        reference=_reference(reference),
        groups=dict(_group(one) for one in groups) or None,
        restricted=restricted or (),
        threshold=threshold,
        allow_positive_reference=allow_positive_reference,
    )
    with output_file(output, ".sev") as path:
        explainer.save(path, allow_pickle=trust_pickle)
    reference_row = explainer.reference.iloc[0]
    write_result(
        {
            "output": output,
            "model": type(fitted).__name__,
            "backend": explainer.backend,
            "target": explainer.target,
            "threshold": explainer.threshold,
            "features": list(explainer.feature_names),
            "restricted": list(explainer.restricted),
            "reference": {str(name): value for name, value in reference_row.items()},
        },
        as_json,
    )


def _class(target: str | None, model: Any) -> Any:
    """The model's class that is written so; else the text read as a number."""
    for known in getattr(model, "classes_", ()):
        if str(known) == target:
            return known
    return typed(target)


def _reference(text: str) -> Any:
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"is no JSON object: {error}", param_hint="--reference") from error


def _group(text: str) -> tuple[str, list[str]]:
    name, equals, columns = text.partition("=")
    if not equals or not name or not columns:
        raise click.BadParameter(f"{text!r} is not of the form name=a,b", param_hint="--group")
    return name, columns.split(",")
