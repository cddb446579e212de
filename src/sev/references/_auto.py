"""The default: a typical row that people can have, if the model calls it negative, else the next best."""

from __future__ import annotations

from dataclasses import dataclass

from sev.core import warn_user
from sev.exceptions import ReferenceWarning
from sev.references._near_mean import NearestToMean
from sev.references._protocol import Background, FittedReference
from sev.references._typical import Typical


@dataclass(frozen=True)
class Auto:
    """The first of mean, median and nearest real row that the model does not predict as the class being explained.

    Warns when it is not the mean.

    Parameters
    ----------
    observed_integers : bool, default=True
        Whether columns of integers take the value that occurs nearest to their mean or median, so that nobody is
        compared with 1.96 children.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> sev.Explainer(explainer.model, X, y, reference=sev.references.Auto()).reference.to_dict("records")
    [{'debt': 1, 'late': 0, 'age': 40}]
    """

    observed_integers: bool = True

    def fit(self, background: Background) -> FittedReference:
        """Try one after the other.

        Parameters
        ----------
        background : Background
            The rows to choose from.

        Returns
        -------
        FittedReference
            One row.
        """
        mean, median = (Typical(centre, self.observed_integers) for centre in ("mean", "median"))
        reasons = []
        for candidate in (mean, median):
            fitted = candidate.fit(background)
            reason = _why_not(fitted, background)
            if reason is None:
                break
            reasons.append(reason)
        else:
            fitted = NearestToMean().fit(background)
        if reasons:
            warn_user(
                f"The mean of the background {reasons[0]}; the reference is the {fitted.name} instead. Pass reference= "
                "to choose another.",
                ReferenceWarning,
            )
        return fitted


def _why_not(fitted: FittedReference, background: Background) -> str | None:
    """Why a row cannot be the reference; None when it can."""
    try:
        positive = background.is_positive(fitted.rows).any()
    except Exception as error:  # a row that nobody has may be one that the model does not take
        return f"is rejected by the model ({type(error).__name__}: {error})"
    return "is itself predicted as the class being explained" if positive else None
