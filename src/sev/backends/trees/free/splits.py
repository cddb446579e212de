"""What the splits of a forest ask of each encoded column."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sev.backends.trees._forest import CATEGORICAL, ZERO_MISSING, ZERO_WIDTH, Forest
from sev.typing import BoolArray, FloatArray, IntArray


class ColumnSplits:
    """The splits of a forest by column: values with the same outcomes at all of them are the same to every tree.

    Parameters
    ----------
    forest : Forest
        The trees.
    """

    def __init__(self, forest: Forest) -> None:
        self._forest = forest

    @cached_property
    def thresholds(self) -> dict[int, FloatArray]:
        """Thresholds of each column with numeric splits, with those around zero where it stands for a missing value."""
        found = self._forest.thresholds()
        edges = np.array([np.nextafter(-ZERO_WIDTH, -np.inf), ZERO_WIDTH])
        return {
            column: np.unique(np.concatenate([values, edges])) if column in self._zero_missing else values
            for column, values in found.items()
        }

    @cached_property
    def _zero_missing(self) -> set[int]:
        chosen = (self._forest.nodes & ZERO_MISSING) != 0
        return set(np.unique((self._forest.nodes[chosen] >> 8) & 0xFFFFFF).tolist())

    @cached_property
    def _sets(self) -> dict[int, IntArray]:
        """Numbers of the category sets of each column with such splits."""
        nodes = self._forest.nodes
        chosen = ((nodes & CATEGORICAL) != 0) & (nodes >> 32 != 0)
        columns = (nodes[chosen] >> 8) & 0xFFFFFF
        sets = self._forest.values[chosen].astype(np.int64)
        return {int(column): np.unique(sets[columns == column]) for column in np.unique(columns)}

    def is_tested(self, column: int) -> bool:
        """Whether any split is on a column."""
        return column in self.thresholds or column in self._sets

    def has_categories(self, column: int) -> bool:
        """Whether some split on a column is by a set of categories."""
        return column in self._sets

    def outcomes(self, column: int, values: FloatArray) -> IntArray:
        """Numbers that are the same for two values of a column when no split parts them; (n_values, n_parts)."""
        missing = np.isnan(values)
        parts = [missing.astype(np.int64)]
        if column in self.thresholds:
            below = np.searchsorted(self.thresholds[column], values, side="left")
            parts.append(np.where(missing, -1, below).astype(np.int64))
        for number in self._sets.get(column, ()):
            parts.append((self._is_inside(int(number), values) & ~missing).astype(np.int64))
        return np.column_stack(parts)

    def bounds(self, column: int, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The least and the greatest value that no split tells from each of some values of a column without
        categories; NaN for missing ones.
        """
        thresholds = self.thresholds[column]
        below = np.searchsorted(thresholds, values, side="left")
        least = np.concatenate([[-np.inf], np.nextafter(thresholds, np.inf)])[below]
        greatest = np.concatenate([thresholds, [np.inf]])[np.minimum(below, len(thresholds))]
        missing = np.isnan(values)
        return np.where(missing, np.nan, least), np.where(missing, np.nan, greatest)

    def _is_inside(self, number: int, values: FloatArray) -> BoolArray:
        first, end = self._forest.category_first[number : number + 2].tolist()
        words = self._forest.category_words[first:end]
        known = (values >= 0.0) & (values < 64.0 * len(words))
        codes = np.where(known, values, 0.0).astype(np.int64)
        bits = (words[codes // 64] >> (codes % 64).astype(np.uint64)) & np.uint64(1)
        inside: BoolArray = known & (bits == 1)
        return inside
