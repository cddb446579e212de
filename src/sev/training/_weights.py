"""Weights of rows: checked, multiplied by those of classes, and handed to any model's fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

from sev.exceptions import InputError
from sev.typing import ClassLabel, FloatArray, NativeTable

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


#: How much rows of each class count, as in scikit-learn.
ClassWeight: TypeAlias = Mapping[ClassLabel, float] | Literal["balanced"] | None


def check_sample_weight(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray | None:
    """Weights as an array of floats, None where none are given.

    Raises
    ------
    InputError
        When there is not one finite number of at least 0 for each row, or all are 0.
    """
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight must hold one number for each row: {error}.") from error
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise InputError(
            f"sample_weight has shape {weights.shape} but X has {n_rows} rows: they must have the same length."
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if wrong.size:
        row = int(wrong[0])
        raise InputError(f"sample_weight of row {row} is {weights[row]:g}: it must be a finite number of at least 0.")
    if not weights.any():
        raise InputError("sample_weight is zero for every row: at least one row must count.")
    return weights


def combine_weights(
    sample_weight: FloatArray | None, class_weight: ClassWeight, labels: np.ndarray
) -> FloatArray | None:
    """Weights of rows times those of their classes; None where neither is given.

    Parameters
    ----------
    sample_weight : ndarray or None
        One weight for each row.
    class_weight : dict, "balanced" or None
        As in scikit-learn.
    labels : ndarray
        The class of each row, as the keys of ``class_weight`` spell it.
    """
    if class_weight is None:
        return sample_weight
    if not (class_weight == "balanced" or isinstance(class_weight, dict)):
        raise InputError(
            f'class_weight={class_weight!r} is not known: use a dict of labels and weights, or "balanced".'
        )
    known = np.unique(labels).tolist()
    if isinstance(class_weight, dict):
        strange = [label for label in class_weight if label not in known]
        if strange:
            raise InputError(f"class_weight has the labels {strange}, but the labels in y are {known}.")
    by_class: FloatArray = compute_sample_weight(class_weight, labels)
    return by_class if sample_weight is None else by_class * sample_weight


def fit_with_weights(model: BaseEstimator, X: NativeTable, y: np.ndarray, weights: FloatArray | None) -> BaseEstimator:
    """Fit a model, or the last step of a Pipeline, with weights where there are any.

    Raises
    ------
    InputError
        When the model takes no weights.
    """
    if weights is None:
        return model.fit(X, y)
    prefix, final = "", model
    while hasattr(final, "steps"):
        name, final = final.steps[-1]
        prefix += f"{name}__"
    if not has_fit_parameter(final, "sample_weight"):
        raise InputError(
            f"{type(final).__name__} does not accept sample_weight: leave sample_weight and class_weight out."
        )
    return model.fit(X, y, **{f"{prefix}sample_weight": weights})
