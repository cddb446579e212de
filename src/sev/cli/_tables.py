"""Tables that fit into memory: rows to fit on, and rows to explain at once."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Unpack

from sev.cli._errors import spoiled_numbers
from sev.typing import ColumnLabel

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from sev import Explainer, Explanations
    from sev.typing import SearchOptions


def explained_table(
    explainer: Explainer, data: str, id_column: str | None, quiet: bool, **options: Unpack[SearchOptions]
) -> tuple[Explanations, pa.Table]:
    """Explanations of a table that fits into memory, and the table itself, with all its columns.

    Parameters
    ----------
    explainer : Explainer
        Its types are those of the columns.
    data : str
        The file.
    id_column : str or None
        Names the rows.
    quiet : bool
        Show no progress.
    **options
        As for :meth:`sev.Explainer.explain`.
    """
    rows, table = rows_of_table(explainer, data, id_column)
    return explainer.explain(rows, progress=not quiet and sys.stderr.isatty(), **options), table


def rows_of_table(explainer: Explainer, data: str, id_column: str | None) -> tuple[pd.DataFrame, pa.Table]:
    """The rows of a table that fits into memory, as the explainer takes them, and the table with all its columns."""
    import pandas as pd

    from sev.batch import read_table, rows_of
    from sev.exceptions import InputError

    table = read_table(data)
    if id_column is not None and id_column not in table.column_names:
        raise InputError(no_column(data, id_column, "--id", table.column_names))
    rows, problems = rows_of(table, explainer.form)
    if problems:
        row, problem = next(iter(problems.items()))
        more = f" (and {len(problems) - 1:,} more rows)" if len(problems) > 1 else ""
        raise InputError(f"{data}, row {row}: {problem}{more}.")
    if id_column is not None:
        rows.index = pd.Index(table.column(id_column).to_pylist(), name=id_column)
    return rows, table


def chosen_row(explainer: Explainer, data: str, id_column: str | None, row: str) -> pd.DataFrame:
    """One row of a table, by its place or, with a column that names rows, by its name."""
    from sev.core import list_names, suggest_name
    from sev.exceptions import InputError

    rows, _ = rows_of_table(explainer, data, id_column)
    if id_column is None:
        if not row.isdecimal() or int(row) >= len(rows):
            raise InputError(
                f"--row {row} is not a row of {data}: it has {len(rows):,} rows, and the first is 0. With --id COLUMN, "
                "--row is an entry of that column."
            )
        return rows.iloc[[int(row)]]
    names = [str(name) for name in rows.index]
    if row not in names:
        near = suggest_name(row, names)
        entries = f"Its entries are {list_names(names, 5)}."
        raise InputError(f"--row {row}: no row of {data} has this entry in {id_column!r}{near} {entries}")
    if names.count(row) > 1:
        raise InputError(
            f"--row {row}: {names.count(row)} rows of {data} have this entry in {id_column!r}. Choose a column whose "
            "entries are all different, or leave --id out and pass the number of the row."
        )
    return rows.iloc[[names.index(row)]]


def rows_and_labels(
    data: str,
    label: str,
    text: tuple[str, ...] | None,
    numbers: tuple[str, ...] | None,
    models: list[object],
    drop: Collection[str] | None = (),
) -> tuple[pd.DataFrame, pd.Series]:
    """Rows with the columns that models take, in the first model's order and with its categories, and labels."""
    from sev.backends import text_columns, trained_columns
    from sev.batch import read_frame
    from sev.core import list_names, suggest_columns
    from sev.exceptions import InputError, UnknownFeatureError

    known = next((names for model in models if (names := trained_columns(model)) is not None), None)
    categories = () if known is None else text_columns(models[0], known)
    frame = read_frame(data, text=text or (), numbers=numbers or (), text_if_there=categories)
    if label not in frame.columns:
        raise UnknownFeatureError(no_column(data, label, "--label", frame.columns))
    if not len(frame):
        raise InputError(f"{data} has a line of column names, but no rows.")
    columns = [name for name in frame.columns if name != label and name not in (drop or ())]
    if known is not None:
        missing = [name for name in known if name not in frame.columns]
        if missing:
            raise UnknownFeatureError(
                f"{data} lacks columns that the model takes: {list_names(missing, None)}."
                f"{suggest_columns(missing, [name for name in columns if name not in known])} "
                f"It has {list_names(frame.columns, None)}."
            )
        columns = list(known)
    return _with_categories(models, frame[columns], data), frame[label]


def _with_categories(models: list[object], rows: pd.DataFrame, data: str) -> pd.DataFrame:
    """Rows with the first model's categories; a number that was read as text may be why they are not found."""
    from sev.backends import restore_categories
    from sev.exceptions import InputError

    try:
        return restore_categories(models[0], rows, data) if models else rows
    except InputError as error:
        spoiled = spoiled_numbers(rows)
        raise InputError(f"{data}: {spoiled[0].lower()}{spoiled[1:]}" if spoiled else str(error)) from error


def no_column(data: str, name: str, option: str, columns: Iterable[ColumnLabel]) -> str:
    """The message for a column that an option names and a file lacks."""
    from sev.core import list_names, separator_hint, suggest_name

    return (
        f"{data} has no column {name!r} for {option}{suggest_name(name, columns)} It has {list_names(columns, None)}."
        f"{separator_hint(columns)}"
    )
