"""What a backend is: a fitted binary model, read into a form that a solver knows how to search exactly.

A reader is a function ``read(model, response) -> Backend``, named in ``_registry.py``. ``response`` says which
output of the model is its score. A reader raises :class:`CannotReadError` with a reason when it cannot be exact;
the model is then explained as a black box and the user is told why.
"""

from __future__ import annotations

from collections.abc import Callable
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
    after its scores have been compared with the model's own on real rows (see ``_reading.py``).
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

        Parameters
        ----------
        rows : table or array
            Rows as the estimator takes them.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows, n_columns).
        """
        ...

    def margins(self, encoded: FloatArray) -> FloatArray:
        """Margin of each encoded row.

        Parameters
        ----------
        encoded : ndarray of float64
            Encoded rows.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).
        """
        ...

    def scores(self, margins: FloatArray) -> FloatArray:
        """The model's own score of ``classes_[1]`` for given margins: a map that never falls.

        Parameters
        ----------
        margins : ndarray of float64
            Margins.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).
        """
        ...

    @property
    def score_tolerance(self) -> float:
        """How far ``scores(margins(encode(rows)))`` may be from the model's own scores by rounding (1e-12 for
        float64 models, more for float32 ones).
        """
        ...

    @property
    def lists_sets_later(self) -> bool:
        """Whether :meth:`solve` leaves out all minimum sets but the first when ``limits.first_only`` is set; it is then
        called again for the others once they are needed. It then reports ``complete=False``. False: it always lists
        all of them.
        """
        ...

    def proof_rows(self, rows: NativeTable) -> NativeTable | None:
        """Extra rows, made from real ones in the estimator's own form, on which this form should meet the model:
        at thresholds, one ulp either side, with missing values. None when real rows are enough.

        Parameters
        ----------
        rows : table or array
            Real rows.

        Returns
        -------
        table or array or None
            Rows, or None.
        """
        ...

    def solve(self, problem: Problem) -> Solution:
        """Solve the problem exactly, within its limits.

        Parameters
        ----------
        problem : Problem
            Rows, reference and limits.

        Returns
        -------
        Solution
            What was found for each row.
        """
        ...


@runtime_checkable
class SplitsEncoder(Protocol):
    """An estimator that encodes rows itself, and can be read as an encoder with an estimator behind it."""

    def split_encoder(self) -> tuple[Callable[[NativeTable], FloatArray], object]:
        """A function from rows to encoded columns, and the fitted estimator of these columns.

        Returns
        -------
        tuple of callable and estimator
            The function and the estimator.
        """
        ...


@runtime_checkable
class SolvesEach(Protocol):
    """A backend that compares each row with a reference of its own in one search. Others are asked once for each."""

    def solve_each(self, problem: Problem, references: FloatArray) -> Solution | None:
        """Solve a "minus" problem in which each row has a reference of its own.

        Parameters
        ----------
        problem : Problem
            Its own reference is not read.
        references : ndarray of shape (n_rows, n_columns)
            One encoded reference for each row.

        Returns
        -------
        Solution or None
            What was found for each row; None where that is not possible, for the caller to ask for each reference.
        """
        ...


def missing_members(backend: object) -> list[str]:
    """What an object lacks to be a :class:`Backend`.

    Parameters
    ----------
    backend : object
        Any object.

    Returns
    -------
    list of str
        Names of methods and attributes; empty for a backend.
    """
    return [name for name in vars(Backend) if not name.startswith("_") and not hasattr(backend, name)]
