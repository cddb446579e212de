"""A network read as dense layers: an affine map, an activation, an affine map, ... down to one margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from sev.backends._protocol import CannotReadError
from sev.backends.networks._activations import Activation
from sev.typing import FloatArray

Array = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class DenseLayers:
    """Weights (n_in, n_out) and biases (n_out,) of each layer, and the activations between them.

    The last layer has one output, the margin. There is one activation fewer than there are layers.
    """

    weights: tuple[Array, ...]
    biases: tuple[Array, ...]
    activations: tuple[Activation, ...]

    @property
    def n_columns(self) -> int:
        """Number of inputs."""
        return self.weights[0].shape[0]

    @property
    def width(self) -> int:
        """Number of outputs of the first layer."""
        return self.weights[0].shape[1]

    @property
    def widest(self) -> int:
        """Largest number of outputs of a layer."""
        return max(weight.shape[1] for weight in self.weights)

    def as_type(self, dtype: type[np.floating]) -> Self:
        """The same layers with their numbers in another precision."""
        with np.errstate(over="ignore"):  # what is too large is seen by :meth:`rounding`
            weights = tuple(np.ascontiguousarray(weight, dtype=dtype) for weight in self.weights)
            biases = tuple(bias.astype(dtype) for bias in self.biases)
        return type(self)(weights, biases, self.activations)

    def times(self, factor: float) -> Self:
        """The same layers with their margin multiplied."""
        return type(self)(
            (*self.weights[:-1], self.weights[-1] * factor),
            (*self.biases[:-1], self.biases[-1] * factor),
            self.activations,
        )

    def margins(self, rows: FloatArray) -> FloatArray:
        """Margins of encoded rows (n_rows, n_columns)."""
        return cast("FloatArray", self.finish(rows @ self.weights[0] + self.biases[0]))

    def finish(self, values: Array) -> Array:
        """Margins from the outputs of the first affine map (n, width), which are overwritten."""
        for number, activation in enumerate(self.activations, start=1):
            values = activation.apply(values) @ self.weights[number]
            values += self.biases[number]
        return values[:, 0]

    def rounding(
        self, terms: FloatArray, reach: Array, n_terms: int, dtype: np.dtype[np.floating] | type[np.floating]
    ) -> FloatArray:
        """How far from the true margins those computed in a given precision can be.

        The standard bound of a dot product, ``(n_terms + 2) * unit`` times the sum of its absolute terms, carried from
        layer to layer with the worst signs: no assumption on the order of the sums, nor on fused operations.

        Parameters
        ----------
        terms : ndarray of shape (n, width)
            At least the sum of the absolute values of everything that is added up in the first affine map.
        reach : ndarray of shape (n, width)
            At least the absolute value of what comes out of it.
        n_terms : int
            How many numbers are added up there.
        dtype : numpy dtype
            The precision.

        Returns
        -------
        ndarray of shape (n,)
            Infinite where numbers may be too large for the precision.
        """
        unit = unit_roundoff(dtype)
        largest = terms.max(axis=1)
        error = (n_terms + 2) * unit * terms
        for number, activation in enumerate(self.activations, start=1):
            # Libraries compute activations to a few units in the last place; sixteen is far more than any needs.
            reach = activation.reach(reach + error)
            error = activation.slope * error + 16 * unit * (reach + 1)
            weight = np.abs(self.weights[number])
            total = reach @ weight + np.abs(self.biases[number])
            error = error @ weight + (weight.shape[0] + 2) * unit * total
            reach = total
            largest = np.maximum(largest, total.max(axis=1))
        return np.where(largest < 0.1 * np.finfo(dtype).max, 1.1 * error[:, 0], np.inf)  # 1.1: terms of second order


def unit_roundoff(dtype: np.dtype[np.floating] | type[np.floating]) -> float:
    """Half the distance from one to the next number."""
    return float(np.finfo(dtype).eps) / 2


class LayerBuilder:
    """Puts layers together from the affine maps and activations met on the way through a network.

    Affine maps that follow each other without an activation between them become one.
    """

    def __init__(self) -> None:
        self._weights: list[FloatArray] = []
        self._biases: list[FloatArray] = []
        self._activations: list[Activation] = []
        self._scale: Array = np.ones(1)  # of an elementwise map that waits for the next affine one
        self._shift: Array = np.zeros(1)

    def affine(self, weight: Array, bias: Array) -> None:
        """Add ``x @ weight + bias``."""
        weight = np.asarray(weight, dtype=np.float64)
        bias = np.asarray(bias, dtype=np.float64)
        shift = np.broadcast_to(self._shift, weight.shape[:1])
        bias = shift @ weight + bias
        weight = np.broadcast_to(self._scale, weight.shape[:1])[:, None] * weight
        self._scale, self._shift = np.ones(1), np.zeros(1)
        if len(self._weights) > len(self._activations):
            weight, bias = self._weights[-1] @ weight, self._biases[-1] @ weight + bias
            self._weights[-1], self._biases[-1] = weight, bias
        else:
            self._weights.append(weight)
            self._biases.append(bias)

    def elementwise(self, scale: Array, shift: Array) -> None:
        """Add ``x * scale + shift``, a scaler or a normalisation with fixed statistics."""
        self._scale, self._shift = self._scale * scale, self._shift * scale + shift

    def activation(self, activation: Activation) -> None:
        """Add an activation."""
        if activation.name == "identity":
            return
        if len(self._weights) == len(self._activations) or self._scale.size > 1 or self._scale != 1 or self._shift != 0:
            self.affine(*self._unit_map())
        self._activations.append(activation)

    def margin(self, combine: Sequence[float]) -> DenseLayers:
        """Finish with a weighted sum of the outputs as the margin."""
        self.affine(np.asarray(combine, dtype=np.float64)[:, None], np.zeros(1))
        return DenseLayers(tuple(self._weights), tuple(self._biases), tuple(self._activations))

    @property
    def n_outputs(self) -> int | None:
        """Outputs so far; None before the first layer."""
        return self._weights[-1].shape[1] if self._weights else None

    @property
    def ends_in_activation(self) -> bool:
        """Whether nothing but arithmetic with constants has followed the last activation."""
        return bool(self._activations) and len(self._weights) == len(self._activations)

    def _unit_map(self) -> tuple[FloatArray, FloatArray]:
        width = self.n_outputs
        if width is None:
            raise CannotReadError("an activation comes before the first linear layer")
        return np.eye(width), np.zeros(width)
