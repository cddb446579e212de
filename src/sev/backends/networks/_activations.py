"""Activation functions: how each is computed, and what the analysis of rounding needs to know about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, expit

Array = NDArray[np.floating]


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
    lines : callable or None
        ``lines(low, high)`` returns slope, below and above: for every x between the two, ``apply(x)`` is between
        ``slope * x + below`` and ``slope * x + above``, but for rounding. None: not known.
    """

    name: str
    apply: Callable[[Array], Array]
    slope: float
    reach: Callable[[Array], Array]
    lines: Callable[[Array, Array], tuple[Array, Array, Array]] | None = None


def identity() -> Activation:
    """The argument itself."""
    return Activation("identity", _same, 1.0, _same, _lines_of_identity)


def relu() -> Activation:
    """max(x, 0)."""
    return Activation("relu", _relu, 1.0, _same, partial(_lines_of_bent, slope=0.0))


def tanh() -> Activation:
    """Hyperbolic tangent."""
    return Activation(
        "tanh", _tanh, 1.0, _at_most_one, partial(_lines_of_s_shape, apply=np.tanh, derivative=_tanh_slope)
    )


def logistic() -> Activation:
    """1 / (1 + exp(-x))."""
    return Activation(
        "logistic", _logistic, 0.25, np.ones_like, partial(_lines_of_s_shape, apply=expit, derivative=_logistic_slope)
    )


def leaky_relu(negative_slope: float) -> Activation:
    """X above zero, ``negative_slope * x`` below."""
    steepest = max(1.0, abs(negative_slope))
    return Activation(
        "leaky_relu",
        partial(_leaky_relu, slope=negative_slope),
        steepest,
        partial(np.multiply, steepest),
        partial(_lines_of_bent, slope=negative_slope) if negative_slope <= 1.0 else None,
    )


def elu(alpha: float, scale: float = 1.0) -> Activation:
    """``scale`` times: x above zero, ``alpha * (exp(x) - 1)`` below."""
    steepest = scale * max(1.0, abs(alpha))
    apply = partial(_elu, alpha=alpha, scale=scale)
    lines = partial(_lines_of_s_shape, apply=apply, derivative=partial(_elu_slope, alpha=alpha, scale=scale))
    return Activation("elu", apply, steepest, partial(np.multiply, steepest), lines if min(alpha, scale) >= 0 else None)


def gelu(approximate: str = "none") -> Activation:
    """``x * Phi(x)``, exactly or by the usual formula with tanh."""
    if approximate == "tanh":
        return Activation("gelu", _gelu_tanh, 1.13, _same)
    lines = partial(_lines_of_dip, apply=_gelu, derivative=_gelu_slope, flattest=-np.sqrt(2.0))
    return Activation("gelu", _gelu, 1.13, _same, lines)


def silu() -> Activation:
    """``x / (1 + exp(-x))``, also called swish."""
    lines = partial(_lines_of_dip, apply=_silu, derivative=_silu_slope, flattest=-2.399357280520)
    return Activation("silu", _silu, 1.1, _same, lines)


def softplus(beta: float, threshold: float) -> Activation:
    """``log(1 + exp(beta * x)) / beta``, and x itself where ``beta * x`` is above ``threshold``."""
    apply = partial(_softplus, beta=beta, threshold=threshold)
    # beyond the threshold it is x itself, a step of log(1 + exp(-threshold)) / beta lower
    lines = partial(_lines_of_softplus, beta=beta, threshold=threshold)
    return Activation("softplus", apply, 1.0, partial(np.add, np.log(2.0) / beta), lines)


def clip(low: float, high: float) -> Activation:
    """X kept between two values."""
    widest = max(abs(low), abs(high))
    apply, lines = partial(_clip, low=low, high=high), partial(_lines_of_clip, lowest=low, highest=high)
    return Activation("clip", apply, 1.0, partial(_constant, value=widest), lines)


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


# -- two parallel lines around an activation ---------------------------------------------------------------------------

#: Slopes are taken a little smaller, so that their own rounding is no matter.
_FLATTER = 1e-9


def _lines_of_identity(low: Array, high: Array) -> tuple[Array, Array, Array]:
    zero = np.zeros_like(low)
    return np.ones_like(low), zero, zero


def _lines_of_bent(low: Array, high: Array, slope: float) -> tuple[Array, Array, Array]:
    """X above zero, ``slope * x`` below, with a slope of at most 1: convex, so below its chord."""
    width = np.where(high > low, high - low, 1.0)
    at_low, at_high = np.where(low >= 0, low, slope * low), np.where(high >= 0, high, slope * high)
    chord = np.where(low >= 0, 1.0, np.where(high <= 0, slope, (at_high - at_low) / width))
    bends = (low < 0) & (high > 0)
    above = np.where(bends, np.maximum(at_low - chord * low, at_high - chord * high), 0.0)
    return chord, np.zeros_like(low), above


def _between_ends(low: Array, high: Array, slope: Array, apply: Callable[[Array], Array]) -> tuple[Array, Array, Array]:
    """Lines with a slope that is nowhere steeper than the function: what is left of it rises."""
    slope = slope - _FLATTER
    return slope, apply(low.copy()) - slope * low, apply(high.copy()) - slope * high


def _lines_of_s_shape(
    low: Array, high: Array, apply: Callable[[Array], Array], derivative: Callable[[Array], Array]
) -> tuple[Array, Array, Array]:
    """A function whose slope first rises, then falls, or does one of both."""
    return _between_ends(low, high, np.minimum(derivative(low), derivative(high)), apply)


def _lines_of_dip(
    low: Array,
    high: Array,
    apply: Callable[[Array], Array],
    derivative: Callable[[Array], Array],
    flattest: float,
) -> tuple[Array, Array, Array]:
    """A function whose slope falls up to ``flattest``, then rises, then falls."""
    slope = np.minimum(derivative(low), derivative(high))
    inside = (low <= flattest) & (high >= flattest)
    return _between_ends(low, high, np.where(inside, derivative(np.full_like(low, flattest)), slope), apply)


def _lines_of_softplus(low: Array, high: Array, beta: float, threshold: float) -> tuple[Array, Array, Array]:
    def smooth(x: Array) -> Array:
        return np.asarray(np.logaddexp(0.0, beta * x) / beta)

    slope, below, above = _between_ends(low, high, expit(beta * low), smooth)
    step = np.log1p(np.exp(-threshold)) / beta
    return slope, np.where(beta * high > threshold, below - step, below), above


def _lines_of_clip(low: Array, high: Array, lowest: float, highest: float) -> tuple[Array, Array, Array]:
    inside = (low >= lowest) & (high <= highest)
    below, above = np.clip(low, lowest, highest), np.clip(high, lowest, highest)
    return inside.astype(np.float64), np.where(inside, 0.0, below), np.where(inside, 0.0, above)


def _tanh_slope(x: Array) -> Array:
    return 1.0 - np.tanh(x) ** 2


def _logistic_slope(x: Array) -> Array:
    return np.asarray(expit(x) * expit(-x))


def _elu_slope(x: Array, alpha: float, scale: float) -> Array:
    return scale * np.where(x > 0, 1.0, alpha * np.exp(np.minimum(x, 0.0)))


def _gelu_slope(x: Array) -> Array:
    return 0.5 * (1.0 + erf(x * np.sqrt(0.5))) + x * np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)


def _silu_slope(x: Array) -> Array:
    return np.asarray(expit(x) * (1.0 + x * expit(-x)))
