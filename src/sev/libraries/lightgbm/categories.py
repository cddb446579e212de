"""The columns and categories that a booster was trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from sev.backends import Categories, category_of, holds_codes, text_columns
from sev.exceptions import InputError
from sev.typing import Cell

if TYPE_CHECKING:
    from lightgbm import Booster, LGBMClassifier


def trained_columns(booster: Booster) -> list[str] | None:
    """Names of the columns that a booster was trained on, None where they had none."""
    names: list[str] = booster.feature_name()
    # what LightGBM calls columns that had no names
    return None if names == [f"Column_{place}" for place in range(len(names))] else names


def stored_categories(model: LGBMClassifier | Booster, rows: pd.DataFrame, what: str) -> Categories:
    """The categories of each column of rows that the booster keeps."""
    booster = getattr(model, "booster_", model)
    lists: list[list[Cell]] = booster.pandas_categorical or []
    if not lists or sum(isinstance(dtype, pd.CategoricalDtype) for dtype in rows.dtypes) == len(lists):
        return {}  # LightGBM itself gives category columns the order that it knows
    sure = {*text_columns(model, list(rows.columns)), *(name for name in rows.columns if not holds_codes(rows[name]))}
    if len(sure) == len(lists):
        return dict(zip([name for name in rows.columns if name in sure], lists, strict=True))
    # an ordered column, or one with a single category, is a number in the model's file: its cells tell
    found = _list_assignments(list(rows.columns), lists, sure, rows)
    if len(found) != 1:
        shown = ", ".join(repr(values[:4])[1:-1] for values in lists)
        raise InputError(
            f"{what}: the model was trained on {len(lists)} columns of categories ({shown}), and it is not clear which "
            "columns these are. Give the rows as Parquet or Feather with the category columns of the training rows."
        )
    return found[0]


def _list_assignments(
    columns: list[str], lists: list[list[Cell]], sure: set[str], rows: pd.DataFrame, most: int = 2
) -> list[Categories]:
    """Ways to give the lists of categories to columns in order, so that every cell of a column is in its list."""
    if not lists:
        return [] if sure & set(columns) else [{}]
    if not columns:
        return []
    name, found = columns[0], []
    if all(category_of(value, lists[0]) is not None for value in rows[name].dropna().unique().tolist()):
        found = [{name: lists[0], **rest} for rest in _list_assignments(columns[1:], lists[1:], sure, rows, most)]
    if name not in sure and len(found) < most:
        found += _list_assignments(columns[1:], lists, sure, rows, most - len(found))
    return found[:most]
