"""Networks as backends: dense layers with an incremental first layer, and modules that are scored in batches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit

from sev.backends.networks._layers import DenseLayers, unit_roundoff
from sev.backends.networks._search import ModelRaisedError
from sev.backends.networks._solver import solve
from sev.backends.networks._vertices import DenseVertices, ModuleVertices
from sev.core import Problem, Solution
from sev.typing import FloatArray, IntArray, NativeTable

_ROWS_AT_ONCE = 8192

#: A prediction through the model's own interface costs at least as much as this many vertices of dense layers.
_VERTICES_PER_PREDICTION = 64


def _tolerance_of(dtype: np.dtype[np.floating]) -> float:
    """How far scores that are computed in some precision may be apart by rounding."""
    return 1e-9 if dtype.itemsize >= 8 else max(1e-4, 1024 * unit_roundoff(dtype))


class DenseBackend:
    """A network of dense layers whose score is the logistic function of its margin.

    Parameters
    ----------
    layers : DenseLayers
        In float64, whatever the model computes in.
    dtype : numpy dtype
        What the model itself computes in.
    cast_inputs : bool
        Whether the model casts its inputs to ``dtype`` (modules do, scikit-learn does not).
    """

    family = "networks"
    lists_sets_later = False

    def __init__(self, layers: DenseLayers, dtype: np.dtype[np.floating], *, cast_inputs: bool) -> None:
        self._layers = layers
        self._dtype = dtype
        self._cast_inputs = cast_inputs

    @property
    def layers(self) -> DenseLayers:
        """The layers, in float64."""
        return self._layers

    @property
    def n_columns(self) -> int:
        """Number of inputs of the first layer."""
        return self._layers.n_columns

    @property
    def score_tolerance(self) -> float:
        """Rounding of networks with well-scaled inputs; others fail the proof and are explained as black boxes."""
        return _tolerance_of(self._dtype)

    def encode(self, rows: NativeTable) -> FloatArray:
        """Rows as float64, through the precision in which the model takes them."""
        return as_numbers(rows, self._dtype if self._cast_inputs else None)

    def margins(self, encoded: FloatArray) -> FloatArray:
        """Log-odds of ``classes_[1]``."""
        return in_pieces(self._layers.margins, encoded)

    def scores(self, margins: FloatArray) -> FloatArray:
        """Probabilities of ``classes_[1]``."""
        return np.asarray(expit(margins))

    def proof_rows(self, rows: NativeTable) -> NativeTable | None:
        """None: a network has no places where real rows would not tell."""
        return None

    def solve(self, problem: Problem) -> Solution:
        """Solve the problem exactly, within its limits."""
        layers = self._layers.times(float(problem.direction))
        fast = layers.as_type(np.float32)

        def make(start: FloatArray, end: FloatArray, columns: list[IntArray], active: IntArray) -> DenseVertices:
            return DenseVertices(layers, fast, start, end, columns, active, self._dtype)

        return solve(problem, make, layers.width, _VERTICES_PER_PREDICTION)


class ModuleBackend:
    """Any module, evaluated for margins in batches of rows.

    Parameters
    ----------
    margins : callable
        Margins of encoded rows, computed by the module.
    n_columns : int
        Number of inputs.
    dtype : numpy dtype
        What the module computes in.
    link : {"logistic", "identity"}
        How scores come from margins: the module returns logits, or probabilities.
    """

    family = "networks"
    lists_sets_later = False

    def __init__(
        self, margins: Callable[[FloatArray], FloatArray], n_columns: int, dtype: np.dtype[np.floating], link: str
    ) -> None:
        self._margins = margins
        self._n_columns = n_columns
        self._dtype = dtype
        self._link = link

    @property
    def n_columns(self) -> int:
        """Number of inputs."""
        return self._n_columns

    @property
    def score_tolerance(self) -> float:
        """Rounding between batches of different sizes."""
        return _tolerance_of(self._dtype)

    def encode(self, rows: NativeTable) -> FloatArray:
        """Rows as float64, through the precision in which the module takes them."""
        return as_numbers(rows, self._dtype)

    def margins(self, encoded: FloatArray) -> FloatArray:
        """Logits or probabilities, as the module returns them."""
        return in_pieces(self._margins, encoded)

    def scores(self, margins: FloatArray) -> FloatArray:
        """Probabilities of the second class."""
        return np.asarray(expit(margins)) if self._link == "logistic" else margins

    def proof_rows(self, rows: NativeTable) -> NativeTable | None:
        """None: the module itself is evaluated."""
        return None

    def solve(self, problem: Problem) -> Solution:
        """Solve the problem exactly, within its limits."""

        def signed_margins(rows: FloatArray) -> FloatArray:
            try:
                return problem.direction * self._margins(rows)
            except Exception as error:
                raise ModelRaisedError(f"{type(error).__name__}: {error}") from error

        def make(start: FloatArray, end: FloatArray, columns: list[IntArray], active: IntArray) -> ModuleVertices:
            return ModuleVertices(signed_margins, start, end, columns, active, self._dtype)

        return solve(problem, make, self._n_columns, 1)


def as_numbers(rows: NativeTable, through: np.dtype[np.floating] | None) -> FloatArray:
    """A table of numbers, sparse or not, as float64, first cast to ``through``."""
    table = rows.toarray() if issparse(rows) else np.asarray(rows)
    if through is not None:
        table = table.astype(through)
    return np.asarray(table, dtype=np.float64)


def in_pieces(function: Callable[[FloatArray], FloatArray], rows: FloatArray) -> FloatArray:
    """Apply a function of rows to a bounded number of them at a time."""
    if len(rows) <= _ROWS_AT_ONCE:
        return function(rows)
    pieces = [function(rows[begin : begin + _ROWS_AT_ONCE]) for begin in range(0, len(rows), _ROWS_AT_ONCE)]
    return np.concatenate(pieces)
