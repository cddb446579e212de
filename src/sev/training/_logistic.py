"""Logistic regression whose decisions need few reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sklearn.linear_model import LogisticRegression

from sev.training._estimators import SEVClassifier
from sev.training._settings import Family

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


class SEVLogisticRegression(SEVClassifier):
    """Logistic regression, tuned so that its decisions need few reasons.

    A base model is fitted first. Its coefficients are then tuned so that one feature is enough to explain as many
    positive decisions as possible, while its probabilities and its share of positive predictions change as little as
    possible and the reference stays negative.

    Parameters
    ----------
    objective : {"minus", "plus", "both", "volume"}, default="minus"
        Which explanations should be short: SEV- (All-Opt-, and All-Opt(R) with ``restricted``), SEV+ (All-Opt+), both,
        or SEV+ by volume (Vol-Opt, linear models only).
    restricted : iterable of str, default=()
        Features that no explanation may use.
    sev_penalty : float, default=None
        Weight of the SEV term. None: it starts strong (2 to 3) and falls to about 1 as the probabilities move away from
        the base model's; 0.03 for "volume", 1 with ``schedule="paper"``.
    reference_penalty : float, default=10.0
        Weight of the term that keeps the reference negative.
    rate_penalty : float, default=None
        Weight of the term that keeps the share of positive predictions; None is 10, or 3 with ``restricted`` features
        (a decision that rests on these alone must change), or 0 with ``schedule="paper"``.
    margin : float, default=None
        How far beyond the threshold of one half the best neighbour (the row with one feature changed) should be, as a
        probability; None is 0.05, or 0 with ``schedule="paper"``.
    schedule : {"recipe", "paper"}, default="recipe"
        "recipe" starts at the base model and follows its probabilities. "paper" is the published schedule: random
        weights, 70 epochs of cross-entropy on the labels and 30 with the other terms, Adam with rate 0.1, batches of
        128.
    base_estimator : estimator, default=None
        Unfitted model of the same family to start from. None is a good default of the family.
    reference : {"mean", "median", "auto"}, row, table or object of :mod:`sev.references`, default="mean"
        What features are changed to; the same as for :class:`sev.Explainer`. With several reference rows, as of
        ``Clusters(5)`` or ``Nearest()``, each training row has the one that it would be explained with.
    groups : mapping of str to list of columns, default=None
        Columns that move as one. One-hot blocks are found by themselves.
    max_iter : int, default=None
        Passes over the rows; None is the schedule's.
    learning_rate : float, default=None
        Of Adam; None is the schedule's.
    batch_size : int, default=None
        Rows in a step; None is the schedule's.
    early_stopping : bool, default=False
        Stop when the loss has not fallen by ``tol`` for ``n_iter_no_change`` passes.
    n_iter_no_change : int, default=10
        See ``early_stopping``.
    tol : float, default=1e-4
        See ``early_stopping``.
    random_state : int, RandomState or None, default=None
        Seed of all random steps.
    verbose : bool, default=None
        Show a bar with the running terms of the loss; None: on a terminal or in a notebook, once it takes more than
        three seconds.
    class_weight : dict or "balanced", default=None
        Weight of each class, of the base model's fit and of every term of the loss.
    max_rate_change : float, default=0.1
        Largest relative change of the share of positive decisions against the base model: 0.1 is a tenth. It is
        measured on held-out rows (by cross-validation on small data), and the intercept is shifted to keep it; the fit
        warns where that fails. With ``restricted`` features it is only measured. It is not measured with
        ``rate_penalty=0``, with ``schedule="paper"``, or if None, which saves the extra fits.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Labels; the second is the one whose decisions are explained.
    coef_, intercept_ : ndarray
        Of the encoded columns.
    encoder_ : TableEncoder
        Raw rows to encoded ones.
    base_estimator_, final_estimator_ : estimator
        Before and after tuning, on encoded rows.
    reference_ : dict
        The reference: the value of each column; with several reference rows, the list of their values.
    history_ : list of dict
        Mean of each term of the loss in each pass.
    rate_change_ : float
        Relative change of the share of positive decisions on held-out rows, against the base model; NaN where it was
        not measured.
    n_base_fits_ : int
        Fits of the base model: more than one where a perceptron at first predicted nobody positive.

    Examples
    --------
    >>> import numpy as np
    >>> import sev
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> y = (X.sum(axis=1) + rng.normal(size=300) > 0).astype(int)
    >>> before = sev.SEVLogisticRegression(sev_penalty=0.0, random_state=0).fit(X, y)
    >>> after = sev.SEVLogisticRegression(random_state=0).fit(X, y)
    >>> sizes = [sev.Explainer(model, X, y).explain(X).mean_size() for model in (before, after)]
    >>> bool(sizes[1] < sizes[0])
    True
    """

    _family: ClassVar[Family] = "linear"

    def _default_base(self, seed: int, n_rows: int) -> BaseEstimator:
        return LogisticRegression(max_iter=1000, random_state=seed)

    def _set_family_attributes(self) -> None:
        self.coef_ = self.final_estimator_.coef_
        self.intercept_ = self.final_estimator_.intercept_
