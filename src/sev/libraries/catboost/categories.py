"""The columns that a model was trained on; it takes categories as they are, and keeps none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from sev.backends import Categories

if TYPE_CHECKING:
    from catboost import CatBoostClassifier


def trained_columns(model: CatBoostClassifier) -> list[str] | None:
    """Names of the columns that a model was trained on, None where they had none."""
    names: list[str] = model.feature_names_
    return None if names == [str(place) for place in range(len(names))] else names


def stored_categories(model: CatBoostClassifier, rows: pd.DataFrame, what: str) -> Categories:
    """No categories: the model compares the texts themselves."""
    return {}
