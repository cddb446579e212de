"""The reference of a training run: the same row that explanations will use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from sev.exceptions import InputError
from sev.references import Background, as_reference
from sev.space import FeatureSpace, TableForm
from sev.typing import BoolArray


def reference_row(
    reference: Any,
    frame: pd.DataFrame,
    negatives: BoolArray,
    space: FeatureSpace,
    is_positive: Callable[[pd.DataFrame], BoolArray],
    categories: frozenset[Any] = frozenset(),
) -> pd.DataFrame:
    """One row, as :class:`sev.Explainer` would make it from the same background.

    Parameters
    ----------
    reference : str, row or object of :mod:`sev.references`
        As for the explainer; only references that are one row for all queries can be trained against.
    frame : DataFrame
        Training rows.
    negatives : ndarray of bool
        Rows of the other class.
    space : FeatureSpace
        Which columns move together.
    is_positive : callable
        The base model's decision about rows.
    categories : frozenset of columns
        Columns that the base model takes as categories.
    """
    background = Background(frame, negatives, TableForm.of(frame), space, is_positive, categories)
    fitted = as_reference(reference).fit(background)
    if len(fitted.rows) != 1:
        raise InputError(
            f"The reference ({fitted.name}) has {len(fitted.rows)} rows; training needs one row for all queries."
        )
    return fitted.rows
