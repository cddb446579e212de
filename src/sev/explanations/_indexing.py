"""Choosing rows of many explanations: by place, by mask, by label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.exceptions import InputError, UnknownRowError
from sev.typing import IntArray

if TYPE_CHECKING:
    from sev.explanations._explanation import Explanation
    from sev.explanations._explanations import Explanations


def place_of(place: int, n_rows: int) -> int:
    """One place, counted from the end if it is negative.

    Raises
    ------
    UnknownRowError
        Which names the places that there are, and is the IndexError that Python expects of a sequence.
    """
    if -n_rows <= place < n_rows:
        return place % n_rows
    raise UnknownRowError(no_such_place(place, n_rows))


def no_such_place(place: int, n_rows: int) -> str:
    """The message about a place that no row has."""
    if not n_rows:
        return "There are no rows: the selection is empty."
    rows = "is one row, with the place 0" if n_rows == 1 else f"are {n_rows:,} rows, with the places 0 to {n_rows - 1}"
    return f"No row has the place {place}: there {rows}. For labels use .loc[{place}]."


def places_of(key: object, index: pd.Index) -> IntArray:
    """Places of rows, from a slice, a list of places or a boolean mask.

    Parameters
    ----------
    key : slice or array-like
        A mask has one boolean for each row; a Series as a mask must have the labels of the rows.
    index : Index
        Labels of the rows.
    """
    everything = np.arange(len(index), dtype=np.int64)
    if isinstance(key, slice):
        return everything[key]
    if isinstance(key, pd.Series) and pd.api.types.is_bool_dtype(key.dtype) and not key.index.equals(index):
        raise InputError(
            "The mask has other labels than these explanations: make it from the rows that were explained."
        )
    chosen = np.asarray(key)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iub"):
        raise InputError(
            f"Explanations are chosen by a number, a slice, a list of numbers or a boolean mask, not by {key!r}. "
            "For labels use .loc[...]."
        )
    if chosen.dtype.kind == "b" and len(chosen) != len(index):
        raise InputError(
            f"The mask has {len(chosen)} entries but there are {len(index)} rows: it must have one for each row."
        )
    if chosen.dtype.kind == "b":
        return everything[chosen]
    places = chosen.astype(np.int64)
    outside = places[(places < -len(index)) | (places >= len(index))]
    if outside.size:
        raise UnknownRowError(no_such_place(int(outside[0]), len(index)))
    return everything[places]


class ByLabel:
    """Chooses explanations by the labels of their rows."""

    def __init__(self, many: Explanations) -> None:
        self._many = many

    def __getitem__(self, key: object) -> Explanation | Explanations:
        places = pd.Series(np.arange(len(self._many), dtype=np.int64), index=self._many.index)
        try:
            found = places.loc[key]
        except (KeyError, TypeError, pd.errors.IndexingError) as error:
            label = error.args[0] if isinstance(error, KeyError) else key
            raise InputError(
                f"No row has the label {label!r}: .loc takes labels of the rows' index; [n] takes places."
            ) from error
        if isinstance(found, pd.Series):
            return self._many[found.to_numpy()]
        return self._many[int(found)]
