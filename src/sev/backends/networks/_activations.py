"""Activation functions: how each is computed, and what the analysis of rounding needs to know about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, expit

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Activation:
    """One activation function, elementwise.

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


def _same(x: Array) -> Array:
    return x


def _at_most_one(bound: Array) -> Array:
    return np.minimum(bound, 1.0)


def identity() -> Activation:
    """The argument itself."""
    return Activation("identity", _same, 1.0, _same)


def relu() -> Activation:
    """max(x, 0)."""
    return Activation("relu", lambda x: np.maximum(x, x.dtype.type(0), out=x), 1.0, _same)


def tanh() -> Activation:
    """Hyperbolic tangent."""
    return Activation("tanh", lambda x: np.tanh(x, out=x), 1.0, _at_most_one)


def logistic() -> Activation:
    """1 / (1 + exp(-x))."""
    return Activation("logistic", lambda x: expit(x, out=x), 0.25, np.ones_like)


def leaky_relu(negative_slope: float) -> Activation:
    """X above zero, ``negative_slope * x`` below."""

    def apply(x: Array) -> Array:
        return np.where(x >= 0, x, x * x.dtype.type(negative_slope))

    steepest = max(1.0, abs(negative_slope))
    return Activation("leaky_relu", apply, steepest, lambda bound: bound * steepest)


def elu(alpha: float, scale: float = 1.0) -> Activation:
    """``scale`` times: x above zero, ``alpha * (exp(x) - 1)`` below."""

    def apply(x: Array) -> Array:
        below = x.dtype.type(alpha) * np.expm1(np.minimum(x, x.dtype.type(0)))
        return x.dtype.type(scale) * np.where(x > 0, x, below)

    steepest = scale * max(1.0, abs(alpha))
    return Activation("elu", apply, steepest, lambda bound: bound * steepest)


def gelu(approximate: str = "none") -> Activation:
    """``x * Phi(x)``, exactly or by the usual formula with tanh."""

    def exact(x: Array) -> Array:
        return x * x.dtype.type(0.5) * (x.dtype.type(1) + erf(x * x.dtype.type(np.sqrt(0.5))))

    def by_tanh(x: Array) -> Array:
        inner = x.dtype.type(np.sqrt(2 / np.pi)) * (x + x.dtype.type(0.044715) * x * x * x)
        return x * x.dtype.type(0.5) * (x.dtype.type(1) + np.tanh(inner))

    return Activation("gelu", by_tanh if approximate == "tanh" else exact, 1.13, _same)


def silu() -> Activation:
    """``x / (1 + exp(-x))``, also called swish."""
    return Activation("silu", lambda x: x * expit(x), 1.1, _same)


def softplus(beta: float, threshold: float) -> Activation:
    """``log(1 + exp(beta * x)) / beta``, and x itself where ``beta * x`` is above ``threshold``."""

    def apply(x: Array) -> Array:
        scaled = x * x.dtype.type(beta)
        smooth = np.logaddexp(x.dtype.type(0), scaled) / x.dtype.type(beta)
        return np.where(scaled > threshold, x, smooth)

    return Activation("softplus", apply, 1.0, lambda bound: bound + np.log(2.0) / beta)


def clip(low: float, high: float) -> Activation:
    """X kept between two values."""

    def apply(x: Array) -> Array:
        return np.clip(x, x.dtype.type(low), x.dtype.type(high), out=x)

    widest = max(abs(low), abs(high))
    return Activation("clip", apply, 1.0, lambda bound: np.full_like(bound, widest))
