"""How each encoded column depends on a raw number, read from the fitted steps of a model instead of seen on samples.

A column is a *curve* of one number: between neighbouring knots a polynomial of a known degree. Steps that are not known
here make columns of which nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sev._registry import find, load
from sev.backends._overrides import refuse_overrides
from sev.backends._protocol import CannotReadError
from sev.backends._reading import Reading
from sev.typing import FittedModel, FloatArray, ModelOutput

#: Knots are known up to this many units of rounding of the numbers that they are computed from.
_ULPS = 32.0


@dataclass(frozen=True, eq=False)
class ColumnCurve:
    """One column as a function of a raw number: a polynomial between knots.

    Parameters
    ----------
    source : int or None
        Position of the raw column; None where the column is constant.
    degree : int
        Largest degree of the polynomials.
    knots, blur : ndarray of float
        Raw values around which one polynomial ends and another begins, and how far from there at most.
    scale, shift : float or None
        ``column = scale * raw + shift``, up to rounding, where that holds; None for other columns.
    """

    source: int | None
    degree: int
    knots: FloatArray
    blur: FloatArray
    scale: float | None = None
    shift: float | None = None

    @classmethod
    def raw(cls, source: int) -> ColumnCurve:
        """A raw number itself.

        Parameters
        ----------
        source : int
            Position of the raw column.

        Returns
        -------
        ColumnCurve
            One straight line.
        """
        return cls(source, 1, np.zeros(0), np.zeros(0), 1.0, 0.0)

    @classmethod
    def constant(cls) -> ColumnCurve:
        """A column that does not vary.

        Returns
        -------
        ColumnCurve
            A curve of no number.
        """
        return cls(None, 0, np.zeros(0), np.zeros(0))

    @property
    def is_affine(self) -> bool:
        """Whether the column is one straight line."""
        return self.scale is not None and self.shift is not None and self.scale != 0.0 and np.isfinite(self.scale)

    def scaled(self, factor: float, offset: float) -> ColumnCurve:
        """The curve of ``factor * column + offset``.

        Parameters
        ----------
        factor, offset : float
            What the column is multiplied with, and what is added then.

        Returns
        -------
        ColumnCurve
            With the same knots.
        """
        if self.scale is None or self.shift is None:
            return self
        return replace(self, scale=self.scale * factor, shift=self.shift * factor + offset)

    def powered(self, power: int) -> ColumnCurve:
        """The curve of a polynomial of the column.

        Parameters
        ----------
        power : int
            Degree of the polynomial.

        Returns
        -------
        ColumnCurve
            With the same knots.
        """
        if power == 1:
            return self
        return replace(self, degree=self.degree * power, scale=None, shift=None)

    def cut(self, knots: FloatArray, degree: int) -> ColumnCurve | None:
        """The curve of a function of the column that has knots of its own.

        Parameters
        ----------
        knots : ndarray of float
            Values of the column where one polynomial ends and another begins.
        degree : int
            Largest degree of these polynomials.

        Returns
        -------
        ColumnCurve or None
            None where the column is not a line, so that the knots cannot be traced back to the raw number.
        """
        if self.source is None:
            return self
        if not self.is_affine:
            return None
        assert self.scale is not None
        assert self.shift is not None
        knots = np.unique(np.asarray(knots, dtype=np.float64))
        knots = knots[np.isfinite(knots)]
        raw = (knots - self.shift) / self.scale
        unit = float(np.finfo(np.float64).eps)
        size = np.abs(raw) + (np.abs(knots) + abs(self.shift)) / abs(self.scale)
        order = np.argsort(raw)
        return ColumnCurve(self.source, degree, raw[order], (_ULPS * unit * size)[order])


#: Columns at some step of a model; None where nothing is known about a column.
Curves = Sequence[ColumnCurve | None]


def follow_curves(step: FittedModel, columns: Curves) -> list[ColumnCurve | None] | None:
    """The columns that a fitted step makes of others; None where nothing is known about the step.

    Parameters
    ----------
    step : object
        A fitted transformer, or an estimator that a backend encodes rows for.
    columns : sequence of ColumnCurve or None
        What it takes.

    Returns
    -------
    list of ColumnCurve or None
        What it makes, column by column.
    """
    known = find(step, "curves")
    if known is None:
        return None
    try:
        refuse_overrides(step, known.ancestor)
    except CannotReadError:
        return None
    found: list[ColumnCurve | None] | None = load(known.route)(step, columns)
    return found


def encoded_curves(reading: Reading, numbers: Sequence[bool]) -> list[ColumnCurve | None] | None:
    """What is known about each encoded column of a model; None where it is nothing at all.

    Parameters
    ----------
    reading : Reading
        The model.
    numbers : sequence of bool
        For each raw column whether it is a number.
    """
    columns: list[ColumnCurve | None] | None
    columns = [ColumnCurve.raw(place) if one else None for place, one in enumerate(numbers)]
    for transform in reading.unwrapped.transforms:
        owner = _find_step_of(transform)
        columns = None if owner is None else follow_curves(owner, columns)
        if columns is None:
            return None
    if find(reading.unwrapped.estimator, "curves") is not None:
        columns = follow_curves(reading.unwrapped.estimator, columns)
    elif reading.backend.family not in ("linear", "networks"):  # these take the columns as they are
        return None
    if columns is None or len(columns) != len(reading.encoding.column_feature):
        return None
    return columns


def _find_step_of(transform: Callable[[ModelOutput], ModelOutput]) -> FittedModel | None:
    """The fitted step whose method a transform is; None for other functions."""
    name = getattr(transform, "__name__", None)
    return getattr(transform, "__self__", None) if name == "transform" else None
