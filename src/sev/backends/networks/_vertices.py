"""Vertices of a few rows at once, built step by step: each is one of its parents with one more feature changed.

The search sees a *state*, an array (n_rows, n_vertices, n_numbers), and never looks inside: for dense layers it is the
output of the first affine map, so that one more feature costs the addition of one vector; for any other module it is
the rows themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from sev.backends.networks._layers import DenseLayers, unit_roundoff
from sev.typing import BoolArray, FloatArray, IntArray

State = NDArray[np.floating]


class Vertices(Protocol):
    """The vertices of rows that have the same number of active features, numbered 0, 1, ... for each row."""

    @property
    def width(self) -> int:
        """Numbers in the widest array kept for one vertex: what chunks are measured by."""
        ...

    @property
    def batch(self) -> int:
        """Vertices that are worth evaluating at once."""
        ...

    def root(self, rows: IntArray) -> State:
        """State of the rows with nothing changed: (n_rows, 1, n_numbers)."""
        ...

    def extend(self, rows: IntArray, state: State, parents: IntArray, features: IntArray) -> State:
        """State of the children: ``parents[i]`` with ``features[i]`` changed too. Leaves ``state`` as it is."""
        ...

    def progress(self, rows: IntArray, state: State) -> tuple[FloatArray, FloatArray]:
        """How far across each vertex is, (n_rows, n_vertices), and how wrong this may be. ``state`` is used up.

        The second array takes part in comparisons with the first, whatever its shape.
        """
        ...

    @property
    def refines(self) -> bool:
        """Whether :meth:`refine` can tell more than :meth:`progress`."""
        ...

    def refine(self, rows: IntArray, sets: BoolArray) -> tuple[FloatArray, FloatArray]:
        """The same for a list of vertices, ``sets[i]`` of row ``rows[i]``, as precisely as it can be done here.

        The error includes that of the model's own arithmetic. The answer does not depend on which vertices are in
        the list, but for the last bits of float64.
        """
        ...


class DenseVertices:
    """Vertices of a network of dense layers.

    Parameters
    ----------
    layers : DenseLayers
        In float64, with the sign for which a larger margin is further across.
    fast : DenseLayers
        The same in float32.
    start, end : ndarray of shape (n_rows, n_columns)
        Each row with nothing and with everything changed.
    columns : list of ndarray
        Columns of each feature.
    active : ndarray of int, shape (n_rows, n_active)
        The feature that each active number of a row stands for.
    dtype : numpy dtype
        Precision of the model's own arithmetic.
    """

    batch = 1 << 30  # bounded by memory alone
    refines = True

    def __init__(
        self,
        layers: DenseLayers,
        fast: DenseLayers,
        start: FloatArray,
        end: FloatArray,
        columns: list[IntArray],
        active: IntArray,
        dtype: np.dtype[np.floating],
    ) -> None:
        self._layers = layers
        self._fast = fast
        self.width = layers.widest
        weight, bias = layers.weights[0], layers.biases[0]
        self._base = start @ weight + bias
        by_feature = np.empty((len(columns), len(start), layers.width))
        difference = end - start
        for feature, own in enumerate(columns):
            by_feature[feature] = difference[:, own] @ weight[own]
        self._steps = by_feature[active, np.arange(len(start))[:, None]]
        with np.errstate(over="ignore"):
            self._base32 = self._base.astype(np.float32)
            self._steps32 = self._steps.astype(np.float32).reshape(-1, layers.width)
        self._n_active = active.shape[1]

        # What rounding can do to any vertex of a row: sums of absolute terms, and the largest values that come out.
        risen = self._base + np.maximum(self._steps, 0).sum(axis=1)
        fallen = self._base + np.minimum(self._steps, 0).sum(axis=1)
        largest = np.maximum(np.abs(risen), np.abs(fallen))
        steps = np.abs(self._base) + np.abs(self._steps).sum(axis=1)
        self._fast_error = layers.rounding(steps, largest, self._n_active, np.float32)
        absolute = np.maximum(np.abs(start), np.abs(end)) @ np.abs(weight) + np.abs(bias)
        here = layers.rounding(3 * absolute, largest, layers.n_columns + self._n_active, np.float64)
        self._error = here + layers.rounding(absolute, largest, layers.n_columns + 1, dtype)

    def root(self, rows: IntArray) -> State:
        """See :class:`Vertices`."""
        return self._base32[rows, None, :]

    def extend(self, rows: IntArray, state: State, parents: IntArray, features: IntArray) -> State:
        """See :class:`Vertices`."""
        n_rows, n_parents, width = state.shape
        children = np.take(state.reshape(-1, width), np.arange(n_rows)[:, None] * n_parents + parents, axis=0)
        children += np.take(self._steps32, rows[:, None] * self._n_active + features, axis=0)
        return children

    def progress(self, rows: IntArray, state: State) -> tuple[FloatArray, FloatArray]:
        """See :class:`Vertices`."""
        n_rows, n_vertices, n_numbers = state.shape
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is looked at again
            reached = self._fast.finish(state.reshape(n_rows * n_vertices, n_numbers))
        return cast("FloatArray", reached).reshape(n_rows, n_vertices), self._fast_error[rows, None]

    def refine(self, rows: IntArray, sets: BoolArray) -> tuple[FloatArray, FloatArray]:
        """See :class:`Vertices`."""
        reached = np.empty(len(rows))
        for row in np.unique(rows):
            own = np.flatnonzero(rows == row)
            values = sets[own].astype(np.float64) @ self._steps[row]
            values += self._base[row]
            with np.errstate(over="ignore", invalid="ignore"):
                reached[own] = self._layers.finish(values)
        return reached, self._error[rows]


class ModuleVertices:
    """Vertices of a module that is only evaluated for margins, in batches.

    Parameters
    ----------
    margins : callable
        Margins of encoded rows (n, n_columns), with the sign for which larger is further across.
    start, end, columns, active
        As for :class:`DenseVertices`.
    dtype : numpy dtype
        Precision of the module's arithmetic.
    """

    batch = 4096
    refines = False

    def __init__(
        self,
        margins: Callable[[FloatArray], FloatArray],
        start: FloatArray,
        end: FloatArray,
        columns: list[IntArray],
        active: IntArray,
        dtype: np.dtype[np.floating],
    ) -> None:
        self._margins = margins
        self._start = start
        self._end = end
        self._active = active
        self._belongs = np.zeros((len(columns), start.shape[1]), dtype=np.bool_)
        for feature, own in enumerate(columns):
            self._belongs[feature, own] = True
        self.width = start.shape[1]
        # The order of a module's sums is its own affair and changes with the size of a batch.
        self._slack = 4096 * unit_roundoff(dtype)

    def root(self, rows: IntArray) -> State:
        """See :class:`Vertices`."""
        return self._start[rows, None, :]

    def extend(self, rows: IntArray, state: State, parents: IntArray, features: IntArray) -> State:
        """See :class:`Vertices`."""
        changed = self._belongs[self._active[rows][:, features]]
        return np.where(changed, self._end[rows, None, :], state[:, parents])

    def progress(self, rows: IntArray, state: State) -> tuple[FloatArray, FloatArray]:
        """See :class:`Vertices`."""
        n_rows, n_vertices, n_columns = state.shape
        reached = self._margins(cast("FloatArray", state.reshape(n_rows * n_vertices, n_columns))).reshape(
            n_rows, n_vertices
        )
        return reached, self._slack * (1 + np.abs(reached))

    def refine(self, rows: IntArray, sets: BoolArray) -> tuple[FloatArray, FloatArray]:
        """See :class:`Vertices`; one vertex at a time, so that the answer does not depend on the company."""
        reached = np.empty(len(rows))
        for number, (row, chosen) in enumerate(zip(rows, sets, strict=True)):
            changed = self._belongs[self._active[row][chosen]].any(axis=0)
            vertex = np.where(changed, self._end[row], self._start[row])
            reached[number] = self._margins(vertex[None])[0]
        return reached, self._slack * (1 + np.abs(reached))
