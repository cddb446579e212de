"""Models side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from numpy.typing import ArrayLike

from sev.core import tuple_of_names
from sev.exceptions import InputError, ModelError
from sev.training._quality import Measure
from sev.training._weights import check_sample_weight
from sev.typing import ColumnLabel, FittedClassifier, Kind, NativeTable

if TYPE_CHECKING:
    from sev.references import ReferenceLike


def compare(
    models: Mapping[str, FittedClassifier],
    X: NativeTable,
    y: ArrayLike,
    *,
    X_train: NativeTable = None,
    y_train: ArrayLike | None = None,
    kinds: Sequence[Kind] = ("plus", "minus"),
    reference: ReferenceLike = "mean",
    groups: Mapping[str, Sequence[ColumnLabel]] | None = None,
    restricted: Iterable[str] = (),
    max_rows: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> pd.DataFrame:
    """Compare models: how accurate they are and how many reasons their decisions need, one line for each model.

    Parameters
    ----------
    models : mapping of str to fitted classifier
        Models that take the same rows.
    X, y : table of shape (n_rows, n_columns) and labels
        Rows that none of them was trained on.
    X_train, y_train : table and labels, default=None
        Background of the reference; None: ``X`` and ``y``.
    kinds : sequence of {"plus", "minus"}
        Which explanations to measure.
    reference, groups, restricted
        As for :class:`sev.Explainer`. With restricted features there are columns for SEV(R) too.
    max_rows : int, default=None
        Explain at most this many positive predictions.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row of ``X`` in every figure; None: all the same.

    Returns
    -------
    DataFrame
        accuracy, auc, brier, positive_rate; then for each kind the mean size over the rows predicted positive
        (``sev_minus``, ``sev_plus``, ``sev_restricted``; an unexplainable row counts as the number of features), the
        share of rows with one reason and the share without any; and the reference's score. Where that score is
        positive, SEV+ has no meaning and is NaN.

    Raises
    ------
    InputError
        If there is no model, only one of ``X_train`` and ``y_train`` is passed, or a kind is unknown.
    ModelError
        If a model has no probabilities; the message names it.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> import numpy as np, sev
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = (X.sum(axis=1) > 0).astype(int)
    >>> weak, strong = LogisticRegression(C=1e-3).fit(X, y), LogisticRegression(C=10.0).fit(X, y)
    >>> sev.compare({"weak": weak, "strong": strong}, X, y)[["accuracy", "sev_minus"]].shape
    (2, 2)
    """
    if not isinstance(models, Mapping) or not models:
        raise InputError("There are no models to compare: pass a mapping of names to fitted models.")
    for name, model in models.items():
        if not hasattr(model, "predict_proba"):
            raise ModelError(
                f"{name!r} is a {type(model).__name__} without predict_proba, which the comparison needs: pass a "
                "fitted classifier."
            )
    if (X_train is None) != (y_train is None):
        raise InputError("X_train and y_train belong together: pass both, or neither.")
    kinds = tuple_of_names(kinds, "kinds")
    if not set(kinds) <= {"plus", "minus"}:
        raise InputError(f'kinds={list(kinds)} is not known: use "plus", "minus" or both.')
    measure = Measure(
        X_train=X if X_train is None else X_train,
        y_train=y if y_train is None else y_train,
        kinds=kinds,
        reference=reference,
        groups=groups,
        restricted=restricted,
        max_rows=max_rows,
    )
    weights = check_sample_weight(sample_weight, len(X))
    lines = {name: measure.of(model, X, y, weights) for name, model in models.items()}
    return pd.DataFrame.from_dict(lines, orient="index").rename_axis("model")
