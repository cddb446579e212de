"""Linear and additive models: the best permitted value of each feature, and with it the fewest features.

The margin is a sum of one term for each feature. So a set of features crosses exactly if it does with the best
permitted value of each, and the sets are found as for one reference whose values are the best ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial

import numpy as np
import pandas as pd

from sev.actions import ChoiceDestinations
from sev.backends._curves import encoded_curves
from sev.backends._reading import Reading
from sev.backends.free._additive_groups import group_alike
from sev.backends.free._additive_run import AdditiveRun
from sev.backends.free._curves import TermCurve, term_curve
from sev.backends.free._ends import KnownTerms
from sev.backends.free._problem import FreeProblem, FreeSolution
from sev.backends.free._rows import put_values, replace_columns
from sev.backends.free._shapes import Shape, shape_of
from sev.space import FeatureSpace
from sev.typing import Cells, Dtype, FloatArray

#: Values of the background's range at which the term of a number is looked at.
_GRID = 129
#: Encoded values whose margins are worked out together.
_MOST_TOGETHER = 2_000_000


class AdditiveSearch:
    """Searches permitted values of a model whose margin is a sum over features.

    Parameters
    ----------
    reading : Reading
        The model, with a backend whose margins are such sums.
    space : FeatureSpace
        Which columns belong to which feature.
    row : DataFrame
        One row of the common form; the terms of features are seen around it.
    observed : mapping of int to ndarray
        Sorted values of numbers that occur in the background, the smallest and the largest included.
    """

    def __init__(
        self, reading: Reading, space: FeatureSpace, row: pd.DataFrame, observed: Mapping[int, FloatArray]
    ) -> None:
        self._reading = reading
        self._space = space
        self._row = row
        self._observed = observed
        self._base = self.encode(row)[0]
        #: Terms of numbers at the ends of what is permitted.
        self.end_terms = KnownTerms(self._terms_of_values)
        self._choice_terms: dict[int, tuple[tuple[Cells, ...], FloatArray]] = {}

    def solve(self, problem: FreeProblem) -> FreeSolution:
        """Solve the problem exactly, within its limits."""
        groups = group_alike(problem, self.shapes, self.curves)
        if len(groups) == 1:
            return AdditiveRun(self, problem).solve()
        return FreeSolution.merge([(rows, AdditiveRun(self, problem.take(rows)).solve()) for rows in groups])

    def ends(self, problem: FreeProblem) -> dict[int, FloatArray]:
        """Of numbers whose terms are a line: no values besides the ends of what is permitted."""
        return {number: np.zeros(0) for number, shape in self.shapes.items() if shape.kind == "line"}

    def encode(self, frame: pd.DataFrame) -> FloatArray:
        """Rows in the columns of the model."""
        return self._reading.encoding.encode(frame)

    def terms(self, feature: int, encoded: FloatArray) -> FloatArray:
        """Margins of the base row with one feature from other encoded rows."""
        mine = self._reading.encoding.column_feature == feature
        return self.margins(np.where(mine[None, :], encoded, self._base[None, :]))

    def own_terms(self, encoded: FloatArray) -> FloatArray:
        """Terms of all features of encoded rows; (n_rows, n_features)."""
        n_rows, n_columns = encoded.shape
        n_features = len(self._space)
        if n_rows * n_features * n_columns > _MOST_TOGETHER:
            return np.column_stack([self.terms(number, encoded) for number in range(n_features)])
        mine = self._reading.encoding.column_feature == np.arange(n_features)[:, None]
        rows = np.where(mine[None], encoded[:, None, :], self._base)
        return self.margins(rows.reshape(-1, n_columns)).reshape(n_rows, n_features)

    def margins(self, encoded: FloatArray) -> FloatArray:
        """Margins of encoded rows."""
        return self._reading.backend.margins(encoded)

    @cached_property
    def base_margin(self) -> float:
        """Margin of the base row."""
        return float(self.margins(self._base[None, :])[0])

    @cached_property
    def _sampled(self) -> dict[int, tuple[FloatArray, FloatArray]]:
        """Terms of each number at many values of the background's range."""
        points = {
            number: np.unique(np.concatenate([np.linspace(values[0], values[-1], _GRID), values]))
            for number, values in self._observed.items()
            if len(values)
        }
        if not points:
            return {}
        encoded = self._encode_table(points)
        return {number: (values, self.terms(number, encoded[: len(values)])) for number, values in points.items()}

    @cached_property
    def shapes(self) -> dict[int, Shape]:
        """How the margin depends on each number, over the values of the background."""
        return {number: shape_of(values, terms) for number, (values, terms) in self._sampled.items()}

    @cached_property
    def seen_terms(self) -> dict[int, tuple[FloatArray, FloatArray]]:
        """Values of the background whose terms are known, of numbers whose terms are not a line."""
        return {
            number: (values[seen], terms[seen])
            for number, (values, terms) in self._sampled.items()
            if self.shapes[number].kind != "line"
            for seen in [np.isin(values, self._observed[number]) & np.isfinite(terms)]
        }

    @cached_property
    def curves(self) -> dict[int, TermCurve]:
        """Terms of numbers that are not a line, where the fitted steps of the model say what they are."""
        waiting = [number for number, shape in self.shapes.items() if shape.kind != "line"]
        dtypes = [self._row[name].dtype for name in self._row.columns]
        is_number = [isinstance(one, np.dtype) and (one == np.float64 or one.kind in "iu") for one in dtypes]
        known = encoded_curves(self._reading, is_number) if waiting else None
        if known is None:
            return {}
        owners = self._reading.encoding.column_feature.tolist()
        found = {}
        for number in waiting:
            [column] = self._space.features[number].columns
            place = list(self._row.columns).index(column)
            mine = [one for one, owner in zip(known, owners, strict=True) if owner == number]
            others = [one for one, owner in zip(known, owners, strict=True) if owner != number]
            depends = [one for one in mine if one is not None and one.source == place]
            if any(one is None for one in mine) or any(one is not None and one.source == place for one in others):
                continue
            points = self._sampled[number][0]
            curve = term_curve(depends, partial(self.terms_at, number), float(points[0]), float(points[-1]))
            if curve is not None:
                found[number] = curve
        return found

    def _encode_table(self, values: dict[int, FloatArray]) -> FloatArray:
        """Values of several numbers below each other, each encoded on its own columns."""
        height = max(len(one) for one in values.values())
        frame = self._row.iloc[np.zeros(height, dtype=np.int64)].reset_index(drop=True)
        columns = {}
        for number, one in values.items():
            [column] = self._space.features[number].columns
            columns[column] = pd.Series(np.concatenate([one, np.full(height - len(one), one[-1])]))
        return self.encode(replace_columns(frame, columns))

    def _terms_of_values(self, values: Mapping[int, FloatArray], dtypes: list[Dtype]) -> dict[int, FloatArray]:
        """Terms of several numbers at some values each, with columns of these dtypes where they hold the values."""
        height = max(len(one) for one in values.values())
        frame = self._row.iloc[np.zeros(height, dtype=np.int64)].reset_index(drop=True)
        dtype_of = dict(zip(self._row.columns.tolist(), dtypes, strict=True))
        everywhere = np.ones(height, dtype=np.bool_)
        columns = {}
        for number, one in values.items():
            [column] = self._space.features[number].columns
            filled = np.concatenate([one, np.full(height - len(one), one[-1])])
            columns[column] = put_values(pd.Series(np.zeros(height), dtype=dtype_of[column]), everywhere, filled)
        encoded = self.encode(replace_columns(frame, columns))
        return {number: self.terms(number, encoded[: len(one)]) for number, one in values.items()}

    def terms_at(self, number: int, values: FloatArray) -> FloatArray:
        """Terms of a number at some values."""
        return self.terms(number, self._encode_table({number: values}))

    def choice_terms(self, number: int, one: ChoiceDestinations) -> FloatArray:
        """The term of each choice; known where they are those of the last problem."""
        known = self._choice_terms.get(number)
        if known is None or known[0] is not one.choices:  # equal ones may be encoded differently (1 and True)
            known = self._choice_terms[number] = (one.choices, self._find_choice_terms(number, one))
        return known[1]

    def _find_choice_terms(self, number: int, one: ChoiceDestinations) -> FloatArray:
        if not one.choices:
            return np.zeros(0)
        height = len(one.choices)
        frame = self._row.iloc[np.zeros(height, dtype=np.int64)].reset_index(drop=True)
        everywhere = np.ones(height, dtype=np.bool_)
        columns = {
            column: put_values(frame[column], everywhere, [choice[place] for choice in one.choices])
            for place, column in enumerate(self._space.features[number].columns)
        }
        return self.terms(number, self.encode(replace_columns(frame, columns)))

    @property
    def rounding(self) -> float:
        """Relative error of one term of the model's own sum."""
        return max(float(np.finfo(np.float64).eps), self._reading.backend.score_tolerance * 1e-3)
