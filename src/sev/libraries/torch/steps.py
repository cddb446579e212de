"""The steps of a torch module that are known here: its layers, and functions called in its forward."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sev.backends import CannotReadError
from sev.backends.networks import Activation, LayerBuilder, activations
from sev.typing import FloatArray

if TYPE_CHECKING:
    from torch import Tensor, nn


class End(Enum):
    """Steps that turn logits into probabilities when nothing follows them."""

    SIGMOID = "sigmoid"
    SOFTMAX = "softmax"
    LOG_SOFTMAX = "log-softmax"


#: None changes no number; a callable adds itself to the layers.
Step: TypeAlias = Activation | End | Callable[[LayerBuilder], None] | None


def read_layer(layer: nn.Module) -> Step:
    """Read one torch layer; exact types only, for a subclass may do anything."""
    name = type(layer).__name__
    read = _LAYERS.get(name) if type(layer).__module__.startswith("torch.nn.modules.") else None
    if read is None:
        raise CannotReadError(f"the layer {name} is not supported")
    return read(layer)


def _to_array(tensor: Tensor) -> FloatArray:
    return np.asarray(tensor.detach().cpu().double().numpy())


def _read_linear(layer: nn.Linear) -> Step:
    weight = _to_array(layer.weight).T
    bias = np.zeros(weight.shape[1]) if layer.bias is None else _to_array(layer.bias)
    return lambda builder: builder.affine(weight, bias)


def _read_batch_norm(layer: nn.BatchNorm1d) -> Step:
    if layer.running_mean is None or layer.running_var is None:
        raise CannotReadError("a normalisation by the statistics of each batch is not supported")
    scale = 1 / np.sqrt(_to_array(layer.running_var) + layer.eps)
    if layer.weight is not None:
        scale = scale * _to_array(layer.weight)
    shift = -_to_array(layer.running_mean) * scale
    if layer.bias is not None:
        shift = shift + _to_array(layer.bias)
    return lambda builder: builder.elementwise(scale, shift)


def _read_prelu(layer: nn.PReLU) -> Step:
    if layer.weight.numel() != 1:
        raise CannotReadError("a PReLU with several slopes is not supported")
    return activations.leaky_relu(float(layer.weight))


def _read_flatten(layer: nn.Flatten) -> Step:
    if layer.start_dim != 1:
        raise CannotReadError("a Flatten that mixes rows is not supported")
    return None


def _softmax_over(dim: int | None, end: End) -> End:
    if dim not in (1, -1):
        raise CannotReadError(f"a {end.value} over dimension {dim} is not supported")
    return end


def _read_dropout(p: float = 0.5, training: bool = True, inplace: bool = False) -> Step:
    if training:
        raise CannotReadError("dropout that stays active after training is not supported")
    return None


_LAYERS: dict[str, Callable[..., Step]] = {
    "Linear": _read_linear,
    "BatchNorm1d": _read_batch_norm,
    "Flatten": _read_flatten,
    "Identity": lambda layer: None,
    "Dropout": lambda layer: None,
    "AlphaDropout": lambda layer: None,
    "FeatureAlphaDropout": lambda layer: None,
    "ReLU": lambda layer: activations.relu(),
    "ReLU6": lambda layer: activations.clip(0.0, 6.0),
    "Hardtanh": lambda layer: activations.clip(layer.min_val, layer.max_val),
    "LeakyReLU": lambda layer: activations.leaky_relu(layer.negative_slope),
    "PReLU": _read_prelu,
    "ELU": lambda layer: activations.elu(layer.alpha),
    "SELU": lambda layer: activations.elu(_SELU_ALPHA, _SELU_SCALE),
    "GELU": lambda layer: activations.gelu(layer.approximate),
    "SiLU": lambda layer: activations.silu(),
    "Softplus": lambda layer: activations.softplus(layer.beta, layer.threshold),
    "Tanh": lambda layer: activations.tanh(),
    "Sigmoid": lambda layer: End.SIGMOID,
    "Softmax": lambda layer: _softmax_over(layer.dim, End.SOFTMAX),
    "LogSoftmax": lambda layer: _softmax_over(layer.dim, End.LOG_SOFTMAX),
}

#: Functions and methods by name; their arguments are torch's, in torch's order, without the tensor itself.
FUNCTIONS: dict[str, Callable[..., Step]] = {
    "dropout": _read_dropout,
    "relu": lambda inplace=False: activations.relu(),
    "tanh": lambda: activations.tanh(),
    "sigmoid": lambda: End.SIGMOID,
    "gelu": lambda approximate="none": activations.gelu(approximate),
    "silu": lambda inplace=False: activations.silu(),
    "leaky_relu": lambda negative_slope=0.01, inplace=False: activations.leaky_relu(negative_slope),
    "elu": lambda alpha=1.0, inplace=False: activations.elu(alpha),
    "selu": lambda inplace=False: activations.elu(_SELU_ALPHA, _SELU_SCALE),
    "softplus": lambda beta=1.0, threshold=20.0: activations.softplus(beta, threshold),
    "softmax": lambda dim=None, _stacklevel=3, dtype=None: _softmax_over(dim, End.SOFTMAX),
    "log_softmax": lambda dim=None, _stacklevel=3, dtype=None: _softmax_over(dim, End.LOG_SOFTMAX),
}

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946
