"""Raw tables as a matrix of numbers, each column of which comes from one raw column."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sev.exceptions import InputError
from sev.space import is_quantity
from sev.typing import ColumnLabel, FloatArray, IntArray


class TableEncoder(TransformerMixin, BaseEstimator):
    """One-hot encodes categories and scales numbers.

    A missing category is a category. With ``scale``, a missing number becomes the mean and, if the training rows had
    any, one more column says so; without, it stays NaN for the model to deal with. A category that was not seen in
    training is all zeros.

    Parameters
    ----------
    scale : bool, default=True
        Bring numbers to mean 0 and variance 1.

    Attributes
    ----------
    column_source_ : ndarray of int, shape (n_encoded_columns,)
        The raw column that each encoded column comes from.

    Examples
    --------
    >>> import pandas as pd
    >>> from sev.training import TableEncoder
    >>> rows = pd.DataFrame({"home": ["own", "rent", "free"], "age": [20, 30, 40]})
    >>> encoder = TableEncoder().fit(rows)
    >>> encoder.transform(rows).shape, encoder.column_source_.tolist()
    ((3, 4), [1, 0, 0, 0])
    """

    def __init__(self, scale: bool = True) -> None:
        self.scale = scale

    def fit(self, X: pd.DataFrame, y: ArrayLike | None = None) -> TableEncoder:
        """Learn categories, means and variances.

        Parameters
        ----------
        X : table or array of shape (n_rows, n_columns)
            Training rows.
        y : ignored
            For pipelines.

        Returns
        -------
        TableEncoder
            Itself.
        """
        self.columns_ = list(X.columns)
        is_number = np.array([is_quantity(X[column].dtype) for column in self.columns_], dtype=np.bool_)
        self.numbers_: IntArray = np.flatnonzero(is_number)
        self.texts_: IntArray = np.flatnonzero(~is_number)
        sources = [self.numbers_]
        if self.numbers_.size and self.scale:
            self.imputer_ = SimpleImputer(add_indicator=True, keep_empty_features=True)
            filled = self.imputer_.fit_transform(self._encode_numbers(X))
            self.scaler_ = StandardScaler().fit(filled)
            sources.append(self.numbers_[self.imputer_.indicator_.features_])
        if self.texts_.size:
            self.one_hot_ = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            self.one_hot_.fit(self._encode_texts(X))
            widths = [len(categories) for categories in self.one_hot_.categories_]
            sources.append(np.repeat(self.texts_, widths))
        self.column_source_: IntArray = np.concatenate(sources).astype(np.int64)
        return self

    def transform(self, X: pd.DataFrame) -> FloatArray:
        """Encode rows.

        Parameters
        ----------
        X : table or array of shape (n_rows, n_columns)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_encoded)
            Numbers.
        """
        parts: list[FloatArray] = []
        if self.numbers_.size:
            numbers = self._encode_numbers(X)
            parts.append(self.scaler_.transform(self.imputer_.transform(numbers)) if self.scale else numbers)
        if self.texts_.size:
            parts.append(self.one_hot_.transform(self._encode_texts(X)))
        return np.ascontiguousarray(np.hstack(parts), dtype=np.float64)

    def _encode_numbers(self, frame: pd.DataFrame) -> FloatArray:
        found = np.column_stack([_as_float(frame.iloc[:, place], self.columns_[place]) for place in self.numbers_])
        if np.isinf(found).any():
            row, place = (int(places[0]) for places in np.nonzero(np.isinf(found)))
            raise InputError(
                f"Column {self.columns_[self.numbers_[place]]!r} holds infinity in row {frame.index[row]}: use finite "
                "numbers, or NaN for missing ones."
            )
        return found

    def _encode_texts(self, frame: pd.DataFrame) -> np.ndarray:
        return np.column_stack([_as_text(frame.iloc[:, place]) for place in self.texts_])


def _as_float(values: pd.Series, column: ColumnLabel) -> FloatArray:
    if pd.api.types.is_datetime64_any_dtype(values.dtype) or pd.api.types.is_timedelta64_dtype(values.dtype):
        moments = values.to_numpy()
        days: FloatArray = moments.astype("int64") / np.timedelta64(1, "D").astype(
            moments.dtype.str.replace("M8", "m8")
        ).astype("int64")
        days[np.isnat(moments)] = np.nan
        return days
    try:
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Column {column!r} was numeric in training, but now holds a value that is not a number: {error}. "
            "Correct the cell, or leave it empty."
        ) from error


def _as_text(values: pd.Series) -> np.ndarray:
    """Values as text, so that 1, 1.0 and True of different dtypes are told apart as people would."""
    found = values.astype(object).to_numpy()
    missing = values.isna().to_numpy()
    distinct = {value: _cell_as_text(value) for value in set(found[~missing].tolist())}
    return np.array(
        [
            "(missing)" if gone else distinct[value]
            for value, gone in zip(found.tolist(), missing.tolist(), strict=True)
        ],
        dtype=object,
    )


def _cell_as_text(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
