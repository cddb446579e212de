"""Maps that a wrapper applies to the score of the model inside it, each shown to rise or to fall everywhere.

A decision of the wrapper is a decision about the margin of the model inside only if the map between them is monotone.
That is read from the fitted parameters of the map; a map of another kind is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from sev.backends._protocol import Backend, CannotReadError
from sev.search import Problem, Solution
from sev.typing import FloatArray, NativeTable, Response


@dataclass(frozen=True)
class Link:
    """A monotone map of scores.

    Parameters
    ----------
    apply : callable
        Scores of the model inside, to scores of the wrapper.
    direction : {-1, 1}
        1 when it never falls, -1 when it never rises.
    """

    apply: Callable[[FloatArray], FloatArray]
    direction: Literal[-1, 1]


def calibration_link(calibrator: Any, response: Response) -> Link:
    """Read the map of a fitted calibrator of scikit-learn.

    Parameters
    ----------
    calibrator : object
        Sigmoid, isotonic regression or temperature scaling.
    response : {"predict_proba", "decision_function"}
        Which output of the model inside it takes.

    Raises
    ------
    CannotReadError
        When it is of another kind, or not monotone.
    """
    kind = type(calibrator).__name__
    known = type(calibrator).__module__.partition(".")[0] == "sklearn"
    if known and kind == "_SigmoidCalibration":
        # expit(-(a * score + b)): a fit on noise may have a positive a, and then falls
        direction = _direction_of(-float(calibrator.a_), "the sigmoid")
        return Link(_Calibrated(calibrator, False), direction)
    if known and kind == "IsotonicRegression":
        steps = np.diff(np.asarray(calibrator.y_thresholds_, dtype=np.float64))
        if not ((steps >= 0).all() or (steps <= 0).all()):
            raise CannotReadError("its isotonic calibration neither rises nor falls everywhere")
        return Link(_Calibrated(calibrator, False), 1 if (steps >= 0).all() else -1)
    if known and kind == "_TemperatureScaling":
        direction = _direction_of(float(calibrator.beta_), "the temperature scaling")
        return Link(_Calibrated(calibrator, response == "predict_proba"), direction)
    raise CannotReadError(f"its calibrator, {kind}, is not known to rise everywhere")


def _direction_of(slope: float, what: str) -> Literal[-1, 1]:
    if not np.isfinite(slope):
        raise CannotReadError(f"the slope of {what} that calibrates it is {slope}")
    return -1 if slope < 0 else 1


@dataclass(frozen=True, eq=False)
class _Calibrated:
    """Calls a calibrator; an object, so that explainers can be pickled."""

    calibrator: Any
    both_classes: bool

    def __call__(self, scores: FloatArray) -> FloatArray:
        given: Any = scores
        if self.both_classes:  # a score moved by its rounding may leave [0, 1], where there are no logarithms
            inside = np.clip(scores, 0.0, 1.0)
            given = np.column_stack([1.0 - inside, inside])
        mapped = np.asarray(self.calibrator.predict(given), dtype=np.float64)
        return mapped[:, 1] if mapped.ndim == 2 else mapped


def orient_backend(backend: Backend, direction: int) -> Backend:
    """The backend itself, or, behind a link that falls, the same with margins of the other sign."""
    return backend if direction == 1 else _NegatedBackend(backend)


class _NegatedBackend:
    """A backend whose margins have the other sign, so that they grow with the score after a link that falls.

    ``scores`` still returns what the estimator inside returns, and therefore falls with these margins.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @property
    def family(self) -> str:
        """Name for people."""
        return self._backend.family

    @property
    def n_columns(self) -> int:
        """Number of encoded columns."""
        return self._backend.n_columns

    @property
    def score_tolerance(self) -> float:
        """How far scores may be off by rounding."""
        return self._backend.score_tolerance

    @property
    def lists_sets_later(self) -> bool:
        """Whether the solver leaves out further sets when only the first is wanted."""
        return bool(getattr(self._backend, "lists_sets_later", False))

    def encode(self, rows: NativeTable) -> FloatArray:
        """Rows in the columns of the backend inside."""
        return self._backend.encode(rows)

    def margins(self, encoded: FloatArray) -> FloatArray:
        """Margins, sign-flipped."""
        return -self._backend.margins(encoded)

    def scores(self, margins: FloatArray) -> FloatArray:
        """The estimator's own scores for given sign-flipped margins."""
        return self._backend.scores(-margins)

    def proof_rows(self, rows: NativeTable) -> NativeTable | None:
        """As the backend inside chooses them."""
        return self._backend.proof_rows(rows)

    def solve(self, problem: Problem) -> Solution:
        """Solve the same problem on the margins of the backend inside."""
        flipped = replace(problem, direction=-problem.direction, low=-problem.high, high=-problem.low)
        return self._backend.solve(flipped)
