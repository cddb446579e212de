"""Blocks of 0/1 columns that encode one variable.

``pandas.get_dummies`` and scikit-learn's encoders name their columns ``variable_value``. A shared name is not enough
(``has_car`` and ``has_house`` share one), so the rows must agree: in a block, never two columns are 1 in one row.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

_SEPARATORS = "_=:"
#: Overlaps that independent columns would have shown by now; none seen means they exclude each other.
_EXPECTED_OVERLAPS = 10.0


def find_one_hot_blocks(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Find groups of columns that are the one-hot encoding of one variable.

    Parameters
    ----------
    frame : DataFrame
        Background rows.

    Returns
    -------
    dict of str to list
        Name of the variable and its columns. Exactly one column of a block is 1 in every row; or at most one, as
        when the first category is dropped, and then only when the rows are enough to tell.
    """
    binary = [column for column in frame.columns if isinstance(column, str) and _is_binary(frame[column])]
    by_prefix: dict[str, list[str]] = {}
    for column in binary:
        for place, character in enumerate(column):
            if character in _SEPARATORS and place:
                by_prefix.setdefault(column[:place], []).append(column)
    blocks: dict[str, list[str]] = {}
    taken: set[str] = set()
    # the shortest prefix holds the most columns: a variable whose values contain "_" stays whole
    for prefix in sorted(by_prefix, key=len):
        members = [column for column in by_prefix[prefix] if column not in taken]
        if len(members) >= 2 and _is_exclusive(frame[members]):
            blocks[_longest_prefix(members)] = members
            taken.update(members)
    return blocks


def _is_binary(values: pd.Series) -> bool:
    if pd.api.types.is_bool_dtype(values.dtype):
        return not values.isna().any()
    if not pd.api.types.is_numeric_dtype(values.dtype):
        return False
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    return bool(((numbers == 0.0) | (numbers == 1.0)).all())


def _is_exclusive(block: pd.DataFrame) -> bool:
    values = block.to_numpy(dtype=np.float64)
    totals = values.sum(axis=1)
    if totals.max() > 1.0:
        return False
    if totals.min() == 1.0:
        return True
    shares = values.mean(axis=0)
    pairs = (shares.sum() ** 2 - (shares**2).sum()) / 2.0
    return bool(len(values) * pairs >= _EXPECTED_OVERLAPS)


def _longest_prefix(members: list[str]) -> str:
    shared = members[0]
    for member in members[1:]:
        while not member.startswith(shared):
            shared = shared[:-1]
    end = max(shared.rfind(separator) for separator in _SEPARATORS)
    return shared[:end]
