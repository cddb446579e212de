"""Boosted trees whose decisions need few reasons."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.ensemble import GradientBoostingClassifier

from sev.training._estimators import SEVClassifier
from sev.training._settings import Family


class SEVGradientBoostingClassifier(SEVClassifier):
    """Boosted trees, re-weighted so that their decisions need few reasons.

    The trees of a fitted ensemble stay as they are; each gets a new weight. ``base_estimator`` may be scikit-learn's
    ``GradientBoostingClassifier`` (the default, 200 trees of depth 3) or ``HistGradientBoostingClassifier``, XGBoost's
    ``XGBClassifier`` or LightGBM's ``LGBMClassifier``, and the fitted model is one of the same class with scaled
    leaves. Parameters and attributes are those of :class:`SEVLogisticRegression`, save that there is no "volume" and no
    ``coef_``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> import sev
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> y = (X.sum(axis=1) + rng.normal(size=300) > 0).astype(int)
    >>> base = HistGradientBoostingClassifier(max_iter=30)
    >>> model = sev.SEVGradientBoostingClassifier(base_estimator=base, random_state=0).fit(X, y)
    >>> type(model.final_estimator_).__name__
    'HistGradientBoostingClassifier'
    """

    _family: ClassVar[Family] = "trees"

    def _default_base(self, seed: int, n_rows: int) -> Any:
        return GradientBoostingClassifier(n_estimators=200, max_depth=3, random_state=seed)
