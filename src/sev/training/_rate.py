"""Holding the share of positive decisions: the last step of training, after the guard in the loss."""

from __future__ import annotations

import numpy as np

from sev.training._settings import Settings
from sev.typing import FloatArray


def final_shift(
    settings: Settings, logits: FloatArray, rate: float, *, reference_logit: float, weights: FloatArray | None
) -> float:
    """What to add to a tuned model's bias, from its logits of the training rows.

    A shift that was found on rows held out goes before one from the training rows. Neither brings the reference closer
    to the threshold than its margin.
    """
    shift = settings.bias_shift
    if shift is None:
        tolerance = settings.rate_tolerance
        shift = 0.0 if tolerance is None else shift_for_rate(logits, rate, tolerance, weights)
    margin = settings.reference_margin
    highest = float(np.log((0.5 - margin) / (0.5 + margin))) - reference_logit
    return min(shift, max(0.0, highest))


def shift_for_rate(logits: FloatArray, rate: float, tolerance: float, weights: FloatArray | None = None) -> float:
    """The least to add to the logits so that about as large a share of them is positive as before training.

    The guard in the loss is weighed against other terms, and replaces the step from negative to positive by a slope;
    here decisions are counted as they are, and the share is held whatever the other terms are.

    Parameters
    ----------
    logits : ndarray of shape (n_rows,)
        After training.
    rate : float
        The share of positive rows before training.
    tolerance : float
        By which part of itself the share may change.
    weights : ndarray of shape (n_rows,), default=None
        Weight of each row in the share.
    """
    share = float(np.average(logits >= 0.0, weights=weights))
    if abs(share - rate) <= tolerance * rate:
        return 0.0
    order = np.argsort(-logits, kind="stable")
    values = logits[order]
    mass = np.ones(len(logits)) if weights is None else weights[order]
    # a cut is between two different values: equal rows are decided alike
    cuts = np.flatnonzero(values[:-1] > values[1:])
    if not cuts.size:
        return 0.0
    shares = (np.cumsum(mass) / mass.sum())[cuts]
    allowed = np.abs(shares - rate) <= tolerance * rate
    distance = np.where(allowed, np.abs(shares - share), 1.0 + np.abs(shares - rate))
    cut = cuts[int(np.argmin(distance))]
    return -float(values[cut] + values[cut + 1]) / 2.0
