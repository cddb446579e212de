"""The real row closest to a typical one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sev.references._protocol import Background, FittedReference
from sev.references._typical import Typical
from sev.typing import FloatArray


@dataclass(frozen=True)
class NearestToMean:
    """Of the real rows of the other class that the model also predicts so, the one nearest to the mean.

    Distances add up the columns: numbers in standard deviations, one for every other value that differs.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> sev.Explainer(explainer.model, X, y, reference=sev.references.NearestToMean()).reference.to_dict("records")
    [{'debt': 0, 'late': 0, 'age': 40}]
    """

    def fit(self, background: Background) -> FittedReference:
        """Find the row.

        Parameters
        ----------
        background : Background
            The rows to choose from.

        Returns
        -------
        FittedReference
            One row.
        """
        candidates = background.rows.loc[background.accepted]
        centre = Typical("mean").fit(background).rows
        nearest = int(np.argmin(_measure_distances(candidates, centre, background)))
        return FittedReference(candidates.iloc[[nearest]].reset_index(drop=True), "nearest real row")


def _measure_distances(rows: pd.DataFrame, centre: pd.DataFrame, background: Background) -> FloatArray:
    total = np.zeros(len(rows))
    for column in rows.columns:
        values, middle = rows[column], centre[column].iloc[0]
        if background.is_quantity(column) and values.dtype.kind not in "mM":
            numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
            spread = float(np.nanstd(numbers)) if np.isfinite(numbers).any() else 0.0
            gap = np.abs(numbers - float(middle)) / spread if spread > 0 else np.zeros(len(rows))
            total += np.nan_to_num(gap, nan=1.0)
        else:
            total += (values != middle).to_numpy(dtype=np.float64, na_value=1.0)
    return total
