"""``sev fit``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from sev.cli._errors import naming_model
from sev.cli._labels import label_options, labels_for
from sev.cli._options import actions, comma_list, common, restricted, table_options, trust_pickle, typed
from sev.cli._output import output_file, say, write_result
from sev.cli._tables import rows_and_labels

if TYPE_CHECKING:
    import pandas as pd

    from sev.explainers import Explainer
    from sev.references import ReferenceLike
    from sev.typing import ClassLabel


@click.command()
@click.option(
    "--model",
    required=True,
    type=click.Path(),
    help="Fitted model: .skops, .ubj, .json, .txt, .cbm; .pkl with --trust-pickle.",
)
@table_options
@click.option("--drop", callback=comma_list, help="Columns that the model does not use: a,b.")
@click.option(
    "--reference",
    default="auto",
    show_default=True,
    help="Whom to compare with: auto, mean, median, clusters:5, nearest, by:COLUMN, best:clusters:5, or JSON: "
    '{"age": 40}.',
)
@click.option("--group", "groups", multiple=True, help="Columns that move as one feature: name=a,b. May be repeated.")
@restricted
@actions
@click.option("--target", help="The class to explain; default: the model's second class.")
@click.option(
    "--threshold", type=float, help="Least score at which a row counts as the target; default: the model's own."
)
@click.option(
    "--allow-positive-reference",
    is_flag=True,
    help="Accept a reference that is itself predicted as the class to explain.",
)
@click.option(
    "--credibility",
    type=click.Choice(["isolation", "mixture", "neighbours", "none"]),
    default="isolation",
    show_default=True,
    help="Measure of how ordinary a changed row is among real rows of the other class.",
)
@label_options
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
    actions: str | None,
    target: str | None,
    threshold: float | None,
    allow_positive_reference: bool,
    labels: str | None,
    language: str | None,
    output: str,
    credibility: str,
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
    rows, decisions = rows_and_labels(data, label, text, numbers, [fitted], drop)
    say(f"read {type(fitted).__name__} and {len(rows):,} rows of {rows.shape[1]} columns", quiet)
    # wrong options are told before the model is asked, as what they are
    explained = "predicted" if target == "predicted" else _read_class(target, fitted, decisions)
    compared_with = _read_reference(reference)
    grouped = dict(_read_group(one) for one in groups) or None
    named = labels_for(labels, language)
    with naming_model(fitted, data, rows):
        explainer = sev.Explainer(
            fitted,
            rows,
            decisions.to_numpy(),
            target=explained,
            reference=compared_with,
            groups=grouped,
            restricted=restricted or (),
            threshold=threshold,
            allow_positive_reference=allow_positive_reference,
            labels=named,
            actions=actions,
            credibility=False if credibility == "none" else credibility,
        )
    if not hasattr(fitted, "classes_") and len(explainer.classes_) == 2 and target != "predicted":
        _check_direction(explainer, rows, decisions)
    with output_file(output, ".sev") as path:
        explainer.save(path, allow_pickle=trust_pickle)
    rows_of_reference = explainer.reference
    write_result(
        {
            "output": output,
            "model": type(fitted).__name__,
            "backend": explainer.backend,
            "target": explainer.target,
            "threshold": explainer.threshold,
            "features": list(explainer.feature_names),
            "restricted": list(explainer.restricted),
            "actions": None if explainer.actions is None else explainer.actions.to_plain(),
            "compared with": explainer.reference_name,
            "reference rows": len(rows_of_reference),
            "reference" if len(rows_of_reference) == 1 or as_json else "first of them": {
                str(name): value for name, value in rows_of_reference.iloc[0].items()
            },
        },
        as_json,
    )


def _read_class(target: str | None, model: object, labels: pd.Series) -> ClassLabel | None:
    """The class that is written so: one of the model's, or of a model that does not know its classes a label."""
    from sev.core import list_names, plain_value, suggest_name
    from sev.exceptions import InputError

    if target is None:
        return None
    own = list(getattr(model, "classes_", ()))
    classes = [plain_value(one) for one in own] or [plain_value(one) for one in labels.dropna().unique()]
    for known, plain in zip(own or classes, classes, strict=True):
        # numbers are compared as such: a column of labels may hold 1.0 where the model has the class 1
        if str(plain) == target or (not isinstance(plain, (str, bool)) and plain == typed(target)):
            return known
    whose = "the model" if own else f"the column {labels.name!r}"
    raise InputError(
        f"--target {target} is not a class of {whose}{suggest_name(target, classes)} It has {list_names(classes)}."
    )


def _check_direction(explainer: Explainer, rows: pd.DataFrame, labels: pd.Series) -> None:
    """Refuse to explain one class with the scores of the other: the file of a model without classes has scores only."""
    import numpy as np
    from sklearn.metrics import roc_auc_score

    from sev.core import plain_value
    from sev.exceptions import InputError

    scorer = explainer.tasks[0].scorer
    scores = scorer.scores(explainer.form.to_native(rows))
    known = labels.notna().to_numpy() & np.isfinite(scores)
    is_target = (labels == scorer.target).to_numpy()[known]
    if is_target.all() or not is_target.any():
        return
    area = float(roc_auc_score(is_target, scores[known]))
    if area >= 0.5:
        return
    target = plain_value(scorer.target)
    [other] = [plain_value(one) for one in explainer.classes_ if one != scorer.target]
    raise InputError(
        f"The scores of the model are lower for rows with the label {target!r} than for rows with {other!r} (in "
        f"{1 - area:.0%} of all pairs), so that they are scores of {other!r}. The file of the model does not name its "
        f"classes: use --target {other}."
    )


def _read_reference(text: str) -> ReferenceLike:
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"is not a JSON object: {error}", param_hint="--reference") from error


def _read_group(text: str) -> tuple[str, list[str]]:
    name, equals, columns = text.partition("=")
    if not equals or not name or not columns:
        raise click.BadParameter(f"{text!r} is not of the form name=a,b", param_hint="--group")
    return name, columns.split(",")
