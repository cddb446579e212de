"""Rows of the common form with other values in some columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from sev.actions import ChoiceDestinations, Destinations
from sev.space import FeatureSpace
from sev.typing import BoolArray, Cell, ColumnLabel, Dtype, FloatArray, IntArray


def move_rows(
    queries: pd.DataFrame,
    space: FeatureSpace,
    destinations: Destinations,
    rows: IntArray,
    sets: BoolArray,
    targets: FloatArray,
) -> pd.DataFrame:
    """Queries after their moves.

    Parameters
    ----------
    queries : DataFrame
        Rows of the common form.
    space : FeatureSpace
        Which columns belong to which feature.
    destinations : Destinations
        What the targets of features with choices stand for.
    rows : ndarray of int, shape (n_moved,)
        The query of each row.
    sets : ndarray of bool, shape (n_moved, n_features)
        The features that move.
    targets : ndarray of float, shape (n_moved, n_features)
        Where they move to, as in :class:`sev.actions.Moves`.
    """
    if (queries.dtypes.to_numpy() == np.dtype(np.float64)).all():
        return _move_numbers(queries, space, destinations, rows, sets, targets)
    frame = queries.iloc[rows].reset_index(drop=True)
    changed: dict[ColumnLabel, pd.Series] = {}
    for number, feature in enumerate(space.features):
        moved = sets[:, number]
        if not moved.any():
            continue
        mine = destinations.features[number]
        for place, column in enumerate(feature.columns):
            if isinstance(mine, ChoiceDestinations):
                values: Sequence[Cell] = [mine.choices[int(choice)][place] for choice in targets[moved, number]]
            else:
                values = targets[moved, number]
            changed[column] = put_values(frame[column], moved, values)
    return replace_columns(frame, changed)


def _move_numbers(
    queries: pd.DataFrame,
    space: FeatureSpace,
    destinations: Destinations,
    rows: IntArray,
    sets: BoolArray,
    targets: FloatArray,
) -> pd.DataFrame:
    """The same for rows of nothing but numbers, as one table."""
    table = queries.to_numpy()[rows]
    place_of = {name: place for place, name in enumerate(queries.columns.tolist())}
    for number in np.flatnonzero(sets.any(axis=0)).tolist():
        moved = np.flatnonzero(sets[:, number])
        places = [place_of[column] for column in space.features[number].columns]
        mine, values = destinations.features[number], targets[moved, number]
        if isinstance(mine, ChoiceDestinations):
            table[moved[:, None], places] = np.array(mine.choices, dtype=np.float64)[values.astype(np.int64)]
        else:
            table[moved, places[0]] = values
    return pd.DataFrame(table, columns=queries.columns)


def replace_columns(frame: pd.DataFrame, columns: Mapping[ColumnLabel, pd.Series]) -> pd.DataFrame:
    """The frame with other columns, in the order of its own."""
    if not columns:
        return frame
    parts = [columns.get(name, frame[name]) for name in frame.columns]
    replaced = pd.concat(parts, axis=1, keys=range(len(parts)))
    replaced.columns = frame.columns
    return replaced


def put_values(column: pd.Series, places: BoolArray, values: Sequence[Cell] | FloatArray) -> pd.Series:
    """A column with other values in some places, in its own dtype where that holds them."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "fiu":
        numbers = column.to_numpy(dtype=np.float64).copy()
        numbers[places] = np.asarray(values, dtype=np.float64)
        if dtype.kind == "f":
            return pd.Series(numbers if dtype == np.float64 else _narrow_numbers(numbers, dtype))
        whole = np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all()
        return pd.Series(numbers.astype(dtype) if whole else numbers)
    cells = column.astype(object).to_numpy(copy=True)
    fresh = np.empty(int(places.sum()), dtype=object)
    fresh[:] = list(values)
    cells[places] = fresh
    filled = pd.Series(cells, dtype=object)
    if isinstance(dtype, pd.CategoricalDtype):
        unknown = [one for one in pd.unique(filled.dropna()) if one not in dtype.categories]
        return filled.astype(pd.CategoricalDtype(dtype.categories.append(pd.Index(unknown)), ordered=dtype.ordered))
    try:
        return filled if pd.api.types.is_object_dtype(dtype) else filled.astype(dtype)
    except (TypeError, ValueError):
        return filled


def _narrow_numbers(numbers: FloatArray, dtype: Dtype) -> np.ndarray:
    """Numbers in a narrower dtype where that keeps them."""
    narrow = numbers.astype(dtype)
    same = (narrow.astype(np.float64) == numbers) | np.isnan(numbers)
    return narrow if same.all() else numbers
