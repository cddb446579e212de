"""The default: the mean if the model calls it negative, else the next best."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from sev.exceptions import ReferenceWarning
from sev.references._nearest import NearestRow
from sev.references._protocol import Background, FittedReference
from sev.references._typical import Typical


@dataclass(frozen=True)
class Auto:
    """The first of mean, median and nearest real row that the model does not predict as the class being explained.

    Warns when it is not the mean.
    """

    def fit(self, background: Background) -> FittedReference:
        """Try one after the other."""
        for candidate in (Typical("mean"), Typical("median"), NearestRow()):
            fitted = candidate.fit(background)
            if not background.is_positive(fitted.rows).any():
                break
        if fitted.name != "mean":
            warnings.warn(
                f"The mean of the background is itself predicted as the class being explained; the reference is the "
                f"{fitted.name} instead. Pass reference= to choose another.",
                ReferenceWarning,
                stacklevel=4,
            )
        return fitted
