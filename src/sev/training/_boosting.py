"""Boosted trees whose decisions need few reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier

from sev.training._estimators import SEVClassifier
from sev.training._settings import Family
from sev.typing import ColumnLabel

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sev.references import ReferenceLike
    from sev.training._weights import ClassWeight


class SEVGradientBoostingClassifier(SEVClassifier):
    """Boosted trees, re-weighted so that their decisions need few reasons.

    The trees of a fitted ensemble stay as they are; each gets a new weight. With ``grow``, trees that are fitted to the
    whole loss are added first: where short explanations are costly, that loses less accuracy.

    ``base_estimator`` may be scikit-learn's ``GradientBoostingClassifier`` (the default, 200 trees of depth 3) or
    ``HistGradientBoostingClassifier``, XGBoost's ``XGBClassifier``, LightGBM's ``LGBMClassifier`` or CatBoost's
    ``CatBoostClassifier``, and the fitted model is one of the same class with scaled leaves. Attributes are those of
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
    grow : int, default=0
        Trees to add before the re-weighting, for ``GradientBoostingClassifier`` only; 100 is a good number. They are
        of depth 3 and split a column only where a tenth of the rows lie between the split and the reference: a tree
        that isolates the reference alone would yield one meaningless reason for every decision.

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

    def __init__(
        self,
        objective: str = "minus",
        *,
        restricted: Iterable[str] = (),
        sev_penalty: float | None = None,
        reference_penalty: float = 10.0,
        rate_penalty: float | None = None,
        margin: float | None = None,
        schedule: str = "recipe",
        base_estimator: BaseEstimator | None = None,
        reference: ReferenceLike = "mean",
        groups: Mapping[str, Sequence[ColumnLabel]] | None = None,
        max_iter: int | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        early_stopping: bool = False,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | None = None,
        class_weight: ClassWeight = None,
        max_rate_change: float | None = 0.1,
        grow: int = 0,
    ) -> None:
        super().__init__(
            objective,
            restricted=restricted,
            sev_penalty=sev_penalty,
            reference_penalty=reference_penalty,
            rate_penalty=rate_penalty,
            margin=margin,
            schedule=schedule,
            base_estimator=base_estimator,
            reference=reference,
            groups=groups,
            max_iter=max_iter,
            learning_rate=learning_rate,
            batch_size=batch_size,
            early_stopping=early_stopping,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            random_state=random_state,
            verbose=verbose,
            class_weight=class_weight,
            max_rate_change=max_rate_change,
        )
        self.grow = grow

    def _default_base(self, seed: int, n_rows: int) -> BaseEstimator:
        return GradientBoostingClassifier(n_estimators=200, max_depth=3, random_state=seed)
