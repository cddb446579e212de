"""Encoded space: which feature each encoded column depends on, found by trying and proven on mixed rows.

A pipeline encodes column-wise when every encoded column depends on one feature. Then a query and its reference are
encoded once and mixed afterwards. Scalers, imputers and one-hot encoders do; principal components, products of
columns and row norms do not, and are caught here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pandas as pd

from sev.backends._protocol import CannotReadError
from sev.space import FeatureSpace, Mixer, TableForm
from sev.typing import BoolArray, FloatArray, IntArray, ModelOutput, NativeTable

_ROWS_PER_CALL = 20_000


def as_float_matrix(rows: ModelOutput) -> FloatArray:
    """Rows of numbers, from whatever a transformer returns, as a dense float64 array.

    Parameters
    ----------
    rows : object
        A table, array or sparse matrix.

    Returns
    -------
    ndarray of float64
        Of shape (n_rows, n_columns).
    """
    if hasattr(rows, "toarray"):
        rows = rows.toarray()
    elif hasattr(rows, "to_numpy"):
        rows = rows.to_numpy()
    return np.asarray(rows, dtype=np.float64)


class ColumnwiseEncoding:
    """Rows in encoded space, with the feature of each encoded column.

    Parameters
    ----------
    encode : callable
        Rows as the model takes them, to a float matrix.
    form, space : TableForm, FeatureSpace
        What rows look like and which columns move together.
    sample : DataFrame
        Representative rows to try it on.

    Raises
    ------
    CannotReadError
        When an encoded column depends on more than one feature.
    """

    def __init__(
        self, encode: Callable[[NativeTable], FloatArray], form: TableForm, space: FeatureSpace, sample: pd.DataFrame
    ) -> None:
        self._encode = encode
        self._form = form
        self._space = space
        self._lock = threading.Lock()
        others = sample.iloc[np.roll(np.arange(len(sample)), 1)].reset_index(drop=True)
        sample = sample.reset_index(drop=True)
        encoded = self.encode(sample)
        self._owner = np.full(encoded.shape[1], -1, dtype=np.int64)
        #: Feature of each encoded column; columns that have never been seen to vary go with feature 0.
        self.column_feature: IntArray = np.maximum(self._owner, 0)
        rows = np.arange(len(sample), dtype=np.int64)
        mixer = Mixer(form, space, sample, others, rows)
        self._find_owners(mixer, rows, encoded)
        self._check_mixtures(mixer, rows, encoded, self.encode(others))

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def encode(self, frame: pd.DataFrame) -> FloatArray:
        """Rows of the common form, in encoded space.

        Parameters
        ----------
        frame : DataFrame
            Rows.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows, n_encoded).
        """
        return self.encode_native(self._form.to_native(frame))

    def encode_native(self, rows: NativeTable) -> FloatArray:
        """Rows as the model takes them, in encoded space.

        Parameters
        ----------
        rows : table or array
            Rows as the model takes them.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows, n_encoded).
        """
        return self._encode(rows)

    @property
    def owns_all(self) -> bool:
        """Whether the feature of every encoded column is known.

        Returns
        -------
        bool
            False where some columns have never been seen to vary.
        """
        return bool((self._owner >= 0).all())

    def with_features(self, space: FeatureSpace) -> ColumnwiseEncoding:
        """The same encoding, with features that each hold one or more of these features.

        Parameters
        ----------
        space : FeatureSpace
            The other features of the same columns.

        Returns
        -------
        ColumnwiseEncoding
            A copy.
        """
        other = dict(zip(space.columns, space.column_feature.tolist(), strict=True))
        owners = np.array([other[feature.columns[0]] for feature in self._space.features], dtype=np.int64)
        with self._lock:
            owner = np.where(self._owner >= 0, owners[self._owner], -1)
        made = ColumnwiseEncoding.__new__(ColumnwiseEncoding)
        made.__dict__.update(self.__dict__, _space=space, _lock=threading.Lock(), _owner=owner)
        made.column_feature = np.maximum(owner, 0)
        return made

    def own_new_columns(
        self,
        queries: pd.DataFrame,
        references: pd.DataFrame,
        assigned: IntArray,
        encoded: FloatArray,
        others: FloatArray,
    ) -> None:
        """Find the feature of columns that vary here for the first time: a category that the sample did not hold.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.
        references : DataFrame
            Reference rows.
        assigned : ndarray of int64
            The place of each query's reference row.
        encoded : ndarray of float64
            Encoded queries.
        others : ndarray of float64
            Encoded references.

        Raises
        ------
        CannotReadError
            When such a column turns out to depend on more than one feature.
        """
        unowned = np.flatnonzero(self._owner < 0)
        if not unowned.size:
            return
        compared = others[:, unowned]  # a few columns: rows of all of them are many numbers
        varies = _find_differences(encoded[:, unowned], compared if len(compared) == 1 else compared[assigned])
        fresh = np.flatnonzero(varies.any(axis=0))
        if not fresh.size:
            return
        rows = np.unique(varies[:, fresh].argmax(axis=0)).astype(np.int64)
        mixer = Mixer(self._form, self._space, queries, references, assigned)
        with self._lock:
            self._find_owners(mixer, rows, encoded[rows])

    def _find_owners(self, mixer: Mixer, rows: IntArray, encoded: FloatArray) -> None:
        """Change one feature at a time and see which encoded columns move; nothing is kept where that raises."""
        owner = self._owner.copy()
        n_features = len(self._space)
        per_call = max(1, _ROWS_PER_CALL // len(rows))
        for first in range(0, n_features, per_call):
            features = np.arange(first, min(first + per_call, n_features))
            from_reference = np.zeros((len(features), len(rows), n_features), dtype=np.bool_)
            from_reference[np.arange(len(features)), :, features] = True
            hybrids = mixer.apply(
                self._encode, np.tile(rows, len(features)), from_reference.reshape(-1, n_features)
            ).reshape(len(features), len(rows), -1)
            for feature, changed in zip(features.tolist(), hybrids, strict=True):
                self._assign_columns(owner, np.flatnonzero(_find_differences(changed, encoded).any(axis=0)), feature)
        self._owner, self.column_feature = owner, np.maximum(owner, 0)

    def _assign_columns(self, owner: IntArray, columns: IntArray, feature: int) -> None:
        owners = owner[columns]
        conflict = (owners >= 0) & (owners != feature)
        if conflict.any():
            column = int(columns[conflict][0])
            one, other = self._space.features[owner[column]], self._space.features[feature]
            group = {f"{one.name} and {other.name}": [*one.columns, *other.columns]}
            raise CannotReadError(
                f"encoded column {column} depends on more than one feature ({one.name!r} and {other.name!r}); if "
                f"they may move as one, groups={group} makes one feature of them, for the exact search"
            )
        owner[columns] = feature

    def _check_mixtures(self, mixer: Mixer, rows: IntArray, encoded: FloatArray, others: FloatArray) -> None:
        """Mix several features at once, before and after encoding: both must agree."""
        generator = np.random.default_rng(0)
        from_reference = generator.random((len(rows), len(self._space))) < 0.5
        expected = np.where(from_reference[:, self.column_feature], others, encoded)
        wrong = _find_differences(mixer.apply(self._encode, rows, from_reference), expected)
        if wrong.any():
            column = int(wrong.any(axis=0).argmax())
            raise CannotReadError(f"encoded column {column} depends on more than one feature")


def _find_differences(one: FloatArray, other: FloatArray) -> BoolArray:
    different: BoolArray = (one != other) & ~(np.isnan(one) & np.isnan(other))
    return different
