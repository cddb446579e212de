"""What an optimisation did."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True, eq=False)
class OptimizationRecord:
    """The penalties that were tried, the choice, and why.

    Parameters
    ----------
    objective : str
        Which explanations were to be made short.
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
    against : DataFrame
        Mean SEV against the mean, the nearest typical row of a group, the nearest real row and the reference that the
        model was tuned for, before and after tuning, on the same rows as the path: decisions may need few features
        against one artificial row only. NaN where the model predicts every such reference positive.

    Examples
    --------
    >>> import numpy as np, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> y = (X.sum(axis=1) > 0).astype(int)
    >>> limits = {"max_accuracy_loss": 0.1, "max_rate_change": 0.3}
    >>> model, record = sev.optimize(LogisticRegression().fit(X, y), X, y, penalties=[1.0], **limits)
    >>> record.path.index.tolist()
    [0.0, 1.0]
    """

    objective: str
    path: pd.DataFrame
    chosen: float | None
    reason: str
    validation: str
    against: pd.DataFrame

    def __str__(self) -> str:
        sizes = [
            f"{name} {line['before']:.2f}" + ("" if self.chosen is None else f" -> {line['after']:.2f}")
            for name, line in self.against.iterrows()
        ]
        return f"{self.reason} Mean SEV against other references: {', '.join(sizes)}. Measured by {self.validation}."
