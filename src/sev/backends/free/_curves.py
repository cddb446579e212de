"""The term of one number as polynomials between knots: its best values, and the ranges in which it gains enough.

The knots and degrees are read from the fitted model; the polynomials are found from values of the term itself and
compared with it at further points. A term that does not meet them is not described.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sev.backends._curves import ColumnCurve
from sev.typing import FloatArray

#: Largest degree that is described.
_MOST_DEGREE = 6
#: Points between which and the polynomial there may be no more than this share of the size of the term.
_ROUNDING = 1e-11
#: Points beside those that fix the polynomial.
_MORE_POINTS = 4
_HALVINGS = 80


@dataclass(frozen=True, eq=False)
class Piece:
    """One polynomial of a term, from ``low`` to ``high``.

    Parameters
    ----------
    low, high : float
        Both included.
    middle, half : float
        The polynomial is in ``(x - middle) / half``.
    coefficients : ndarray of float
        From the constant upward.
    turns : ndarray of float
        Where it turns, inside, rising.
    error : float
        How far the term may be from it by rounding.
    """

    low: float
    high: float
    middle: float
    half: float
    coefficients: FloatArray
    turns: FloatArray
    error: float

    def at(self, value: float) -> float:
        """The polynomial at one value."""
        return float(np.polynomial.polynomial.polyval((value - self.middle) / self.half, self.coefficients))

    def reaches(self, value: float, level: float, sign: float) -> bool:
        """Whether ``sign`` times the term is surely at least ``level`` at one value."""
        return sign * self.at(value) - self.error >= level

    def grow(self, start: float, end: float, level: float, sign: float) -> float:
        """How far from one value towards another every value reaches the level; the start has to."""
        inside = self.turns[(self.turns > min(start, end)) & (self.turns < max(start, end))]
        here = start
        for there in [*(inside if end > start else inside[::-1]).tolist(), end]:
            if not self.reaches(there, level, sign):
                for _ in range(_HALVINGS):  # between two turns it rises or falls
                    between = (here + there) / 2
                    if between in (here, there):
                        break
                    if self.reaches(between, level, sign):
                        here = between
                    else:
                        there = between
                return here
            here = there
        return here


@dataclass(frozen=True, eq=False)
class TermCurve:
    """The term of one number between the ends of its pieces, which follow each other.

    In the gap between two pieces the term is one of both.

    Parameters
    ----------
    pieces : tuple of Piece
        From left to right.
    """

    pieces: tuple[Piece, ...]

    def covers(self, low: float, high: float) -> bool:
        """Whether all values between two ends are described."""
        return self.pieces[0].low <= low and high <= self.pieces[-1].high

    def best_values(self, observed: FloatArray) -> FloatArray:
        """Values among which, with the ends of any interval, is the best of that interval."""
        found: list[float] = []
        for piece in self.pieces:
            if len(piece.coefficients) > 1:
                found += [piece.low, *piece.turns.tolist(), piece.high]
                continue
            seen = observed[(observed >= piece.low) & (observed <= piece.high)]
            found.append(float(seen[len(seen) // 2]) if len(seen) else _round_inside(piece.low, piece.high))
        return np.unique(found)

    def around(self, value: float, level: float, sign: float, low: float, high: float) -> tuple[float, float] | None:
        """The widest range around a value in which ``sign`` times the term surely is at least ``level``; None where
        it is not at the value itself.

        Parameters
        ----------
        value : float
            Inside the range.
        level, sign : float
            What is to be reached.
        low, high : float
            The range ends here at the latest.
        """
        low, high = max(low, self.pieces[0].low), min(high, self.pieces[-1].high)
        place = int(np.searchsorted([one.high for one in self.pieces], value))
        if not low <= value <= high or place == len(self.pieces) or value < self.pieces[place].low:
            return None  # beyond what is known, or between two pieces
        if not self.pieces[place].reaches(value, level, sign):
            return None
        return self._grow_piece(place, value, low, level, sign), self._grow_piece(place, value, high, level, sign)

    def _grow_piece(self, place: int, value: float, limit: float, level: float, sign: float) -> float:
        step = 1 if limit > value else -1
        while True:
            piece = self.pieces[place]
            side = piece.high if step > 0 else piece.low
            end = min(side, limit) if step > 0 else max(side, limit)
            reached = piece.grow(value, end, level, sign)
            if reached != end or end == limit:
                return reached
            place += step
            if not 0 <= place < len(self.pieces):
                return reached
            other = self.pieces[place]
            value = other.low if step > 0 else other.high
            across = [one.reaches(at, level, sign) for one in (piece, other) for at in (end, value)]
            if not all(across) or (limit - value) * step < 0:
                return reached


def term_curve(
    columns: list[ColumnCurve], evaluate: Callable[[FloatArray], FloatArray], low: float, high: float
) -> TermCurve | None:
    """Describe the term of a number; None where it is not what its columns say.

    Parameters
    ----------
    columns : list of ColumnCurve
        The encoded columns that depend on the number.
    evaluate : callable
        The term at some values.
    low, high : float
        Between these.
    """
    degree = max((one.degree for one in columns), default=0)
    if degree > _MOST_DEGREE or not low < high:
        return None
    ends = _piece_ends(columns, evaluate if degree == 0 else None, low, high)
    if ends is None:
        return None
    shares = (1.0 - np.cos(np.linspace(0.0, np.pi, degree + 1 + _MORE_POINTS))) / 2
    points = ends[:, :1] + shares[None, :] * (ends[:, 1:] - ends[:, :1])
    points[:, -1] = ends[:, 1]
    values = evaluate(points.ravel()).reshape(points.shape)
    if not np.isfinite(values).all():
        return None
    size = float(np.abs(values).max()) or 1.0
    pieces = [_fit_piece(at, value, degree, size) for at, value in zip(points, values, strict=True)]
    found = [one for one in pieces if one is not None]
    if len(found) < len(pieces):
        return None
    found[0] = _extend_piece(found[0], evaluate, low)
    found[-1] = _extend_piece(found[-1], evaluate, high)
    return TermCurve(tuple(found))


def _extend_piece(piece: Piece, evaluate: Callable[[FloatArray], FloatArray], end: float) -> Piece:
    """The first or the last piece up to an end that lies beside a knot, if the term at the end is still its own: then
    it is so for all values between.
    """
    if piece.low <= end <= piece.high or abs(float(evaluate(np.array([end]))[0]) - piece.at(end)) > piece.error:
        return piece
    return replace(piece, low=min(piece.low, end), high=max(piece.high, end))


def _piece_ends(
    columns: list[ColumnCurve], evaluate: Callable[[FloatArray], FloatArray] | None, low: float, high: float
) -> FloatArray | None:
    """First and last value of each piece; with a function of steps, up to the last float before each of them."""
    knots = np.concatenate([one.knots for one in columns] or [np.zeros(0)])
    blur = np.concatenate([one.blur for one in columns] or [np.zeros(0)])
    order = np.argsort(knots)
    knots, blur = knots[order], blur[order]
    inside = (knots + blur > low) & (knots - blur < high)
    first, last = np.maximum(knots - blur, low)[inside], np.minimum(knots + blur, high)[inside]
    begins: list[float] = []
    stops: list[float] = []
    for begin, stop in zip(first.tolist(), last.tolist(), strict=True):
        if stops and begin <= stops[-1]:
            stops[-1] = max(stops[-1], stop)
        else:
            begins.append(begin)
            stops.append(stop)
    left, right = np.array(begins), np.array(stops)
    if evaluate is not None and len(left):
        left, right = _last_before_step(evaluate, left, right)
    ends = np.column_stack([np.concatenate([[low], right]), np.concatenate([left, [high]])])
    return ends[ends[:, 0] < ends[:, 1]] if (ends[:, 0] < ends[:, 1]).any() else None


def _last_before_step(
    evaluate: Callable[[FloatArray], FloatArray], left: FloatArray, right: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Neighbouring floats on both sides of the one step between each two values."""
    before = evaluate(left)
    for _ in range(_HALVINGS):
        middle = left + (right - left) / 2
        open_ = (middle > left) & (middle < right)
        if not open_.any():
            break
        same = evaluate(middle) == before
        left, right = np.where(open_ & same, middle, left), np.where(open_ & ~same, middle, right)
    return left, right


