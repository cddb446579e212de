"""What the background says about each feature: ranges, spreads, categories, and what is typical of the other class."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pandas as pd

from sev.core import distinct_rows, python_value
from sev.references import Background, holds_integers
from sev.space import Feature
from sev.typing import BoolArray, Cell, Cells, FloatArray, IntArray

#: Half the width of the band of quantiles around the reference's own position that is typical.
BAND = 0.1
_MOST_OBSERVED = 64

#: A cell by its type and its value: equal for cells that are one value, and for no others.
CellKey: TypeAlias = tuple[str, Hashable]


@dataclass(frozen=True, eq=False)
class NumberGround:
    """A feature of one column of numbers.

    Parameters
    ----------
    low, high : float
        Smallest and largest value of the background; NaN where all are missing.
    scale : float
        Standard deviation of the background, 1 where it is 0.
    step : float or None
        1 for a column that holds only integers.
    band : ndarray of shape (n_references, 2)
        For each reference row, the values that are typical of the other class around the reference's own.
    observed : ndarray
        Some of the values that occur, spread over all of them: candidates where not every value can be searched.
    """

    low: float
    high: float
    scale: float
    step: float | None
    band: FloatArray
    observed: FloatArray


@dataclass(frozen=True, eq=False)
class ChoiceGround:
    """A feature without numbers, or of several columns.

    Parameters
    ----------
    choices : tuple of tuple
        The values that occur, one for each column of the feature; those of the references included.
    names : tuple
        What each choice is called: the value, or for a one-hot block the column that is 1; else None.
    is_ordered : bool
        Whether the choices stand in an order that means something.
    missing : tuple
        How a missing value is written.
    """

    choices: tuple[Cells, ...]
    names: tuple[Cell, ...]
    is_ordered: bool
    missing: Cells

    @cached_property
    def keys(self) -> tuple[tuple[CellKey, ...], ...]:
        """The choices as keys of a dictionary."""
        return tuple(map(cells_key, self.choices))

    @cached_property
    def place_of(self) -> dict[tuple[CellKey, ...], int]:
        """The place of each choice, by its key."""
        return {key: place for place, key in enumerate(self.keys)}

    @cached_property
    def are_missing(self) -> BoolArray:
        """Choices with a missing cell."""
        return holds_missing(self.keys)

    @cached_property
    def table(self) -> FloatArray | None:
        """The choices as rows of float64, NaN for a missing cell, where all cells are numbers; else None."""
        kinds = {cell[0] for key in self.keys for cell in key}
        if not self.keys or not kinds <= {"number", "missing"}:
            return None
        cells = [[cell[1] if cell[0] == "number" else np.nan for cell in key] for key in self.keys]
        return np.array(cells, dtype=np.float64)


FeatureGround = NumberGround | ChoiceGround


@dataclass(frozen=True, eq=False)
class Ground:
    """What is known of every feature.

    Parameters
    ----------
    features : tuple
        In the order of the features of the space.
    """

    features: tuple[FeatureGround, ...]

    @classmethod
    def of(cls, background: Background, references: pd.DataFrame) -> Ground:
        """Read background rows.

        Parameters
        ----------
        background : Background
            The rows, and which of them are of the other class.
        references : DataFrame
            The reference rows.

        Returns
        -------
        Ground
            Ranges, values that occur, and what is typical.
        """
        return cls(tuple(_read_feature(one, background, references) for one in background.space.features))

    def around(self, background: Background, references: pd.DataFrame) -> Ground:
        """The same knowledge of the features, with what is typical around other reference rows.

        Parameters
        ----------
        background : Background
            Rows of which some are of the other class.
        references : DataFrame
            The reference rows.

        Returns
        -------
        Ground
            A new one.
        """
        pairs = zip(self.features, Ground.of(background, references).features, strict=True)
        return Ground(tuple(_with_references(known, new) for known, new in pairs))


def _with_references(known: FeatureGround, new: FeatureGround) -> FeatureGround:
    """What is known of a feature, with the values of other reference rows."""
    if isinstance(known, NumberGround):
        assert isinstance(new, NumberGround)
        return replace(known, band=new.band)
    assert isinstance(new, ChoiceGround)
    held = set(known.keys)
    more = [place for place, key in enumerate(new.keys) if key not in held]
    return replace(
        known,
        choices=(*known.choices, *(new.choices[place] for place in more)),
        names=(*known.names, *(new.names[place] for place in more)),
        is_ordered=known.is_ordered and not more,
    )


def as_numbers(values: pd.Series) -> FloatArray:
    """A column of numbers as float64, NaN where a value is missing."""
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def cell_key(value: Cell) -> CellKey:
    """A cell as a key of a dictionary: 1 and 1.0 are one value, 1 and True are not, missing values are one.

    Parameters
    ----------
    value : object
        A cell.

    Returns
    -------
    tuple of str and hashable
        The key.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return "str", value
    if pd.isna(value):
        return "missing", ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "number", float(value)
    return type(value).__name__, value


def cells_key(cells: Sequence[Cell]) -> tuple[CellKey, ...]:
    """The same for the cells of several columns.

    Parameters
    ----------
    cells : sequence of object
        Cells.

    Returns
    -------
    tuple
        The key.
    """
    return tuple(map(cell_key, cells))


def holds_missing(keys: Sequence[tuple[CellKey, ...]]) -> BoolArray:
    """Which keys have a missing cell.

    Parameters
    ----------
    keys : sequence of tuple
        As :func:`cells_key` makes them.

    Returns
    -------
    ndarray of bool
        One for each key.
    """
    return np.array([any(cell[0] == "missing" for cell in key) for key in keys], dtype=np.bool_)


