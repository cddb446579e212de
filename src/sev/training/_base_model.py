"""The base model that training starts from: fitted, and fitted again where it predicts nobody positive."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from sev.training._weights import fit_with_weights
from sev.typing import FloatArray

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


#: Fits with other seeds, where the first predicts nobody positive.
_N_RESTARTS = 3


def fit_base(
    base: BaseEstimator, rows: FloatArray, labels: np.ndarray, weights: FloatArray | None
) -> tuple[BaseEstimator, int]:
    """A fitted base model, and how many fits it took.

    A perceptron on few positive rows may stop at predicting nobody positive, by bad luck with its random weights or
    with the rows that early stopping sets aside. It is then fitted again: with other seeds, and at last without early
    stopping. What comes back may still predict nobody positive, where the data allow nothing else.
    """
    attempts = [base, *_copy_with_seeds(base)]
    for number, one in enumerate(attempts, start=1):
        fitted = fit_with_weights(one, rows, labels, weights)
        if (fitted.predict_proba(rows)[:, 1] >= 0.5).any():
            return fitted, number
    return fitted, len(attempts)


def fresh_copy(model: BaseEstimator) -> BaseEstimator:
    """An unfitted copy, also of classes that scikit-learn refuses to clone as they copy their parameters."""
    try:
        return clone(model)
    except RuntimeError:
        if hasattr(model, "steps"):
            changed = copy(model)
            changed.steps = [(name, fresh_copy(step)) for name, step in model.steps]
            return changed
        return type(model)(**deepcopy(model.get_params()))


def _copy_with_seeds(base: BaseEstimator) -> list[BaseEstimator]:
    """Copies with other seeds; none where a fit is not random."""
    parameters = base.get_params()
    # the seeds of linear models and trees do not change what they predict, or hardly
    if "hidden_layer_sizes" not in parameters:
        return []
    state = parameters["random_state"]
    first = state if isinstance(state, int) else 0
    copies = [fresh_copy(base).set_params(random_state=first + number) for number in range(1, _N_RESTARTS + 1)]
    if parameters.get("early_stopping"):
        copies.append(fresh_copy(base).set_params(early_stopping=False))
    return copies
