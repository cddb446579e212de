"""scikit-learn's MLPClassifier as dense layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from sev.backends._protocol import CannotReadError
from sev.backends.networks._activations import identity, logistic, relu, tanh
from sev.backends.networks._backend import DenseBackend
from sev.backends.networks._layers import LayerBuilder
from sev.typing import Response

_ACTIVATIONS = {"identity": identity, "logistic": logistic, "tanh": tanh, "relu": relu}


def from_sklearn(model: Any, response: Response) -> DenseBackend:
    """Read a fitted binary ``MLPClassifier``."""
    if response != "predict_proba":
        raise CannotReadError(f"the score of an MLPClassifier is read from predict_proba, not {response}")
    if model.n_outputs_ != 1 or model.out_activation_ != "logistic" or len(model.classes_) != 2:
        raise CannotReadError(f"this MLPClassifier has {len(model.classes_)} classes; exact search needs two")
    builder = LayerBuilder()
    hidden = _ACTIVATIONS.get(model.activation)
    if hidden is None:
        raise CannotReadError(f"the activation {model.activation!r} is not known")
    for number, (weight, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        if number:
            builder.activation(hidden())
        builder.affine(weight, bias)
    return DenseBackend(builder.margin([1.0]), np.result_type(*model.coefs_), cast_inputs=False)
