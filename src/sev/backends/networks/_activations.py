"""Activation functions: how each is computed, and what the analysis of rounding needs to know about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, expit

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Activation:
    """One activation function, elementwise. Made of plain functions, so that it can be pickled.

    Parameters
    ----------
    name : str
        For people and for tests.
    apply : callable
        Computes it in the precision of its argument, possibly in place: the argument is not used again.
    slope : float
        No two arguments have values further apart than ``slope`` times their distance.
    reach : callable
        ``reach(bound)`` is at least ``|apply(x)|`` for every ``|x| <= bound``.
    """

    name: str
    apply: Callable[[Array], Array]
    slope: float
    reach: Callable[[Array], Array]


def identity() -> Activation:
    """The argument itself."""
    return Activation("identity", _same, 1.0, _same)


def relu() -> Activation:
    """max(x, 0)."""
    return Activation("relu", _relu, 1.0, _same)


def tanh() -> Activation:
    """Hyperbolic tangent."""
    return Activation("tanh", _tanh, 1.0, _at_most_one)


def logistic() -> Activation:
    """1 / (1 + exp(-x))."""
    return Activation("logistic", _logistic, 0.25, np.ones_like)


def leaky_relu(negative_slope: float) -> Activation:
    """X above zero, ``negative_slope * x`` below."""
    steepest = max(1.0, abs(negative_slope))
    return Activation(
        "leaky_relu", partial(_leaky_relu, slope=negative_slope), steepest, partial(np.multiply, steepest)
    )


def elu(alpha: float, scale: float = 1.0) -> Activation:
    """``scale`` times: x above zero, ``alpha * (exp(x) - 1)`` below."""
    steepest = scale * max(1.0, abs(alpha))
    return Activation("elu", partial(_elu, alpha=alpha, scale=scale), steepest, partial(np.multiply, steepest))


def gelu(approximate: str = "none") -> Activation:
    """``x * Phi(x)``, exactly or by the usual formula with tanh."""
    return Activation("gelu", _gelu_tanh if approximate == "tanh" else _gelu, 1.13, _same)


def silu() -> Activation:
    """``x / (1 + exp(-x))``, also called swish."""
    return Activation("silu", _silu, 1.1, _same)


def softplus(beta: float, threshold: float) -> Activation:
    """``log(1 + exp(beta * x)) / beta``, and x itself where ``beta * x`` is above ``threshold``."""
    apply = partial(_softplus, beta=beta, threshold=threshold)
    return Activation("softplus", apply, 1.0, partial(np.add, np.log(2.0) / beta))


def clip(low: float, high: float) -> Activation:
    """X kept between two values."""
    widest = max(abs(low), abs(high))
    return Activation("clip", partial(_clip, low=low, high=high), 1.0, partial(_constant, value=widest))


def _same(x: Array) -> Array:
    return x


def _at_most_one(bound: Array) -> Array:
    return np.minimum(bound, 1.0)


def _constant(bound: Array, value: float) -> Array:
    return np.full_like(bound, value)


def _relu(x: Array) -> Array:
    return np.maximum(x, np.zeros(x.shape[-1], x.dtype), out=x)  # numpy is three times slower with a scalar


def _tanh(x: Array) -> Array:
    return np.tanh(x, out=x)


def _logistic(x: Array) -> Array:
    return expit(x, out=x)


def _leaky_relu(x: Array, slope: float) -> Array:
    return np.where(x >= 0, x, x * x.dtype.type(slope))


def _elu(x: Array, alpha: float, scale: float) -> Array:
    below = x.dtype.type(alpha) * np.expm1(np.minimum(x, x.dtype.type(0)))
    return x.dtype.type(scale) * np.where(x > 0, x, below)


def _gelu(x: Array) -> Array:
    return x * x.dtype.type(0.5) * (x.dtype.type(1) + erf(x * x.dtype.type(np.sqrt(0.5))))


def _gelu_tanh(x: Array) -> Array:
    inner = x.dtype.type(np.sqrt(2 / np.pi)) * (x + x.dtype.type(0.044715) * x * x * x)
    return x * x.dtype.type(0.5) * (x.dtype.type(1) + np.tanh(inner))


def _silu(x: Array) -> Array:
    return x * expit(x)


def _softplus(x: Array, beta: float, threshold: float) -> Array:
    scaled = x * x.dtype.type(beta)
    smooth = np.logaddexp(x.dtype.type(0), scaled) / x.dtype.type(beta)
    return np.where(scaled > threshold, x, smooth)


def _clip(x: Array, low: float, high: float) -> Array:
    return np.clip(x, x.dtype.type(low), x.dtype.type(high), out=x)
