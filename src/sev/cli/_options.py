"""Options that several commands have."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from typing import Any

import click
import numpy as np

Decorator = Callable[[Any], Any]


def comma_list(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """``a,b`` as names; a comma inside a name is written ``\\,``."""
    if value is None:
        return None
    names = value.replace("\\,", "\0").split(",")
    return tuple(name.replace("\0", ",").strip() for name in names if name.strip())


def typed(text: str | None) -> Any:
    """A class given on the command line: a number or truth value if it looks like one."""
    if text is None:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def _seed(context: click.Context, parameter: click.Parameter, value: int | None) -> int | None:
    if value is not None:
        random.seed(value)
        np.random.seed(value)  # noqa: NPY002  models of other libraries draw from here
    return value


def common(command: Any) -> Any:
    """``--json``, ``--quiet`` and ``--seed``."""
    wanted = "seed" in inspect.signature(command).parameters
    for option in (
        click.option("--seed", type=int, callback=_seed, expose_value=wanted, help="Seed of whatever is random."),
        click.option("--quiet", "-q", is_flag=True, help="No progress and no messages but errors."),
        click.option("--json", "as_json", is_flag=True, help="JSON instead of a table on standard output."),
    ):
        command = option(command)
    return command


def table_options(command: Any) -> Any:
    """How a table of training or test rows is read."""
    for option in (
        click.option("--numbers", callback=comma_list, help="Columns of numbers, where the cells do not tell: a,b."),
        click.option("--text", callback=comma_list, help="Columns of text, where the cells look like numbers: a,b."),
        click.option("--label", required=True, help="The column of labels."),
        click.option(
            "--data", required=True, type=click.Path(), help="Table of rows with labels; - is standard input (CSV)."
        ),
    ):
        command = option(command)
    return command


trust_pickle = click.option(
    "--trust-pickle", is_flag=True, help="Load pickled models, which run whatever code is in them."
)
restricted = click.option("--restricted", callback=comma_list, help="Features that no explanation may use: a,b.")
kind = click.option(
    "--kind", type=click.Choice(["minus", "plus"]), default="minus", show_default=True, help="SEV- or SEV+."
)


def explained(explainer: Any, data: str, id_column: str | None, quiet: bool) -> Any:
    """Explanations of a table that fits into memory, with types from the explainer."""
    import sys

    import pandas as pd

    from sev.batch import read_table, rows_of
    from sev.exceptions import InputError

    table = read_table(data)
    if id_column is not None and id_column not in table.column_names:
        raise InputError(f"{data} has no column {id_column!r} for --id; it has {table.column_names[:12]}.")
    rows, problems = rows_of(table, explainer.form)
    if problems:
        row, problem = next(iter(problems.items()))
        raise InputError(f"{data}, row {row}: {problem}.")
    if id_column is not None:
        rows.index = pd.Index(table.column(id_column).to_pylist(), name=id_column)
    return explainer.explain(rows, progress=not quiet and sys.stderr.isatty())


def rows_and_labels(
    data: str,
    label: str,
    text: tuple[str, ...] | None,
    numbers: tuple[str, ...] | None,
    models: list[Any],
    drop: Any = (),
) -> tuple[Any, Any]:
    """Rows with the columns that models take, and labels."""
    from sev.batch import read_frame
    from sev.exceptions import UnknownFeatureError

    frame = read_frame(data, text=text or (), numbers=numbers or ())
    if label not in frame.columns:
        raise UnknownFeatureError(f"{data} has no column {label!r} for --label; it has {list(frame.columns)[:12]}.")
    columns = [name for name in frame.columns if name != label and name not in (drop or ())]
    for model in models:
        named = getattr(model, "feature_names_in_", None)
        if named is not None:
            missing = [name for name in named if name not in frame.columns]
            if missing:
                raise UnknownFeatureError(f"{data} lacks columns that the model takes: {missing[:8]}.")
            columns = [name for name in frame.columns if name in set(named)]
            break
    return frame[columns], frame[label]
