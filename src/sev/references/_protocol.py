"""What a reference is: the rows that queries are compared with, and which row each query gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from sev.space import FeatureSpace, TableForm, is_quantity
from sev.typing import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Background:
    """All that a reference may look at.

    Parameters
    ----------
    rows : DataFrame
        Background rows.
    negatives : ndarray of bool
        The rows that are not of the class being explained, by label or, without labels, by prediction.
    form : TableForm
        Column names and dtypes.
    space : FeatureSpace
        Which columns move together.
    is_positive : callable
        The model's decision about rows of the same form.
    categories : frozenset of columns, default=frozenset()
        Columns that the model takes as categories, whatever their dtype.
    """

    rows: pd.DataFrame
    negatives: BoolArray
    form: TableForm
    space: FeatureSpace
    is_positive: Callable[[pd.DataFrame], BoolArray]
    categories: frozenset[Any] = frozenset()

    def is_quantity(self, column: Any) -> bool:
        """Whether a column holds quantities, of which a mean makes sense."""
        return column not in self.categories and is_quantity(self.rows[column].dtype)


@dataclass(frozen=True, eq=False)
class FittedReference:
    """Reference rows, and how a query finds its own.

    Parameters
    ----------
    rows : DataFrame
        One row or several.
    name : str
        What it is, for people.
    assign : callable, default=None
        Takes queries, gives the number of each one's reference row. None: all get the first.
    """

    rows: pd.DataFrame
    name: str
    assign: Callable[[pd.DataFrame], IntArray] | None = None

    def assigned(self, queries: pd.DataFrame) -> IntArray:
        """Number of each query's reference row."""
        if self.assign is None:
            return np.zeros(len(queries), dtype=np.int64)
        return np.asarray(self.assign(queries), dtype=np.int64)


@runtime_checkable
class Reference(Protocol):
    """Anything with this one method can be given as ``reference=``."""

    def fit(self, background: Background) -> FittedReference:
        """Find the reference rows."""
        ...
