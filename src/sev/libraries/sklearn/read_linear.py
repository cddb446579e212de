"""Readers of scikit-learn's linear classifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from sev.backends import CannotReadError
from sev.backends.linear import LinearBackend, identity
from sev.typing import FloatArray, Response

if TYPE_CHECKING:
    from sklearn.linear_model import SGDClassifier
    from sklearn.linear_model._base import LinearClassifierMixin
    from sklearn.svm import SVC


def read_linear(model: LinearClassifierMixin, response: Response) -> LinearBackend:
    """Classifiers with ``coef_`` and ``intercept_`` whose probability, if any, is the logistic of the decision
    value.
    """
    return _read_weights(model, expit if response == "predict_proba" else identity)


def read_sgd(model: SGDClassifier, response: Response) -> LinearBackend:
    """SGDClassifier: its probabilities depend on the loss."""
    if response == "predict_proba" and model.loss == "modified_huber":
        return _read_weights(model, _modified_huber)
    return read_linear(model, response)


def read_svc(model: SVC, response: Response) -> LinearBackend:
    """Support vector machines with a linear kernel."""
    if model.kernel != "linear":
        raise CannotReadError(f"an SVC with kernel={model.kernel!r} is not linear")
    if response == "decision_function":
        return _read_weights(model, identity)
    raise CannotReadError(
        "its probabilities are fitted apart from its decision function; fit it with probability=False to "
        "explain its decisions"
    )


def _modified_huber(margins: FloatArray) -> FloatArray:
    return (np.clip(margins, -1.0, 1.0) + 1.0) / 2.0


def _read_weights(model: LinearClassifierMixin, link: Callable[[FloatArray], FloatArray]) -> LinearBackend:
    weights = model.coef_
    weights = np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights)
    rows = np.atleast_2d(weights)
    if rows.shape[0] != 1:
        raise CannotReadError(f"it holds {rows.shape[0]} weight vectors, not one")
    single = weights.dtype == np.float32
    return LinearBackend(
        weights=np.array(rows[0], dtype=np.float64),
        intercept=float(np.ravel(model.intercept_)[0]) if np.size(model.intercept_) else 0.0,
        link=link,
        score_tolerance=1e-5 if single else 1e-11,
    )
