"""Which vertices of some rows are credible."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sev.core import SecondSum
from sev.credibility import Credibility, FittedFunction, FittedIsolationForest, MixedCredibility
from sev.explainers._vertices import Vertices
from sev.typing import BoolArray, FloatArray, IntArray


class CredibleVertices:
    """How ordinary the vertices of some rows are, and which of them are credible.

    Parameters
    ----------
    credibility : Credibility
        How ordinary rows are among those of the other class.
    vertices : Vertices
        The rows; those on which a function of the user's own fails are noted there.
    references : DataFrame
        The rows that features are changed to.
    least : float
        The least credibility.
    """

    def __init__(self, credibility: Credibility, vertices: Vertices, references: pd.DataFrame, least: float) -> None:
        self._credibility = credibility
        self._vertices = vertices
        self._more_than = credibility.more_than(least)
        self._mixed: MixedCredibility | None = None
        # of many reference rows only those that are used are encoded
        self._used, place = np.unique(vertices.assigned, return_inverse=True)
        if not isinstance(credibility.measure, FittedFunction):
            used = references.iloc[self._used]
            self._mixed = MixedCredibility(credibility.measure, vertices.queries, used, place.astype(np.int64))

    def kept(self, rows: IntArray, sets: BoolArray) -> BoolArray:
        """Which vertices are credible; those that cannot be measured count, so that the search for their row ends: it
        is an error.
        """
        values = self._measure_ordinariness(rows, sets)
        return np.isnan(values) | (values > self._more_than)

    def shares(self, rows: IntArray, sets: BoolArray) -> FloatArray:
        """The credibility of vertices; NaN for a row on which a function of the user's own fails."""
        return self._credibility.shares(self._measure_ordinariness(rows, sets))

    def second_sum(self, rows: IntArray, reference: int) -> SecondSum | None:
        """The limit as a sum over trees, for rows that are compared with one reference; None for other measures."""
        measure = self._credibility.measure
        if self._mixed is None or not isinstance(measure, FittedIsolationForest) or np.isinf(self._more_than):
            return None
        place = int(np.searchsorted(self._used, reference))
        return SecondSum(
            forest=measure.forest,
            queries=self._mixed.queries[rows],
            reference=self._mixed.references[place],
            column_feature=measure.column_feature,
            at_least=self._more_than + measure.half_step,
        )

    def _measure_ordinariness(self, rows: IntArray, sets: BoolArray) -> FloatArray:
        measure = self._credibility.measure
        if isinstance(measure, FittedFunction):
            return self._vertices.values(measure.ordinariness_of_rows, rows, sets, "the credibility function")
        assert self._mixed is not None
        return self._mixed.ordinariness(rows, self._vertices.taken_from_reference(sets))
