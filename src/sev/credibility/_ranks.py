"""From ordinariness to credibility: the share of real rows of the other class that are less ordinary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sev.credibility._function import FittedFunction, Function
from sev.credibility._isolation import IsolationForest
from sev.credibility._mixture import GaussianMixture
from sev.credibility._neighbours import NearestNeighbours
from sev.credibility._protocol import FittedMeasure, Measure, OtherRows
from sev.exceptions import InputError
from sev.space import TableForm
from sev.typing import BoolArray, FloatArray, IntArray, NativeTable

_NAMES: dict[str, Measure] = {
    "isolation": IsolationForest(),
    "mixture": GaussianMixture(),
    "neighbours": NearestNeighbours(),
}


#: What a user may pass as ``credibility=``: None, a name, a measure, or a function from rows to numbers.
CredibilityLike: TypeAlias = "str | Measure | Function | Callable[[NativeTable], ArrayLike] | None"


def as_measure(given: CredibilityLike) -> Measure | Function:
    """Turn what a user passes as ``credibility=`` into a measure.

    Parameters
    ----------
    given : None, str, measure or callable
        None is an :class:`IsolationForest`; a name is "isolation", "mixture" or "neighbours"; a callable takes rows in
        the form that the model takes and returns one number for each, the larger the more ordinary.

    Returns
    -------
    Measure or Function
        Something to fit.

    Raises
    ------
    InputError
        If a name is not known, or an object is no measure.
    """
    if given is None:
        return IsolationForest()
    if isinstance(given, str):
        if given in _NAMES:
            return _NAMES[given]
        raise InputError(f"credibility={given!r} is not known: use {', '.join(_NAMES)}, a measure or a callable.")
    if isinstance(given, Measure | Function) and not isinstance(given, type):
        return given
    if callable(given) and not isinstance(given, type):
        return Function(given)
    raise InputError(
        f"credibility={given!r} is neither a measure of sev.credibility nor a callable: use for example "
        "sev.credibility.IsolationForest()."
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Credibility:
    """How ordinary rows are among real rows of the other class, as a share of these.

    Parameters
    ----------
    measure : FittedMeasure or FittedFunction
        Says how ordinary rows are.
    ranks : ndarray
        The ordinariness of real rows of the other class, sorted.
    """

    measure: FittedMeasure | FittedFunction
    ranks: FloatArray

    @classmethod
    def of(cls, given: CredibilityLike, others: OtherRows) -> Credibility:
        """Fit a measure on rows of the other class.

        Parameters
        ----------
        given : object
            What a user passed as ``credibility=``.
        others : OtherRows
            Rows of the other class.

        Returns
        -------
        Credibility
            The fitted measure with its ranks.
        """
        measure = as_measure(given).fit(others)
        return cls(measure=measure, ranks=np.sort(measure.ordinariness_of_real(others)))

    @property
    def name(self) -> str:
        """What it is measured by, for people."""
        return self.measure.name

    def shares(self, ordinariness: FloatArray) -> FloatArray:
        """The share of real rows that are less ordinary; NaN stays NaN.

        Parameters
        ----------
        ordinariness : ndarray of float64
            As the measure returns it.

        Returns
        -------
        ndarray of float64
            Between 0 and 1.
        """
        found = np.searchsorted(self.ranks, ordinariness, side="left") / len(self.ranks)
        return np.where(np.isnan(ordinariness), np.nan, found)

    def more_than(self, share: float) -> float:
        """The ordinariness that a row must exceed to have at least this credibility.

        Parameters
        ----------
        share : float
            A credibility between 0 and 1.

        Returns
        -------
        float
            An ordinariness.
        """
        if not share > 0.0:
            return -np.inf
        # the first number of less ordinary rows that is a large enough share, by the very division that shares() makes
        counts = np.arange(len(self.ranks) + 1) / len(self.ranks)
        enough = int(np.searchsorted(counts, share, side="left"))
        return float(self.ranks[enough - 1]) if enough <= len(self.ranks) else np.inf

    def of_rows(self, rows: pd.DataFrame, form: TableForm) -> FloatArray:
        """The credibility of whole rows.

        Parameters
        ----------
        rows : DataFrame
            Rows.
        form : TableForm
            Columns and dtypes of the rows.

        Returns
        -------
        ndarray of float64
            Between 0 and 1; NaN where the measure is NaN.
        """
        if isinstance(self.measure, FittedFunction):
            return self.shares(self.measure.ordinariness_of_rows(form.to_native(rows)))
        return self.shares(self.measure.ordinariness(self.measure.encode(rows)))


class MixedCredibility:
    """The ordinariness of rows that are mixed from queries and references, without building them.

    Parameters
    ----------
    measure : FittedMeasure
        Says how ordinary rows are.
    queries, references : DataFrame
        Rows of the common form.
    assigned : ndarray of int
        For each query, the number of its reference.
    """

    def __init__(
        self, measure: FittedMeasure, queries: pd.DataFrame, references: pd.DataFrame, assigned: IntArray
    ) -> None:
        self._measure = measure
        self.queries = measure.encode(queries)
        self.references = measure.encode(references)
        self._assigned = assigned

    def ordinariness(self, rows: IntArray, from_reference: BoolArray) -> FloatArray:
        """Of vertices: the query of each, and the features that it takes from the reference.

        Parameters
        ----------
        rows : ndarray of int64
            Places of queries.
        from_reference : ndarray of bool
            Of shape (n_vertices, n_features).

        Returns
        -------
        ndarray of float64
            One for each vertex.
        """
        chosen = from_reference[:, self._measure.column_feature]
        mixed = np.where(chosen, self.references[self._assigned[rows]], self.queries[rows])
        return self._measure.ordinariness(mixed)
