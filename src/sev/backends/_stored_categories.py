"""Category columns as a booster was trained on them, for tables that have lost them.

A CSV file holds texts and numbers. Some boosters take category columns, and their codes mean something only with the
categories of the training rows, in their order. Their libraries keep these with the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pandas as pd

from sev._registry import look_up
from sev.backends._categories import category_columns, parts_on_raw_rows
from sev.exceptions import InputError
from sev.typing import Cell

_MOST_NESTED = 8
_MOST_SHOWN = 8

#: The categories of some columns, in the order of the training rows.
Categories: TypeAlias = dict[str, list[Cell]]


def trained_columns(model: object) -> tuple[str, ...] | None:
    """Names of the columns that a model was fitted on, in order; None where it does not know them.

    Parameters
    ----------
    model : object
        Fitted model; boosters without ``feature_names_in_`` have their own names for them.

    Returns
    -------
    tuple of str or None
        Names in order.
    """
    names = getattr(model, "feature_names_in_", None)
    own_names = look_up(model, "trained_columns")
    if names is None and own_names is not None:
        names = own_names(model)
    return None if names is None else tuple(str(name) for name in names)


def text_columns(model: object, columns: Sequence[str]) -> tuple[str, ...]:
    """Columns of categories, whose cells a reader must not turn into numbers.

    Parameters
    ----------
    model : object
        Fitted model.
    columns : sequence
        Columns of the rows that it takes, in its order.

    Returns
    -------
    tuple of object
        A part of ``columns``.
    """
    parts = parts_on_raw_rows(model, _MOST_NESTED)
    if any(look_up(part, "stored_categories") is not None for part in parts):
        return tuple(name for name in columns if name in category_columns(model, columns))
    return ()


def restore_categories(model: object, rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """Rows whose columns of categories are as the model was trained on them.

    Parameters
    ----------
    model : object
        Fitted model. Rows for models that keep no categories are returned as they are.
    rows : DataFrame
        Its columns, in its order; cells of categories may be texts.
    what : str
        What to call the rows in messages.

    Returns
    -------
    DataFrame
        A copy with category columns; the rows themselves where the model keeps no categories.

    Raises
    ------
    InputError
        When a cell is no category of its column, or when the model does not hold its categories.
    """
    for part in parts_on_raw_rows(model, _MOST_NESTED):
        stored = look_up(part, "stored_categories")
        known: Categories = {} if stored is None else stored(part, rows, what)
        if known:
            return rows.assign(**{name: _as_categories(rows[name], known[name], what) for name in known})
    return rows


def holds_codes(values: pd.Series) -> bool:
    """Whether a column, read as text or not, holds numbers only.

    Parameters
    ----------
    values : Series
        A column.

    Returns
    -------
    bool
        True if every cell that is not missing is a number.
    """
    if pd.api.types.is_numeric_dtype(values.dtype):
        return True
    return bool(pd.to_numeric(values.dropna().astype(object), errors="coerce").notna().all())


def _as_categories(values: pd.Series, categories: list[Cell], what: str) -> pd.Series:
    cells: Mapping[Cell, Cell] = {value: category_of(value, categories) for value in values.dropna().unique().tolist()}
    strange = [value for value, category in cells.items() if category is None]
    if strange:
        place = int((values == strange[0]).to_numpy().argmax())
        more = f" and {len(categories) - _MOST_SHOWN} more" if len(categories) > _MOST_SHOWN else ""
        raise InputError(
            f"{what}, row {place}: column {values.name!r} holds {strange[0]!r}, which is not a category that the model "
            f"was trained on: {categories[:_MOST_SHOWN]}{more}. Correct the cell, leave it empty (missing), or leave "
            "the row out."
        )
    mapped = [None if pd.isna(value) else cells[value] for value in values.tolist()]
    return pd.Series(pd.Categorical(mapped, categories=categories), index=values.index, name=values.name)


def category_of(value: object, categories: list[Cell]) -> Cell:
    """The category that a cell stands for; texts of numbers and booleans are compared by what they mean.

    Parameters
    ----------
    value : object
        A cell.
    categories : list of object
        The categories of its column.

    Returns
    -------
    object
        The category, or None where none fits.
    """
    for category in categories:
        if isinstance(category, bool) == isinstance(value, bool) and category == value:
            return category
    text = str(value).strip()
    for category in categories:
        if isinstance(category, str):
            if category == text:
                return category
        elif isinstance(category, bool):
            if text.lower() == str(category).lower():
                return category
        elif _read_number(text) == category:
            return category
    return None


def _read_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
