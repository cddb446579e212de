"""How near real rows of the other class are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from sev.credibility._checks import check_integers
from sev.credibility._protocol import OtherRows
from sev.references import Distance, NearestRows, spread_evenly
from sev.typing import FloatArray, IntArray


@dataclass(frozen=True)
class NearestNeighbours:
    """The distance to the k-th nearest real row of the other class: the smaller, the more ordinary.

    Numbers are compared in standard deviations of the other class; a category, a boolean or a one-hot block counts 1
    where it differs.

    Parameters
    ----------
    k : int, default=5
        Which neighbour. A real row is not its own neighbour.
    max_rows : int, default=5_000
        Largest number of rows to compare with; of a longer table, this many evenly spaced rows.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> measured = sev.Explainer(explainer.model, X, y, credibility=sev.credibility.NearestNeighbours(1))
    >>> 0 <= measured.explain_one(X.iloc[5]).credibility <= 1
    True
    """

    k: int = 5
    max_rows: int = 5_000

    def __post_init__(self) -> None:
        check_integers(self, k=1, max_rows=1)

    def fit(self, others: OtherRows) -> FittedNearestNeighbours:
        """Keep the rows.

        Parameters
        ----------
        others : OtherRows
            Rows of the other class.

        Returns
        -------
        FittedNearestNeighbours
            The fitted measure.
        """
        rows = others.rows.iloc[spread_evenly(len(others.rows), self.max_rows)].reset_index(drop=True)
        distance = others.distance
        owners = (
            *(one.column for one in distance.numbers for _ in range(2)),
            *(columns[0] for columns in distance.matches),
        )
        return FittedNearestNeighbours(
            rows=rows, distance=distance, features=others.features_of(owners), k=min(self.k, len(rows))
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedNearestNeighbours:
    """Real rows, and how far others are from them.

    Parameters
    ----------
    rows : DataFrame
        The rows.
    distance : Distance
        How far rows are from each other.
    features : ndarray of int
        The feature of each encoded column.
    k : int
        Which neighbour counts.
    """

    rows: pd.DataFrame
    distance: Distance
    features: IntArray
    k: int

    @property
    def name(self) -> str:
        """What it is, for people."""
        return f"distance to neighbour {self.k} of {len(self.rows)} real rows"

    @property
    def column_feature(self) -> IntArray:
        """The feature that each encoded column belongs to."""
        return self.features

    def encode(self, rows: pd.DataFrame) -> FloatArray:
        """Numbers and codes side by side.

        Parameters
        ----------
        rows : DataFrame
            Rows.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows, n_numbers + n_codes).
        """
        numbers, codes = self._nearest.encode(rows)
        return np.hstack([numbers, codes.astype(np.float64)])

    def ordinariness(self, encoded: FloatArray) -> FloatArray:
        """Distances with a minus sign.

        Parameters
        ----------
        encoded : ndarray of float64
            Encoded rows.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,), none above 0.
        """
        return self._minus_distance(encoded, self.k)

    def ordinariness_of_real(self, others: OtherRows) -> FloatArray:
        """Of the rows themselves, none of which is its own neighbour.

        Parameters
        ----------
        others : OtherRows
            Rows of the other class.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,), none above 0.
        """
        return self._minus_distance(self.encode(self.rows), min(self.k + 1, len(self.rows)))

    def _minus_distance(self, encoded: FloatArray, k: int) -> FloatArray:
        n_numbers = 2 * len(self.distance.numbers)
        numbers, codes = encoded[:, :n_numbers], encoded[:, n_numbers:].astype(np.int64)
        found = self._nearest.find_encoded(numbers, codes, k)[:, -1]
        return -np.sqrt(self._nearest.squares(numbers, codes, found))

    @cached_property
    def _nearest(self) -> NearestRows:
        return NearestRows(self.rows, self.distance)

    def __getstate__(self) -> dict[str, object]:
        """Without what is made on demand."""
        return {name: value for name, value in self.__dict__.items() if name != "_nearest"}
