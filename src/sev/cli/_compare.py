"""``sev compare``."""

from __future__ import annotations

from pathlib import Path

import click

from sev.cli._errors import naming_model
from sev.cli._options import common, restricted, table_options, trust_pickle
from sev.cli._output import write_frame
from sev.cli._tables import rows_and_labels


@click.command()
@click.argument("models", nargs=-1, required=True, type=click.Path())
@table_options
@restricted
@click.option("--max-rows", type=click.IntRange(1), help="Explain no more rows than this.")
@trust_pickle
@common
def compare(
    models: tuple[str, ...],
    data: str,
    label: str,
    text: tuple[str, ...] | None,
    numbers: tuple[str, ...] | None,
    restricted: tuple[str, ...] | None,
    max_rows: int | None,
    trust_pickle: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare fitted MODELS on rows with labels: accuracy, and how short their reasons are.

    \b
    Example:
      sev compare before.skops after.skops --data test.csv --label refused
    """
    import sev
    from sev.files import load_model

    names = [Path(path).stem for path in models]
    if len(set(names)) < len(names):
        names = list(models)  # before/model.skops and after/model.skops
    fitted = {name: load_model(path, trust_pickle=trust_pickle) for name, path in zip(names, models, strict=True)}
    rows, labels = rows_and_labels(data, label, text, numbers, list(fitted.values()))
    with naming_model(next(iter(fitted.values())), data, rows):
        frame = sev.compare(fitted, rows, labels.to_numpy(), restricted=restricted or (), max_rows=max_rows)
    write_frame(frame, as_json)
