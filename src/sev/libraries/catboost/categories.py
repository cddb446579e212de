"""The columns that a model was trained on; it takes categories as they are, and keeps none."""

from __future__ import annotations

from typing import Any

import pandas as pd

from sev.backends import Categories


def trained_columns(model: Any) -> list[str] | None:
    """Names of the columns that a model was trained on, None where they had none."""
    names: list[str] = model.feature_names_
    return None if names == [str(place) for place in range(len(names))] else names


def stored_categories(model: Any, rows: pd.DataFrame, what: str) -> Categories:
    """No categories: the model compares the texts themselves."""
    return {}
