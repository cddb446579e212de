"""The two rows that one explanation is about, cell by cell as the model sees them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from sev.space import FeatureSpace, MixedRows, row_as_series
from sev.typing import BoolArray, IntArray, Kind

_FIRST: IntArray = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Pair:
    """A query and its reference.

    Parameters
    ----------
    queries, references : DataFrame
        One row each, in dtypes of their own: a Series would give all cells of a row one dtype.
    space : FeatureSpace
        Which columns move together.
    kind : {"minus", "plus"}
        Whether a set is changed in the query or in the reference.
    """

    queries: pd.DataFrame
    references: pd.DataFrame
    space: FeatureSpace
    kind: Kind

    @cached_property
    def query(self) -> pd.Series:
        """The query's cells."""
        return row_as_series(self.queries, 0)

    @cached_property
    def reference(self) -> pd.Series:
        """The reference's cells."""
        return row_as_series(self.references, 0).rename("reference")

    def changed(self, names: Iterable[str]) -> pd.Series:
        """The cells of the row in which some features are changed."""
        chosen = self.sets([names])
        from_reference = chosen if self.kind == "minus" else ~chosen
        return row_as_series(self._rows.frame(_FIRST, from_reference), 0).rename("result")

    def sets(self, sets: Iterable[Iterable[str]]) -> BoolArray:
        """Sets of features as booleans; (n_sets, n_features)."""
        lines = [np.isin(np.arange(len(self.space)), [self._number[name] for name in names]) for names in sets]
        return np.array(lines, dtype=np.bool_).reshape(len(lines), len(self.space))

    @cached_property
    def differing(self) -> tuple[str, ...]:
        """Features in which query and reference hold different cells."""
        marks = self._rows.differing()[0]
        return tuple(name for name, differs in zip(self.space.names, marks, strict=True) if differs)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.space.names)}

    @cached_property
    def _rows(self) -> MixedRows:
        return MixedRows(self.space, self.queries, self.references, _FIRST)
