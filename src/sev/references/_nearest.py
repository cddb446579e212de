"""The real row closest to a typical one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sev.exceptions import PositiveReferenceError
from sev.references._protocol import Background, FittedReference
from sev.references._typical import Typical
from sev.typing import FloatArray


@dataclass(frozen=True)
class NearestRow:
    """Of the real rows of the other class that the model also predicts so, the one nearest to the mean.

    Distances add up the columns: numbers in standard deviations, one for every other value that differs.
    """

    def fit(self, background: Background) -> FittedReference:
        """Find the row."""
        candidates = background.rows.loc[background.negatives]
        candidates = candidates.loc[~background.is_positive(candidates)]
        if candidates.empty:
            raise PositiveReferenceError(
                "The model predicts every background row of the other class as the class being explained, so no row "
                "can serve as reference: raise `threshold`, or look at the model first."
            )
        centre = Typical("mean").fit(background).rows
        nearest = int(np.argmin(_distances(candidates, centre, background)))
        return FittedReference(candidates.iloc[[nearest]].reset_index(drop=True), "nearest real row")


def _distances(rows: pd.DataFrame, centre: pd.DataFrame, background: Background) -> FloatArray:
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