def distinct_cells(columns: Sequence[pd.Series]) -> tuple[list[Cells], IntArray]:
    """The different rows of some columns, and which of them each row is.

    Rows are told apart at least as well as by :func:`cell_key`; columns of objects are taken row by row, because 1 and
    True are equal there.

    Parameters
    ----------
    columns : sequence of Series
        At least one column.

    Returns
    -------
    distinct : list of tuple
        Their cells.
    kind : ndarray of int64
        For each row its place in ``distinct``.
    """
    [dtype, *others] = {column.dtype for column in columns}
    if not others and isinstance(dtype, np.dtype) and dtype.kind in "fiub":
        table = np.column_stack([column.to_numpy() for column in columns])
        first, kind = distinct_rows(table)
        return list(map(tuple, table[first].tolist())), kind
    if len(columns) == 1 and isinstance(dtype, pd.StringDtype):
        codes, texts = pd.factorize(columns[0], use_na_sentinel=False)
        return [(text,) for text in texts.tolist()], codes.astype(np.int64)
    rows = list(zip(*(column.astype(object) for column in columns), strict=True))
    return rows, np.arange(len(rows), dtype=np.int64)


def _read_feature(feature: Feature, background: Background, references: pd.DataFrame) -> FeatureGround:
    [column, *others] = feature.columns
    if others:
        return _read_group(feature, background, references)
    values = background.rows[column]
    if background.is_quantity(column) and values.dtype.kind in "fiu":
        return _read_numbers(values, background.negatives, as_numbers(references[column]))
    return _read_choices(values, references[column])


def _read_numbers(values: pd.Series, negatives: BoolArray, references: FloatArray) -> NumberGround:
    numbers = as_numbers(values)
    known = np.isfinite(numbers)
    if not known.any():
        return NumberGround(np.nan, np.nan, 1.0, None, np.full((len(references), 2), np.nan), np.zeros(0))
    present = numbers[known]
    spread = float(present.std())
    others = np.sort(numbers[known & negatives])
    # of two values none is typical but the reference's own, as for categories
    two = len(np.unique(present[:1000])) <= 2 and len(np.unique(present)) <= 2
    pointwise = two or not others.size
    band = np.column_stack([references, references]) if pointwise else _typical_bands(others, references)
    return NumberGround(
        low=float(present.min()),
        high=float(present.max()),
        scale=spread if spread > 0 and np.isfinite(spread) else 1.0,
        step=1.0 if holds_integers(values) else None,
        band=band,
        observed=_spread_values(present),
    )


def _spread_values(present: FloatArray) -> FloatArray:
    """Values that occur: all of them where they are few, else at evenly spaced quantiles."""
    distinct = np.unique(present)
    if len(distinct) <= _MOST_OBSERVED:
        return distinct
    places = np.linspace(0, len(present) - 1, _MOST_OBSERVED).round().astype(np.int64)
    return np.unique(np.sort(present)[places])


def _typical_bands(others: FloatArray, references: FloatArray) -> FloatArray:
    """Quantiles of sorted values on both sides of each reference's own position; NaN where that is missing."""
    below, upto = np.searchsorted(others, references, "left"), np.searchsorted(others, references, "right")
    position = (below + upto) / 2 / len(others)
    # all at once: of references that are real rows there may be tens of thousands
    low, high = np.quantile(others, np.clip([position - BAND, position + BAND], 0.0, 1.0))
    bands: FloatArray = np.column_stack([np.minimum(low, references), np.maximum(high, references)])
    return bands


def _read_choices(values: pd.Series, references: pd.Series) -> ChoiceGround:
    if isinstance(values.dtype, pd.CategoricalDtype):
        held = set(values.dropna().unique())
        found = [one for one in values.cat.categories.tolist() if one in held]
        ordered = bool(values.cat.ordered)
    else:
        found = sorted(values.dropna().unique().tolist(), key=lambda one: (type(one).__name__, one))
        ordered = pd.api.types.is_datetime64_any_dtype(values.dtype)
    known = {cell_key(one): one for one in found}
    for one in references.astype(object).tolist():  # a given row may hold what the background does not
        if not pd.isna(one):
            known.setdefault(cell_key(one), python_value(one))
    missing = values[values.isna()]
    return ChoiceGround(
        choices=tuple((one,) for one in known.values()),
        names=tuple(known.values()),
        is_ordered=ordered and len(known) == len(found),
        missing=(missing.astype(object).iloc[0] if len(missing) else np.nan,),
    )


def _read_group(feature: Feature, background: Background, references: pd.DataFrame) -> ChoiceGround:
    columns = list(feature.columns)
    rows = pd.concat([background.rows[columns].drop_duplicates(), references[columns].astype(object)])
    known = {
        cells_key(row): tuple(map(python_value, row)) for row in rows.astype(object).itertuples(index=False, name=None)
    }
    choices = tuple(known[key] for key in sorted(known, key=repr))
    return ChoiceGround(
        choices=choices,
        names=tuple(_block_name(feature, one) for one in choices),
        is_ordered=False,
        missing=(np.nan,) * len(columns),
    )


def _block_name(feature: Feature, cells: Cells) -> str | None:
    """What the column that is 1 stands for: its name without that of the feature."""
    marked = [column for column, cell in zip(feature.columns, cells, strict=True) if cell == 1]
    if len(marked) != 1 or any(cell not in (0, 1) for cell in cells):
        return None
    name = str(marked[0])
    return name.removeprefix(feature.name).lstrip("_=. :-") or name if name.startswith(feature.name) else name
