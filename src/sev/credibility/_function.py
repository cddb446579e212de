"""Ordinariness as the user computes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sev.credibility._protocol import OtherRows
from sev.exceptions import InputError
from sev.typing import FloatArray, NativeTable


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the user's own.

    Parameters
    ----------
    function : callable
        Takes rows in the form that the model takes, returns one number for each: the larger, the more ordinary. It
        cannot be saved with the explainer.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> own = sev.Explainer(explainer.model, X, y, credibility=lambda rows: -rows["debt"])
    >>> own.explain_one(X.iloc[5]).credibility
    0.3333333333333333
    """

    function: Callable[[NativeTable], ArrayLike]

    def fit(self, others: OtherRows) -> FittedFunction:
        """Nothing is learned.

        Parameters
        ----------
        others : OtherRows
            Rows of the other class.

        Returns
        -------
        FittedFunction
            The same function.
        """
        return FittedFunction(self.function)


@dataclass(frozen=True, eq=False)
class FittedFunction:
    """A function of rows; they are built for it.

    Parameters
    ----------
    function : callable
        As for :class:`Function`.
    """

    function: Callable[[NativeTable], ArrayLike]

    @property
    def name(self) -> str:
        """What it is, for people."""
        return f"the function {getattr(self.function, '__name__', type(self.function).__name__)}"

    def ordinariness_of_rows(self, rows: NativeTable) -> FloatArray:
        """What the function returns, as numbers.

        Parameters
        ----------
        rows : table or array
            Rows as the model takes them.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).
        """
        return np.asarray(self.function(rows), dtype=np.float64)

    def ordinariness_of_real(self, others: OtherRows) -> FloatArray:
        """Of real rows: all must have a number.

        Parameters
        ----------
        others : OtherRows
            Rows of the other class.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).

        Raises
        ------
        InputError
            If the function raises, returns NaN, or does not return one number for each row.
        """
        try:
            values = self.ordinariness_of_rows(others.form.to_native(others.rows))
        except Exception as error:
            raise InputError(
                f"The credibility function failed on the rows of the other class: {type(error).__name__}: {error}. It "
                "takes a table like the one that the model takes and returns one number for each row."
            ) from error
        if values.shape != (len(others.rows),):
            raise InputError(
                f"The credibility function returned an array of shape {values.shape} for {len(others.rows)} rows: it "
                "must return one number for each row."
            )
        if np.isnan(values).any():
            place = int(np.flatnonzero(np.isnan(values))[0])
            raise InputError(
                f"The credibility function returned NaN for a row of the other class (number {place}): it must return "
                "a number for each row."
            )
        return values
