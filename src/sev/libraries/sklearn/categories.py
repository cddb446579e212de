"""Columns that estimators and transformers take as categories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from sev._registry import find, is_among

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier


def every_place(encoder: BaseEstimator, n_columns: int) -> Iterable[int]:
    """Of models and encoders of categories alone."""
    return range(n_columns)


def places_in_transformer(transformer: ColumnTransformer, n_columns: int) -> Iterator[int]:
    """Of a ColumnTransformer: the columns that go to an encoder of categories."""
    given = transformer._transformer_to_input_indices
    for name, step, _ in transformer.transformers_:
        inner = [one for _, one in step.steps] if is_among(step, {"sklearn.Pipeline"}) else [step]
        if any(_encodes_categories(one) for one in inner):
            yield from given.get(name, ())


def _encodes_categories(step: BaseEstimator) -> bool:
    match = find(step, "categories")
    return match is not None and match.route.endswith(f":{every_place.__name__}")


def places_in_hist_boosting(model: HistGradientBoostingClassifier, n_columns: int) -> Iterable[int]:
    """Of HistGradientBoostingClassifier."""
    mask = model.is_categorical_
    return () if mask is None else np.flatnonzero(mask).tolist()
