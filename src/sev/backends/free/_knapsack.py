"""The least cost at which some features together gain enough, each by one of its values or not at all.

A branch and bound over what each feature gains. The bound lets every feature take any point of the lower convex hull of
its values, which a greedy rule solves: the steps that gain most for their cost first. At most one feature then stands
between two of its values, and its gains are divided there.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sev.backends.free._least_cost import Line, Listed, round_values
from sev.typing import BoolArray, FloatArray

#: Nodes that are looked at for one row.
_MOST_NODES = 4_000
#: Two gains that differ by less than this share are equal.
_SAME = 1e-12


class LeastCostOfAny(NamedTuple):
    """Values of least cost, and which features move to theirs."""

    targets: FloatArray
    moved: BoolArray
    cost: float
    proven: bool


class _Point(NamedTuple):
    """What one value gains and costs; ``on_line`` when all gains between the point before and this one exist."""

    gain: float
    cost: float
    target: float
    on_line: bool = False
    moves: bool = True


#: What a feature may gain: from and up to, both included.
_Limits = tuple[float, float]


class _Node(NamedTuple):
    """A part of the search: what it costs at least, and what each feature may gain in it."""

    bound: float
    number: int
    limits: tuple[_Limits, ...]


class _Relaxed(NamedTuple):
    """The least cost where features may stand between their values: of each what it gains, and the one that does."""

    cost: float
    points: list[_Point]
    open: int | None
    next_point: _Point | None


class _Feature:
    """The values of one feature that are worth their cost."""

    def __init__(self, values: Listed | Line) -> None:
        stay = _Point(0.0, 0.0, math.nan, moves=False)
        self.line = values if isinstance(values, Line) else None
        if isinstance(values, Line):
            near, far = values.gain_at(values.near), values.most
            ends = [_Point(near, values.fixed, values.near), _Point(far, values.cost_at(values.far), values.far, True)]
            self._points = [stay, *(ends if near > 0.0 else ends[1:])]
            self._begins_at_stay = near <= 0.0
            return
        self._begins_at_stay = False
        self._points = [stay]
        for place in np.lexsort((-values.gains, values.costs)).tolist():  # costlier values must gain more
            point = _Point(float(values.gains[place]), float(values.costs[place]), float(values.targets[place]))
            if point.gain > self._points[-1].gain:
                self._points.append(point)

    def within(self, limits: _Limits) -> list[_Point]:
        """The lower convex hull of the values whose gains are within limits, by rising gain; empty where none is."""
        low, high = limits
        points = [one for one in self._points if low <= one.gain <= high]
        if self.line is not None and len(self._points) > 1:
            points = self._clip_line(points, low, high)
        hull: list[_Point] = []
        for point in points:
            if hull and point.cost <= hull[0].cost:
                hull.clear()  # it gains more for no more
            while len(hull) > 1 and _compute_slope(hull[-1], point) <= _compute_slope(hull[-2], hull[-1]):
                hull.pop()
                point = point._replace(on_line=False)
            hull.append(point)
        return hull

    def _clip_line(self, points: list[_Point], low: float, high: float) -> list[_Point]:
        begin, end = self._points[-2], self._points[-1]
        low, high = max(low, begin.gain), min(high, end.gain)
        if low > high:
            return points
        clipped = [self.at_gain(low), self.at_gain(high)._replace(on_line=True)]
        others = [one for one in points if one.gain < clipped[0].gain]
        return [*others, *(clipped if clipped[0].gain < clipped[1].gain else clipped[:1])]

    def at_gain(self, gain: float) -> _Point:
        """A point of the line."""
        line = self.line
        assert line is not None
        if gain <= 0.0 and self._begins_at_stay:
            return self._points[0]
        value = line.near + (gain - line.gain_at(line.near)) / line.slope
        return _Point(gain, line.cost_at(value), value)


def _compute_slope(one: _Point, other: _Point) -> float:
    return (other.cost - one.cost) / (other.gain - one.gain) if other.gain > one.gain else math.inf


def least_cost_of_any(values: Sequence[Listed | Line], need: float) -> LeastCostOfAny | None:
    """The least costly values of any of some features that together gain as much as is needed.

    Parameters
    ----------
    values : sequence of Listed or Line
        What each feature may become, with gains above 0.
    need : float
        What is to be gained.

    Returns
    -------
    LeastCostOfAny or None
        Proven unless the search was cut; features that stay are not in ``moved``. None where all together do not gain
        enough.
    """
    features = [_Feature(one) for one in values]
    best: list[_Point] | None = None
    best_cost = math.inf
    root = _Node(0.0, 0, ((0.0, math.inf),) * len(features))
    heap, n_nodes = [root], 1
    while heap and n_nodes < _MOST_NODES:
        node = heapq.heappop(heap)
        if node.bound >= best_cost:
            heap.clear()
            break
        relaxed = _relax_limits(features, node.limits, need)
        if relaxed is None or relaxed.cost >= best_cost:
            continue
        if relaxed.open is None:
            best, best_cost = relaxed.points, relaxed.cost
            continue
        gained = relaxed.points[relaxed.open]
        assert relaxed.next_point is not None
        full = [*relaxed.points]
        full[relaxed.open] = relaxed.next_point
        cost = math.fsum(one.cost for one in full)
        if cost < best_cost:
            best, best_cost = full, cost
        low, high = node.limits[relaxed.open]
        for part in ((low, gained.gain * (1.0 - _SAME)), (gained.gain * (1.0 + _SAME), high)):
            limits = (*node.limits[: relaxed.open], part, *node.limits[relaxed.open + 1 :])
            heapq.heappush(heap, _Node(relaxed.cost, n_nodes, limits))
            n_nodes += 1
    if best is None:
        return None
    targets = np.array([one.target for one in best])
    for number, feature in enumerate(features):
        if feature.line is not None and best[number].moves:
            ends = (np.array([one]) for one in (*feature.line[1:3], feature.line.old, targets[number]))
            targets[number] = round_values(*ends)[0]
    return LeastCostOfAny(targets, np.array([one.moves for one in best], dtype=np.bool_), best_cost, proven=not heap)


def _relax_limits(features: Sequence[_Feature], limits: Sequence[_Limits], need: float) -> _Relaxed | None:
    """The least cost over the hulls of all features; None where they do not gain enough."""
    hulls = [feature.within(part) for feature, part in zip(features, limits, strict=True)]
    if not all(hulls):
        return None
    points = [hull[0] for hull in hulls]
    cost = math.fsum(one.cost for one in points)
    missing = need - math.fsum(one.gain for one in points)
    steps = [
        (_compute_slope(hull[place - 1], hull[place]), number, place)
        for number, hull in enumerate(hulls)
        for place in range(1, len(hull))
    ]
    for slope, number, place in sorted(steps):
        if missing <= 0.0:
            break
        before, point = hulls[number][place - 1], hulls[number][place]
        gain = point.gain - before.gain
        if gain <= missing:
            points[number], cost, missing = point, cost + point.cost - before.cost, missing - gain
            continue
        cost += slope * missing
        if point.on_line:
            points[number] = features[number].at_gain(before.gain + missing)
            return _Relaxed(cost, points, None, None)
        points[number] = _Point(before.gain + missing, before.cost + slope * missing, math.nan)
        return _Relaxed(cost, points, number, point)
    return _Relaxed(cost, points, None, None) if missing <= 0.0 else None
