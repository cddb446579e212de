"""A multi-layer perceptron whose decisions need few reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sklearn.neural_network import MLPClassifier

from sev.training._estimators import SEVClassifier
from sev.training._settings import Family

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


class SEVMLPClassifier(SEVClassifier):
    """Multi-layer perceptron, tuned so that its decisions need few reasons.

    Tuned in torch, but scikit-learn's ``MLPClassifier`` before and after: predictions need no torch. The base model is
    by default one of two hidden layers of 128 with early stopping; where it predicts nobody positive it is fitted again
    with up to three other seeds, and then without early stopping. Attributes are those of
    :class:`SEVLogisticRegression`, save ``coef_``.

    Parameters
    ----------
    objective : {"minus", "plus", "both"}, default="minus"
        As for :class:`SEVLogisticRegression`, without "volume".
    restricted, sev_penalty, reference_penalty, rate_penalty, margin, schedule, base_estimator, reference, groups
        As for :class:`SEVLogisticRegression`.
    max_iter, learning_rate, batch_size, early_stopping, n_iter_no_change, tol, random_state, verbose
        As for :class:`SEVLogisticRegression`.
    class_weight, max_rate_change
        As for :class:`SEVLogisticRegression`.

    Examples
    --------
    >>> import numpy as np
    >>> import sev
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> y = (X.sum(axis=1) + rng.normal(size=300) > 0).astype(int)
    >>> model = sev.SEVMLPClassifier(objective="plus", random_state=0).fit(X, y)
    >>> sev.Explainer(model, X, y).backend
    'networks'
    """

    _family: ClassVar[Family] = "network"

    def _default_base(self, seed: int, n_rows: int) -> BaseEstimator:
        # early stopping sets a tenth of the rows aside, which a handful does not allow
        return MLPClassifier((128, 128), early_stopping=n_rows >= 100, random_state=seed)
