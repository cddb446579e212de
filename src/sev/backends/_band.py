"""The band of margins in which only the model itself can decide."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sev.typing import FloatArray

#: No margin is larger than this; the largest float itself would overflow in the model's own link.
_LARGEST = 1e100


def decision_band(
    scores: Callable[[FloatArray], FloatArray],
    threshold: float,
    tolerance: float,
    link: Callable[[FloatArray], FloatArray] | None = None,
) -> tuple[float, float]:
    """Margins below ``low`` score clearly below the threshold, margins above ``high`` clearly at or above it.

    Parameters
    ----------
    scores : callable
        Maps margins to scores of the final estimator.
    threshold : float
        On the score of the model.
    tolerance : float
        How far a score of the final estimator may be off by rounding.
    link : callable, default=None
        Monotone map from scores of the final estimator to those of the model; None is the identity. After both maps,
        scores never fall as margins grow. The link may be flat or arbitrarily steep: the rounding of a score is
        followed through it.

    Returns
    -------
    low, high : float
        They may be infinite, where the map never gets that far.
    """
    slack = tolerance * max(1.0, abs(threshold))
    above = np.nextafter(threshold + slack, np.inf)
    if link is None:
        return _first_reaching(scores, threshold - slack), _first_reaching(scores, above)

    def lowest(margins: FloatArray) -> FloatArray:
        return np.minimum(*_linked_ends(scores(margins), link, tolerance))

    def highest(margins: FloatArray) -> FloatArray:
        return np.maximum(*_linked_ends(scores(margins), link, tolerance))

    return _first_reaching(highest, threshold - slack), _first_reaching(lowest, above)


def _linked_ends(
    scores: FloatArray, link: Callable[[FloatArray], FloatArray], tolerance: float
) -> tuple[FloatArray, FloatArray]:
    """What the link makes of scores that are as far off as rounding allows, to either side."""
    off = tolerance * np.maximum(1.0, np.abs(scores))
    return link(scores - off), link(scores + off)


def _first_reaching(scores: Callable[[FloatArray], FloatArray], level: float) -> float:
    """Smallest margin whose score is at least the level, by halving the ordered list of all floats."""
    lowest, highest = _as_rank(-_LARGEST), _as_rank(_LARGEST)
    if _reaches_level(scores, lowest, level):
        return -np.inf
    if not _reaches_level(scores, highest, level):
        return np.inf
    while highest - lowest > 1:
        middle = (lowest + highest) // 2
        if _reaches_level(scores, middle, level):
            highest = middle
        else:
            lowest = middle
    return _from_rank(highest)


def _reaches_level(scores: Callable[[FloatArray], FloatArray], rank: int, level: float) -> bool:
    return bool(scores(np.array([_from_rank(rank)]))[0] >= level)


def _as_rank(value: float) -> int:
    """Position of a float among all floats."""
    bits = int(np.float64(value).view(np.int64))
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _from_rank(rank: int) -> float:
    bits = rank if rank >= 0 else (-rank) | -0x8000_0000_0000_0000
    return float(np.int64(bits).view(np.float64))
