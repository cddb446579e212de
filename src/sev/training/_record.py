"""What an optimisation did."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True, eq=False)
class OptimizationRecord:
    """The path that was walked, the choice, and why.

    Parameters
    ----------
    objective : str
        What was to be made short.
    path : DataFrame
        One line for each penalty, the first of 0 being the model as it was: accuracy, auc, positive_rate, sev (mean
        size, unexplainable rows counted as the number of features), share_of_one, unexplainable, reference_score,
        whether it is acceptable, and if not, why. Measured on rows that the models of the path were not trained on.
    chosen : float or None
        The penalty of the model that was returned; None: the model as it was.
    reason : str
        What was done and why, in a sentence or two.
    validation : str
        How the path was measured.
    """

    objective: str
    path: pd.DataFrame
    chosen: float | None
    reason: str
    validation: str

    def __str__(self) -> str:
        return f"{self.reason} Measured by {self.validation}."
