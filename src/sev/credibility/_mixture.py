"""The density of a row under a mixture of normal distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sev.credibility._checks import check_integers
from sev.credibility._protocol import OtherRows
from sev.exceptions import InputError
from sev.references import Points
from sev.typing import FloatArray, IntArray

#: Rows whose densities are in memory at once.
_ROWS_AT_ONCE = 4096
#: Digits of a log-density that do not depend on which rows are beside it.
_DIGITS = 9


@dataclass(frozen=True)
class GaussianMixture:
    """The log-density of a row under a mixture of normal distributions.

    Numbers are in standard deviations of the other class, with one more coordinate for being missing; each common value
    of a category is a coordinate.

    Parameters
    ----------
    n_components : int, default=5
        Number of normal distributions.
    regularisation : float, default=1e-3
        Added to the variances, in squared standard deviations.
    seed : int, default=0
        Of the start.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> measured = sev.Explainer(explainer.model, X, y, credibility=sev.credibility.GaussianMixture(1))
    >>> 0 <= measured.explain_one(X.iloc[5]).credibility <= 1
    True
    """

    n_components: int = 5
    regularisation: float = 1e-3
    seed: int = 0

    def __post_init__(self) -> None:
        check_integers(self, n_components=1, seed=0)
        if not self.regularisation > 0:
            raise InputError(f"GaussianMixture(regularisation={self.regularisation!r}): it must be above 0.")

    def fit(self, others: OtherRows) -> FittedGaussianMixture:
        """Fit the distributions.

        Parameters
        ----------
        others : OtherRows
            Rows of the other class.

        Returns
        -------
        FittedGaussianMixture
            The fitted measure.
        """
        from sklearn.mixture import GaussianMixture as Fitter

        points = Points.of(others.rows, others.distance)
        encoded = points.transform(others.rows)
        # with fewer different rows than components some would be empty
        n_components = max(1, min(self.n_components, len(np.unique(encoded, axis=0)) // 2))
        fitter = Fitter(n_components, reg_covar=self.regularisation, random_state=self.seed).fit(encoded)
        return FittedGaussianMixture(
            points=points,
            features=others.features_of(points.column_owners()),
            log_weights=np.log(fitter.weights_),
            means=fitter.means_,
            factors=fitter.precisions_cholesky_,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedGaussianMixture:
    """Normal distributions over the coordinates of rows.

    Parameters
    ----------
    points : Points
        Rows to coordinates.
    features : ndarray of int
        The feature of each coordinate.
    log_weights : ndarray of shape (n_components,)
        Logarithms of the weights.
    means : ndarray of shape (n_components, n_coordinates)
        Centres.
    factors : ndarray of shape (n_components, n_coordinates, n_coordinates)
        For each a matrix whose product with its transpose is the inverse of the covariance.
    """

    points: Points
    features: IntArray
    log_weights: FloatArray
    means: FloatArray
    factors: FloatArray

    @property
    def name(self) -> str:
        """What it is, for people."""
        return f"mixture of {len(self.log_weights)} normal distributions"

    @property
    def column_feature(self) -> IntArray:
        """The feature that each encoded column belongs to."""
        return self.features

    def encode(self, rows: pd.DataFrame) -> FloatArray:
        """Rows as coordinates.

        Parameters
        ----------
        rows : DataFrame
            Rows.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows, n_coordinates).
        """
        return self.points.transform(rows)

    def ordinariness(self, encoded: FloatArray) -> FloatArray:
        """Log-densities.

        Parameters
        ----------
        encoded : ndarray of float64
            Encoded rows.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).
        """
        found = np.empty(len(encoded))
        for start in range(0, len(encoded), _ROWS_AT_ONCE):
            some = slice(start, start + _ROWS_AT_ONCE)
            found[some] = self._log_densities(encoded[some])
        return np.round(found, _DIGITS)

    def ordinariness_of_real(self, others: OtherRows) -> FloatArray:
        """Of the rows that it was fitted on.

        Parameters
        ----------
        others : OtherRows
            Rows of the other class.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).
        """
        return self.ordinariness(self.encode(others.rows))

    def _log_densities(self, encoded: FloatArray) -> FloatArray:
        parts = np.empty((len(encoded), len(self.log_weights)))
        n_coordinates = encoded.shape[1]
        for number, (log_weight, mean, factor) in enumerate(
            zip(self.log_weights, self.means, self.factors, strict=True)
        ):
            scaled = (encoded - mean) @ factor
            # the factor is triangular: its determinant is the product of its diagonal
            constant = log_weight + np.log(np.diagonal(factor)).sum() - 0.5 * n_coordinates * np.log(2.0 * np.pi)
            parts[:, number] = constant - 0.5 * (scaled**2).sum(axis=1)
        return np.asarray(np.logaddexp.reduce(parts, axis=1))
