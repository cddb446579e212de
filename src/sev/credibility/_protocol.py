"""What a measure of ordinariness is: fitted on rows of the other class, it says how ordinary a row is among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
import pandas as pd

from sev.references import Background, Distance, spread_evenly
from sev.space import FeatureSpace, TableForm
from sev.typing import BoolArray, ColumnLabel, FloatArray, IntArray

#: Rows of the other class that are kept: of more, as many, evenly spaced.
MOST_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class OtherRows:
    """Real rows of the other class, which credibility is measured against.

    Parameters
    ----------
    rows : DataFrame
        The rows.
    form, space : TableForm, FeatureSpace
        What rows look like and which columns move together.
    categories : frozenset of columns
        Columns that the model takes as categories, whatever their dtype.
    """

    rows: pd.DataFrame
    form: TableForm
    space: FeatureSpace
    categories: frozenset[ColumnLabel] = frozenset()

    @classmethod
    def of(cls, background: Background) -> OtherRows:
        """Those of a background; a copy, so that nobody changes them.

        Parameters
        ----------
        background : Background
            The rows to choose from.

        Returns
        -------
        OtherRows
            The rows that a measure learns from.
        """
        numbers = np.flatnonzero(background.negatives)
        kept = numbers[spread_evenly(len(numbers), MOST_ROWS)]
        rows = background.rows.iloc[kept].reset_index(drop=True).copy()
        return cls(rows, background.form, background.space, background.categories)

    @cached_property
    def distance(self) -> Distance:
        """The distance whose units are those of these rows."""
        everything = np.ones(len(self.rows), dtype=np.bool_)
        return Distance.of(Background(self.rows, everything, self.form, self.space, self._is_nothing, self.categories))

    def features_of(self, columns: tuple[ColumnLabel, ...]) -> IntArray:
        """The number of the feature that each column belongs to.

        Parameters
        ----------
        columns : tuple of object
            Columns of the rows.

        Returns
        -------
        ndarray of int64
            One for each column.
        """
        number = dict(zip(self.space.columns, self.space.column_feature.tolist(), strict=True))
        return np.array([number[column] for column in columns], dtype=np.int64)

    @staticmethod
    def _is_nothing(rows: pd.DataFrame) -> BoolArray:
        return np.zeros(len(rows), dtype=np.bool_)


@runtime_checkable
class FittedMeasure(Protocol):
    """Says how ordinary rows are, from numbers of which each depends on one feature only.

    A row that mixes two others can therefore be measured without being built.
    """

    @property
    def name(self) -> str:
        """What it is, for people."""
        ...

    @property
    def column_feature(self) -> IntArray:
        """The feature that each encoded column belongs to."""
        ...

    def encode(self, rows: pd.DataFrame) -> FloatArray:
        """Rows as numbers.

        Parameters
        ----------
        rows : DataFrame
            Rows.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows, n_numbers).
        """
        ...

    def ordinariness(self, encoded: FloatArray) -> FloatArray:
        """How ordinary encoded rows are, larger for more ordinary ones; identical in every batch.

        Parameters
        ----------
        encoded : ndarray of float64
            Encoded rows.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).
        """
        ...

    def ordinariness_of_real(self, others: OtherRows) -> FloatArray:
        """The same for the real rows that it was fitted on.

        Parameters
        ----------
        others : OtherRows
            Rows of the other class.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).
        """
        ...


@runtime_checkable
class Measure(Protocol):
    """Any object with this method can be passed as ``credibility=``.

    Examples
    --------
    >>> import sev
    >>> isinstance(sev.credibility.IsolationForest(), sev.credibility.Measure)
    True
    """

    def fit(self, others: OtherRows) -> FittedMeasure:
        """Learn what is ordinary from rows of the other class.

        Parameters
        ----------
        others : OtherRows
            Rows of the other class.

        Returns
        -------
        FittedMeasure
            The fitted measure.
        """
        ...
