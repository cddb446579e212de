"""scikit-learn's MLPClassifier as dense layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sev.backends import CannotReadError
from sev.backends.networks import DenseBackend, LayerBuilder, activations
from sev.libraries._checks import check_binary
from sev.typing import Response

if TYPE_CHECKING:
    from sklearn.neural_network import MLPClassifier


_ACTIVATIONS = {
    "identity": activations.identity,
    "logistic": activations.logistic,
    "tanh": activations.tanh,
    "relu": activations.relu,
}


def read_mlp(model: MLPClassifier, response: Response) -> DenseBackend:
    """Read a fitted binary ``MLPClassifier``."""
    check_binary(model, response)
    if model.n_outputs_ != 1 or model.out_activation_ != "logistic":
        raise CannotReadError(f"this MLPClassifier has {model.n_outputs_} outputs; exact search needs one")
    builder = LayerBuilder()
    hidden = _ACTIVATIONS.get(model.activation)
    if hidden is None:
        raise CannotReadError(f"the activation {model.activation!r} is not known")
    for number, (weight, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        if number:
            builder.activation(hidden())
        builder.affine(weight, bias)
    return DenseBackend(builder.margin([1.0]), np.result_type(*model.coefs_), cast_inputs=False)
