"""The columns and categories that a booster was trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from sev.backends import Categories, holds_codes, text_columns
from sev.exceptions import InputError

if TYPE_CHECKING:
    from xgboost import Booster, XGBClassifier


def trained_columns(booster: Booster) -> list[str] | None:
    """Names of the columns that a booster was trained on, None where they had none."""
    return None if booster.feature_names is None else list(booster.feature_names)


def stored_categories(model: XGBClassifier | Booster, rows: pd.DataFrame, what: str) -> Categories:
    """The categories of each column of rows that the booster keeps."""
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    stored = [None] * rows.shape[1]
    if hasattr(booster, "get_categories"):  # since XGBoost 3.1
        exported = booster.get_categories(export_to_arrow=True).to_arrow()
        stored = [None if values is None else values.to_pylist() for _, values in exported]
    known: Categories = {}
    for name in text_columns(model, list(rows.columns)):
        values = stored[list(rows.columns).index(name)]
        if values is not None:
            known[name] = values
        elif not holds_codes(rows[name]) and not isinstance(rows[name].dtype, pd.CategoricalDtype):
            raise InputError(
                f"{what}: column {name!r} holds text, and the model takes codes of categories whose names are not in "
                "its file: files of XGBoost before 3.1, and models fitted on codes, do not hold them. Fit the model "
                "with XGBoost 3.1 or newer on a DataFrame with category columns and save it again, or give the rows as "
                "Parquet or Feather with the category columns of the training rows."
            )
    return known
