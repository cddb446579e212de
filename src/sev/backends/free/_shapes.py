"""How the margin of an additive model depends on one number: which permitted value is best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sev.typing import FloatArray

#: How far from a line or a parabola values may be, as a share of their size, to be on it.
_ROUNDING = 1e-10
#: A curve with so many different values for each point is not made of steps.
_DISTINCT = 0.5


@dataclass(frozen=True)
class Shape:
    """The form of a function of one number, as seen on many points.

    Parameters
    ----------
    kind : {"line", "parabola", "rising or falling", "other"}
        For all but the last, the best value of an interval is an end of it or the vertex.
    slope : float
        Of a line.
    vertex : float
        Where a parabola turns; NaN for other forms.
    """

    kind: Literal["line", "parabola", "rising or falling", "other"]
    slope: float = 0.0
    vertex: float = float("nan")


def shape_of(points: FloatArray, values: FloatArray) -> Shape:
    """The form of a function, from its values at rising points."""
    if len(points) < 2 or not np.isfinite(values).all():
        return Shape("line") if len(points) < 2 else Shape("other")
    size = float(np.abs(values).max()) or 1.0
    middle, half = (points[0] + points[-1]) / 2, (points[-1] - points[0]) / 2
    scaled = (points - middle) / half
    slope = (values[-1] - values[0]) / (points[-1] - points[0])
    if np.abs(values[0] + slope * (points - points[0]) - values).max() <= _ROUNDING * size:
        return Shape("line", slope=float(slope))
    curve = np.polynomial.Polynomial.fit(scaled, values, 2, domain=[-1, 1]).coef
    if np.abs(curve[0] + curve[1] * scaled + curve[2] * scaled**2 - values).max() <= _ROUNDING * size and curve[2] != 0:
        return Shape("parabola", vertex=float(middle - half * curve[1] / (2 * curve[2])))
    steps = np.diff(values)
    tolerance = 1e-13 * size
    goes_one_way = bool((steps >= -tolerance).all() or (steps <= tolerance).all())
    if goes_one_way and len(np.unique(values)) >= _DISTINCT * len(values):
        return Shape("rising or falling")
    return Shape("other")
