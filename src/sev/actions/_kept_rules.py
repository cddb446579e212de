"""Whether rows mixed from queries and references keep the rules that the queries keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sev.actions._bound import column_of
from sev.actions._rules import Rule
from sev.space import FeatureSpace
from sev.typing import BoolArray, IntArray


class KeptRules:
    """Rules, for the queries of one call.

    A rule that a query breaks itself does not apply to it.

    Parameters
    ----------
    rules : sequence of Rule
        The rules.
    space : FeatureSpace
        Which columns move together.
    queries, references : DataFrame
        Rows of the common form.
    assigned : ndarray of int, shape (n_queries,)
        For each query, the number of its reference.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        space: FeatureSpace,
        queries: pd.DataFrame,
        references: pd.DataFrame,
        assigned: IntArray,
    ) -> None:
        self._rules = tuple(rules)
        self._columns = {name: column_of(space, name) for rule in rules for name in rule.names}
        place = {column: number for number, column in enumerate(space.columns)}
        self._feature = {name: int(space.column_feature[place[column]]) for name, column in self._columns.items()}
        self._queries = {name: queries[column].reset_index(drop=True) for name, column in self._columns.items()}
        self._references = {name: references[column].reset_index(drop=True) for name, column in self._columns.items()}
        self._assigned = assigned
        self._applies = [~rule.broken(self._queries) for rule in self._rules]

    def __bool__(self) -> bool:
        return bool(self._rules)

    def kept(self, rows: IntArray, sets: BoolArray) -> BoolArray:
        """Which vertices keep the rules: rows of the queries, with the features of a set from the reference.

        Parameters
        ----------
        rows : ndarray of int64
            Places of queries.
        sets : ndarray of bool
            Features of each vertex, shape (n_vertices, n_features).

        Returns
        -------
        ndarray of bool
            One for each vertex.
        """
        kept = np.ones(len(rows), dtype=np.bool_)
        for rule, applies in zip(self._rules, self._applies, strict=True):
            mine = np.flatnonzero(applies[rows] & kept)
            if mine.size:
                cells = {name: self._mix_cells(name, rows[mine], sets[mine]) for name in rule.names}
                kept[mine] = ~rule.broken(cells)
        return kept

    def _mix_cells(self, name: str, rows: IntArray, sets: BoolArray) -> pd.Series:
        own = self._queries[name].iloc[rows].reset_index(drop=True)
        other = self._references[name].iloc[self._assigned[rows]].reset_index(drop=True)
        chosen = sets[:, self._feature[name]]
        if own.dtype == other.dtype and isinstance(own.dtype, np.dtype) and own.dtype.kind in "fiub":
            return pd.Series(np.where(chosen, other.to_numpy(), own.to_numpy()))
        return own.astype(object).where(~chosen, other.astype(object)).infer_objects()
