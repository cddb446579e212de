"""What a backend is: a fitted binary model, read into a form that a solver knows how to search exactly.

A reader is a function ``read(model, response) -> Backend``, named in ``_registry.py``. ``response`` says which
output of the model is its score. A reader raises :class:`CannotReadError` with a reason when it cannot be exact;
the model is then explained as a black box and the user is told why.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from sev.core import Problem, Solution
from sev.typing import FloatArray, NativeTable


class CannotReadError(Exception):
    """Raised by a reader: this model has no exact form here, and why."""


@runtime_checkable
class Backend(Protocol):
    """One fitted binary model in a form with an exact solver.

    A backend belongs to a final estimator: steps of a Pipeline before it, wrappers around it, the choice of target
    and threshold are dealt with outside. Its margin grows with the score of ``classes_[1]``. It is trusted only
    after its scores have met the model's own on real rows (see ``_proof.py``).
    """

    @property
    def family(self) -> str:
        """Name for people: "linear", "additive", "trees", "networks"."""
        ...

    @property
    def n_columns(self) -> int:
        """Number of encoded columns."""
        ...

    def encode(self, rows: NativeTable) -> FloatArray:
        """Rows as the estimator takes them, as the numbers that the form works on: (n_rows, n_columns), each
        depending on the column of the same number only (category codes, a cast to float32, a marker for missing
        values mapped to NaN).
        """
        ...

    def margins(self, encoded: FloatArray) -> FloatArray:
        """Margin of each encoded row."""
        ...

    def scores(self, margins: FloatArray) -> FloatArray:
        """The model's own score of ``classes_[1]`` for given margins: a map that never falls."""
        ...

    @property
    def score_tolerance(self) -> float:
        """How far ``scores(margins(encode(rows)))`` may be from the model's own scores by rounding (1e-12 for
        float64 models, more for float32 ones).
        """
        ...

    def proof_rows(self, rows: NativeTable) -> NativeTable | None:
        """Extra rows, made from real ones in the estimator's own form, on which this form should meet the model:
        at thresholds, one ulp either side, with missing values. None when real rows say enough.
        """
        ...

    def solve(self, problem: Problem) -> Solution:
        """Solve the problem exactly, within its limits."""
        ...
