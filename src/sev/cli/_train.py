"""``sev train``."""

from __future__ import annotations

from typing import Literal

import click

from sev.cli._options import common, restricted, table_options, trust_pickle
from sev.cli._output import output_file, say, write_result
from sev.cli._tables import rows_and_labels
from sev.typing import Objective


@click.command()
@click.option("--model", required=True, type=click.Path(), help="Fitted model: .skops, or .pkl with --trust-pickle.")
@table_options
@click.option(
    "--objective",
    type=click.Choice(["minus", "plus", "volume", "both"]),
    default="minus",
    show_default=True,
    help="Which explanations to shorten: minus (SEV-), plus (SEV+) or both; volume: SEV+ of linear models.",
)
@click.option(
    "--max-accuracy-loss", type=float, help="Most accuracy that may be lost.  [default: 0.005 without --metric]"
)
@click.option(
    "--metric", "metrics", multiple=True, help="Metric of scikit-learn with a floor, such as roc_auc; may be repeated."
)
@click.option(
    "--max-metric-loss", type=float, default=0.005, show_default=True, help="How much each --metric may lose."
)
@click.option("--class-weight", type=click.Choice(["balanced"]), help="Weight classes by how rare they are.")
@restricted
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(),
    help="File for the new model, such as better.skops; - is standard output.",
)
@trust_pickle
@common
def train(
    model: str,
    data: str,
    label: str,
    text: tuple[str, ...] | None,
    numbers: tuple[str, ...] | None,
    objective: Objective,
    max_accuracy_loss: float | None,
    metrics: tuple[str, ...],
    max_metric_loss: float,
    class_weight: Literal["balanced"] | None,
    restricted: tuple[str, ...] | None,
    output: str,
    trust_pickle: bool,
    as_json: bool,
    quiet: bool,
    seed: int | None,
) -> None:
    """Tune a fitted model so that its decisions need fewer reasons, and save it.

    \b
    Example:
      sev train --model loans.skops --data train.csv --label refused --objective minus -o better.skops
    """
    import sev
    from sev.files import load_model, save_model

    fitted = load_model(model, trust_pickle=trust_pickle)
    rows, labels = rows_and_labels(data, label, text, numbers, [fitted])
    say(f"tuning {type(fitted).__name__} on {len(rows):,} rows", quiet)
    better, record = sev.optimize(
        fitted,
        rows,
        labels.to_numpy(),
        objective=objective,
        metric=metrics or None,
        max_metric_loss=max_metric_loss,
        max_accuracy_loss=max_accuracy_loss,
        class_weight=class_weight,
        restricted=restricted or (),
        random_state=0 if seed is None else seed,
        verbose=False if quiet else None,
    )
    with output_file(output, ".skops") as path:
        save_model(better, path, allow_pickle=trust_pickle)
    write_result({"output": output, "model": type(better).__name__, "record": str(record)}, as_json)
