"""The one problem that every solver solves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from sev.typing import BoolArray, FloatArray, IntArray, Kind

if TYPE_CHECKING:
    from sev import _native


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Where a search may stop early; it then reports what it knows.

    Parameters
    ----------
    max_size : int or None
        Look no further than sets of this many features.
    max_sets : int
        How many minimum sets to list for a row.
    time_limit : float or None
        Seconds for one row.
    max_predictions : int or None
        Rows that a black box may score for one query.
    first_only : bool
        Only the first minimum set is wanted now; a solver that can list the others later leaves them out.
    within_size : bool
        Only sets of at most ``max_size`` matter: a solver may leave open whether larger ones exist.
    """

    max_size: int | None = None
    max_sets: int = 100
    time_limit: float | None = None
    max_predictions: int | None = None
    first_only: bool = False
    within_size: bool = False


class PackedTrees(Protocol):
    """Trees that compiled code can walk."""

    @property
    def native(self) -> _native.Forest:
        """The trees, as compiled code has them."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class SecondSum:
    """A sum over trees that must be large enough as well, in a form that bounds can be computed from.

    Parameters
    ----------
    forest : PackedTrees
        The trees, such as a :class:`sev.backends.trees.Forest`.
    queries : ndarray of shape (n_rows, n_columns)
        Queries in the encoding of these trees.
    reference : ndarray of shape (n_columns,)
        The reference in the same encoding.
    column_feature : ndarray of shape (n_columns,)
        The feature that each of its columns belongs to.
    at_least : float
        What the sum must reach. No sum is so near to it that rounding could decide.
    """

    forest: PackedTrees
    queries: FloatArray
    reference: FloatArray
    column_feature: IntArray
    at_least: float

    def take(self, rows: IntArray) -> SecondSum:
        """The same for some of the rows.

        Parameters
        ----------
        rows : ndarray of int64
            Places of rows.

        Returns
        -------
        SecondSum
            A copy.
        """
        return replace(self, queries=self.queries[rows])


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Take each row across the decision by changing the fewest features.

    For a set S of features, the *vertex* of a row is, for ``kind="minus"``, the query with the features in S taken
    from the reference; for ``kind="plus"``, the reference with the features in S taken from the query. S *crosses*
    when its vertex is on the other side of the decision than the vertex of the empty set. All rows here are known
    to start on the near side.

    Solvers that know the model's form work on ``queries``, ``reference`` and margins. A vertex with a margin below
    ``low`` is certainly on the lower side, one above ``high`` certainly on the upper side; in between (a tie, or
    closer than rounding can tell) only the model itself decides: call :meth:`crosses`.

    Parameters
    ----------
    kind : {"minus", "plus"}
        Which end of the path moves.
    direction : {-1, 1}
        -1: a set crosses when the margin falls below the decision; 1: when it rises above.
    low, high : float
        The band of margins in which the model itself must be scored. It covers the model's link and threshold; a
        solver widens it by the rounding of its own sums.
    queries : ndarray of shape (n_rows, n_columns)
        Encoded queries, contiguous and writable. Empty (no columns) for a black box.
    reference : ndarray of shape (n_columns,)
        The encoded reference.
    column_feature : ndarray of shape (n_columns,)
        The feature that each encoded column belongs to.
    active : ndarray of bool, shape (n_rows, n_features)
        Features that may be in S: allowed, and not the same in query and reference.
    evaluate : callable
        ``evaluate(rows, sets)`` returns the model's own scores of vertices: ``rows`` are row numbers of this problem,
        ``sets`` a bool array (len(rows), n_features) of the S of each.
    is_across : callable
        Which scores are across the decision.
    across_sign : {-1, 1}
        Whether scores across the decision are smaller (-1) or larger (1).
    limits : Limits
        Where to stop early.
    accepts : callable or None
        ``accepts(rows, sets)`` says which vertices count at all; None: all do. A set whose vertex does not is passed
        over, as if it did not cross.
    second : SecondSum or None
        The part of ``accepts`` that is a sum over trees, for solvers that can use it to search less.
    second_is_all : bool
        Whether ``accepts`` says nothing else.
    """

    kind: Kind
    direction: int
    low: float
    high: float
    queries: FloatArray
    reference: FloatArray
    column_feature: IntArray
    active: BoolArray
    evaluate: Callable[[IntArray, BoolArray], FloatArray]
    is_across: Callable[[FloatArray], BoolArray]
    across_sign: int
    limits: Limits = field(default_factory=Limits)
    accepts: Callable[[IntArray, BoolArray], BoolArray] | None = None
    second: SecondSum | None = None
    second_is_all: bool = False

    @property
    def n_rows(self) -> int:
        """Number of queries."""
        return self.active.shape[0]

    @property
    def n_features(self) -> int:
        """Number of features, active or not."""
        return self.active.shape[1]

    def crosses(self, rows: IntArray, sets: BoolArray) -> BoolArray:
        """Which sets cross, by the model's own scores.

        Parameters
        ----------
        rows : ndarray of int64
            The row of each set.
        sets : ndarray of bool
            Of shape (len(rows), n_features).

        Returns
        -------
        ndarray of bool
            One for each set.
        """
        return self.is_across(self.evaluate(rows, sets))