def _fit_piece(points: FloatArray, values: FloatArray, degree: int, size: float) -> Piece | None:
    low, high = float(points[0]), float(points[-1])
    middle, half = (low + high) / 2, (high - low) / 2
    if not half > 0:
        return None
    scaled = (points - middle) / half
    coefficients = np.asarray(values[:1], dtype=np.float64)
    if degree:
        coefficients = np.asarray(np.polynomial.polynomial.polyfit(scaled, values, degree), dtype=np.float64)
    residual = float(np.abs(np.polynomial.polynomial.polyval(scaled, coefficients) - values).max())
    if not residual <= _ROUNDING * size:
        return None
    turns = np.zeros(0)
    slopes = np.polynomial.polynomial.polyder(coefficients)
    slopes = np.trim_zeros(np.where(np.abs(slopes) > 1e-14 * size, slopes, 0.0), "b")
    if len(slopes) > 1:
        roots = np.polynomial.polynomial.polyroots(slopes)
        real = np.real(roots[np.abs(np.imag(roots)) < 1e-6])
        turns = np.unique(middle + half * real[np.abs(real) < 1.0])
    return Piece(low, high, middle, half, coefficients, turns, 4.0 * residual + 1e-14 * size)


def _round_inside(low: float, high: float) -> float:
    """A value with few digits between two others."""
    for digits in range(-12, 16):
        candidate = round(float(np.ceil((low + high) / 2 * 10.0**digits) / 10.0**digits), max(digits, 0))
        if low <= candidate <= high:
            return candidate
    return (low + high) / 2
