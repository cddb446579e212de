"""Upper bounds of the margin of a network over boxes of its inputs, by linear relaxation.

Every value inside the network is written as a linear function of the inputs that vary, and a rest that is at most so
large. An affine map keeps that form. Over an interval of its argument an activation lies between two parallel lines.
What rounding can do to all of this is bounded as in :meth:`DenseLayers.rounding`, times a factor, and added.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sev.backends.networks._layers import DenseLayers
from sev.typing import FloatArray

#: Every value here takes a few operations where the network itself takes one.
_OPERATIONS = 8.0


def bounds_of_margin(layers: DenseLayers, low: FloatArray, high: FloatArray) -> FloatArray | None:
    """No input of a box has a margin above the bound of the box.

    Parameters
    ----------
    layers : DenseLayers
        In float64.
    low, high : ndarray of shape (n_boxes, n_columns)
        Ends of the boxes, both included.

    Returns
    -------
    ndarray of shape (n_boxes,) or None
        One bound for each box, infinite where numbers are too large; None where an activation has no lines.
    """
    if any(activation.lines is None for activation in layers.activations):
        return None
    varies = np.flatnonzero((low != high).any(axis=0))
    middle = low + (high - low) / 2
    # the middle is rounded: half as wide as the farther end is away
    half = np.maximum(high - middle, middle - low)[:, varies]
    slopes: NDArray[np.floating] = layers.weights[0][None, varies, :]
    centre = middle @ layers.weights[0] + layers.biases[0]
    rest = np.zeros_like(centre)
    furthest = np.maximum(np.abs(low), np.abs(high))
    terms = furthest @ np.abs(layers.weights[0]) + np.abs(layers.biases[0])
    error = layers.rounding(terms, terms, layers.n_columns, np.float64)
    slopes = np.broadcast_to(slopes, (len(low), *slopes.shape[1:]))
    for number, activation in enumerate(layers.activations, start=1):
        assert activation.lines is not None
        reach = np.einsum("nv,nvw->nw", half, np.abs(slopes)) + rest
        wider = reach * (1.0 + 1e-12)
        slope, below, above = activation.lines(centre - wider, centre + wider)
        slopes = slopes * slope[:, None, :]
        centre = centre * slope + (below + above) / 2
        rest = rest * np.abs(slope) + (above - below) / 2
        weight = layers.weights[number]
        slopes, centre, rest = slopes @ weight, centre @ weight + layers.biases[number], rest @ np.abs(weight)
    spread = np.einsum("nv,nvw->nw", half, np.abs(slopes)) + rest
    bound: FloatArray = (centre + spread)[:, 0] + _OPERATIONS * error
    return np.where(np.isnan(bound), np.inf, bound)
