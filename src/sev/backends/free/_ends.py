"""Additive models: the better end of what is permitted of each number, for all numbers and rows at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from sev.actions import NumberTable, first_on_grid, last_on_grid, on_grid
from sev.typing import BoolArray, Dtype, FloatArray

#: Values of a number whose terms are kept between problems.
_MOST_KEPT = 4_096


class Ends(NamedTuple):
    """Smallest and largest permitted value of each number and row, and whether there is any; (n_numbers, n_rows)."""

    low: FloatArray
    high: FloatArray
    exists: BoolArray


class BetterEnd(NamedTuple):
    """The end that changes the margin most in the wanted direction, and by how much; (n_numbers, n_rows)."""

    target: FloatArray
    gain: FloatArray
    usable: BoolArray


def ends_of_all(table: NumberTable) -> Ends:
    """As :func:`sev.actions.grid_ends`, for all numbers."""
    low, high = table.low.copy(), table.high.copy()
    exists = low <= high
    for step, numbers in table.by_step().items():
        if step is None:
            continue
        origin = table.origin[numbers]
        places = first_on_grid(table.low[numbers], step, origin), last_on_grid(table.high[numbers], step, origin)
        found = places[0] <= places[1]
        ends = [on_grid(np.where(found, place, 0.0), step, origin) for place in places]
        low[numbers], high[numbers] = np.where(found, ends[0], np.inf), np.where(found, ends[1], -np.inf)
        exists[numbers] = found
    return Ends(low, high, exists)


class KnownTerms:
    """Terms of numbers at values that were asked for before.

    Parameters
    ----------
    find : callable
        Takes values by number of the feature, and the dtypes that rows have; returns the terms.
    """

    def __init__(self, find: Callable[[Mapping[int, FloatArray], list[Dtype]], Mapping[int, FloatArray]]) -> None:
        self._find = find
        self._known: tuple[list[Dtype], dict[int, tuple[FloatArray, FloatArray]]] = ([], {})

    def __getstate__(self) -> dict[str, object]:
        """Without what is known."""
        return {**self.__dict__, "_known": ([], {})}

    def at(self, values: Mapping[int, FloatArray], dtypes: list[Dtype]) -> dict[int, FloatArray]:
        """Terms of numbers at some values each, with columns of these dtypes."""
        known = self._known[1] if self._known[0] == dtypes else {}
        new = {}
        for number, wanted in values.items():
            is_new = _are_new(known.get(number), wanted)
            if is_new.any():
                new[number] = np.unique(wanted[is_new])
        if new:
            known = dict(known)  # another thread may read the one that is kept
            for number, terms in self._find(new, dtypes).items():
                known[number] = _join_terms(known.get(number), new[number], terms)
            self._known = (dtypes, {n: one for n, one in known.items() if len(one[0]) <= _MOST_KEPT})
        return {number: known[number][1][np.searchsorted(known[number][0], one)] for number, one in values.items()}


def _are_new(known: tuple[FloatArray, FloatArray] | None, values: FloatArray) -> BoolArray:
    """Values whose terms are not known."""
    if known is None:
        return np.ones(len(values), dtype=np.bool_)
    places = np.minimum(np.searchsorted(known[0], values), len(known[0]) - 1)
    return known[0][places] != values


def _join_terms(
    known: tuple[FloatArray, FloatArray] | None, points: FloatArray, terms: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Known terms and more, by rising value."""
    if known is not None:
        points, terms = np.concatenate([known[0], points]), np.concatenate([known[1], terms])
    order = np.argsort(points)
    return points[order], terms[order]


def better_ends(
    table: NumberTable, ends: Ends, own: FloatArray, sign: float, known: KnownTerms, dtypes: list[Dtype]
) -> BetterEnd:
    """The better end of each number and row.

    Parameters
    ----------
    table : NumberTable
        The numbers.
    ends : Ends
        Of these.
    own : ndarray of shape (n_numbers, n_rows)
        The term of each row's own value.
    sign : {-1.0, 1.0}
        Gains times this are the better the smaller they are.
    known : KnownTerms
        Terms at values.
    dtypes : list
        Those of the rows.
    """
    best = BetterEnd(np.zeros(own.shape), np.zeros(own.shape), np.zeros(own.shape, dtype=np.bool_))
    values: dict[int, FloatArray] = {}
    for place, number in enumerate(table.features.tolist()):
        some = ends.exists[place]
        if some.any():
            values[number] = np.concatenate([ends.low[place][some], ends.high[place][some]])
    terms = known.at(values, dtypes)
    at_low, at_high = np.zeros(own.shape), np.zeros(own.shape)
    for place, number in enumerate(table.features.tolist()):
        if number in terms:
            some = np.flatnonzero(ends.exists[place])
            at_low[place, some], at_high[place, some] = terms[number][: len(some)], terms[number][len(some) :]
    for target, term in ((ends.low, at_low), (ends.high, at_high)):
        gain = term - own
        better = ends.exists & (target != table.old) & np.isfinite(gain) & (sign * gain < sign * best.gain)
        best = BetterEnd(np.where(better, target, best.target), np.where(better, gain, best.gain), best.usable | better)
    return best
