"""Calibrators as monotone maps of a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from sev.backends import CannotReadError, Link
from sev.typing import FloatArray, Response

if TYPE_CHECKING:
    from sklearn.base import RegressorMixin as Calibrator


def calibration_link(calibrator: Calibrator, response: Response) -> Link:
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
            raise CannotReadError("its isotonic calibration is not monotone")
        return Link(_Calibrated(calibrator, False), 1 if (steps >= 0).all() else -1)
    if known and kind == "_TemperatureScaling":
        direction = _direction_of(float(calibrator.beta_), "the temperature scaling")
        return Link(_Calibrated(calibrator, response == "predict_proba"), direction)
    raise CannotReadError(f"its calibrator, {kind}, is not known to be monotone")


def _direction_of(slope: float, what: str) -> Literal[-1, 1]:
    if not np.isfinite(slope):
        raise CannotReadError(f"the slope of {what} that calibrates it is {slope}")
    return -1 if slope < 0 else 1


@dataclass(frozen=True, eq=False)
class _Calibrated:
    """Calls a calibrator; an object, so that explainers can be pickled."""

    calibrator: Calibrator
    both_classes: bool

    def __call__(self, scores: FloatArray) -> FloatArray:
        given = scores
        if self.both_classes:  # a score moved by its rounding may leave [0, 1], where there are no logarithms
            inside = np.clip(scores, 0.0, 1.0)
            given = np.column_stack([1.0 - inside, inside])
        mapped = np.asarray(self.calibrator.predict(given), dtype=np.float64)
        return mapped[:, 1] if mapped.ndim == 2 else mapped
