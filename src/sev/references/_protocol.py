"""What a reference is: the rows that queries are compared with, and which row each query gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import pandas as pd

from sev.exceptions import InputError, PositiveReferenceError
from sev.space import FeatureSpace, TableForm, is_quantity
from sev.typing import BoolArray, Cell, ColumnLabel, IntArray, NativeTable


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

    Examples
    --------
    The background that a reference of your own receives; :doc:`/extending` shows one.
    >>> class Youngest:
    ...     def fit(self, background):
    ...         accepted = background.rows[background.negatives]
    ...         return sev.references.FittedReference(accepted.sort_values("age").head(1), "the youngest")
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> explainer.with_reference(Youngest(), X).explain_one(X.iloc[5]).reference.to_dict()
    {'debt': 2, 'late': 0, 'age': 30}
    """

    rows: pd.DataFrame
    negatives: BoolArray
    form: TableForm
    space: FeatureSpace
    is_positive: Callable[[pd.DataFrame], BoolArray]
    categories: frozenset[ColumnLabel] = frozenset()

    def is_quantity(self, column: ColumnLabel) -> bool:
        """Whether a column holds quantities, of which a mean makes sense.

        Parameters
        ----------
        column : object
            A column of the rows.

        Returns
        -------
        bool
            False for text, booleans, and numbers that the model takes as categories.
        """
        return column not in self.categories and is_quantity(self.rows[column].dtype)

    @cached_property
    def accepted(self) -> BoolArray:
        """The rows that are not of the class being explained and that the model does not predict so either."""
        accepted = self.negatives.copy()
        accepted[accepted] = ~self.is_positive(self.rows.loc[self.negatives])
        if not accepted.any():
            raise PositiveReferenceError(
                "The model predicts every background row of the other class as the class being explained, so no row "
                "can serve as reference: raise `threshold`, or look at the model first."
            )
        return accepted

    def among(self, chosen: BoolArray) -> Background:
        """The same background, with only some of the rows of the other class left as such.

        Parameters
        ----------
        chosen : ndarray of bool, shape (n_rows,)
            The rows that may stay.

        Returns
        -------
        Background
            A new one; all rows are still in it.
        """
        return replace(self, negatives=self.negatives & chosen)


@runtime_checkable
class Assignment(Protocol):
    """How queries find their reference rows, as plain values that can be saved."""

    def bind(self, rows: pd.DataFrame) -> Callable[[pd.DataFrame], IntArray]:
        """The function from queries to numbers of these reference rows.

        Parameters
        ----------
        rows : DataFrame
            Reference rows.

        Returns
        -------
        callable
            From queries to places of rows.
        """
        ...


@dataclass(frozen=True, eq=False)
class FittedReference:
    """Reference rows, and how a query finds its own.

    Parameters
    ----------
    rows : DataFrame
        One row or several.
    name : str
        What it is, for people.
    assign : callable or Assignment, default=None
        Takes queries, returns the number of each one's reference row; with ``several``, shape (n_queries, k). None:
        all queries get the first row. An :class:`Assignment` can be saved, a function cannot.
    row_names : tuple of str, default=()
        A name for each row, for people; empty where the rows need none.
    several : bool, default=False
        Whether each query has several rows and is explained against the one that needs the fewest features; ties go to
        the first that it is assigned, else to the first in ``rows``.

    Examples
    --------
    >>> import pandas as pd
    >>> from sev.references import FittedReference
    >>> rows = pd.DataFrame({"age": [25, 55]})
    >>> fitted = FittedReference(rows, "by age", lambda queries: (queries["age"] >= 40).astype(int))
    >>> fitted.assigned(pd.DataFrame({"age": [30, 60]})).tolist()
    [0, 1]
    """

    rows: pd.DataFrame
    name: str
    assign: Callable[[pd.DataFrame], IntArray] | Assignment | None = None
    row_names: tuple[str, ...] = ()
    several: bool = False

    def candidates(self, queries: pd.DataFrame) -> IntArray:
        """Numbers of the reference rows that each query is compared with, shape (n_queries, k).

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.

        Returns
        -------
        ndarray of int, shape (n_queries, k)
            Places in ``rows``.

        Raises
        ------
        InputError
            If the assignment returns a place that is not there, or not one for each query.
        """
        if self._assign is None:
            return np.zeros((len(queries), 1), dtype=np.int64)
        numbers = np.asarray(self._assign(queries), dtype=np.int64)
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(self.rows):
            raise InputError(
                f"The assign function of the reference ({self.name}) returned row numbers from {numbers.min()} to "
                f"{numbers.max()}, but the reference has {len(self.rows)} rows, numbered from 0."
            )
        return numbers[:, None] if numbers.ndim == 1 else numbers

    @property
    def takes_all(self) -> bool:
        """Whether every query is known to be compared with every row."""
        return self.several and getattr(self.assign, "takes_all", False)

    def assigned(self, queries: pd.DataFrame) -> IntArray:
        """Number of the first reference row of each query.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.

        Returns
        -------
        ndarray of int, shape (n_queries,)
            Places in ``rows``.
        """
        return np.ascontiguousarray(self.candidates(queries)[:, 0])

    @cached_property
    def _assign(self) -> Callable[[pd.DataFrame], IntArray] | None:
        return self.assign.bind(self.rows) if isinstance(self.assign, Assignment) else self.assign

    def __getstate__(self) -> dict[str, object]:
        """Without what is made on demand."""
        return {name: value for name, value in self.__dict__.items() if name != "_assign"}


#: What can be passed as ``reference=``: an object with ``fit``, its name, one row, or a table with one row.
ReferenceLike: TypeAlias = "Reference | str | Mapping[ColumnLabel, Cell] | Sequence[Cell] | NativeTable"


@runtime_checkable
class Reference(Protocol):
    """Any object with this method can be passed as ``reference=``.

    Examples
    --------
    >>> import sev
    >>> isinstance(sev.references.Nearest(), sev.references.Reference)
    True
    """

    def fit(self, background: Background) -> FittedReference:
        """Find the reference rows.

        Parameters
        ----------
        background : Background
            The rows to choose from, and the model's decision about rows.

        Returns
        -------
        FittedReference
            One row or several.
        """
        ...
