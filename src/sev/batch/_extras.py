"""Further columns of results: what changes, feature by feature, and a sentence for each row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
import pyarrow as pa

from sev.core import plain_value, unpack
from sev.explainers import Explainer, Settings
from sev.explanations import Explanations, Interval
from sev.text import Speaker, feature_value
from sev.typing import Cell, FloatArray, IntArray

if TYPE_CHECKING:
    from sev.typing import Cells


#: The columns of sentences, and of what the whole change costs.
SENTENCE, COST = "sentence", "cost"
#: How ordinary the result is, and the size of the smallest set whether or not its result is ordinary enough.
CREDIBILITY, WITHOUT_LIMIT = "credibility", "size_without_limit"


class ExtraColumns:
    """Columns that are written beside the answers, for those who read results in a spreadsheet.

    Parameters
    ----------
    explainer : Explainer
        Its features, types and labels.
    settings : Settings
        Those of the call: features that may not be used never change, and what is enough is known only where features
        may take several values.
    changes : bool
        Give, for each of these features, its value before and after the change of the first minimum set, where that
        changes it: ``<feature>_old`` and ``<feature>_new``; and where they are known, the values that are enough, and
        the cost of the whole change.
    credibility : bool
        Give the credibility of each result; where results must be credible, it is given in any case, with the size of
        the smallest set without the limit.
    sentences : bool
        Give a sentence for each row, in the language and the words of the explainer's labels.
    """

    def __init__(
        self, explainer: Explainer, settings: Settings, *, changes: bool, sentences: bool, credibility: bool = False
    ) -> None:
        self._is_limited = settings.min_credibility > 0
        self._has_credibility = credibility or self._is_limited
        self._form = explainer.form
        self._features = explainer.space.features
        self._numbers = np.flatnonzero(settings.allowed).tolist() if changes else []
        self._has_ranges = settings.values != "reference"
        self._has_cost = changes and (self._has_ranges or explainer.actions is not None)
        listed = () if explainer.actions is None else explainer.actions.allowed
        #: Numbers whose permitted values are a list, and not a range.
        self._listed = explainer.space.select(listed, what="allowed")
        self._sentences = sentences
        columns = {feature.name: feature.columns for feature in self._features}
        self._speaker = Speaker(columns, labels=explainer.labels) if sentences else None

    @property
    def fields(self) -> list[tuple[str, pa.DataType]]:
        """Names and types of the columns."""
        fields: list[tuple[str, pa.DataType]] = []
        for number in self._numbers:
            name, kind = self._features[number].name, self._type_of(number)
            fields += [(f"{name}_old", kind), (f"{name}_new", kind), *self._fields_of_range(number)]
        if self._has_cost:
            fields.append((COST, pa.float64()))
        if self._has_credibility:
            fields.append((CREDIBILITY, pa.float64()))
        if self._is_limited:
            fields.append((WITHOUT_LIMIT, pa.int32()))
        return [*fields, (SENTENCE, pa.string())] if self._sentences else fields

    def add_to(self, results: pa.Table, many: Explanations) -> pa.Table:
        """The results of some rows with these columns after them."""
        arrays: list[pa.Array] = []
        costs = np.zeros(len(many))
        for number in self._numbers:
            rows, old, new = self._find_changes(many, number)
            costs[rows] += self._compute_costs(many, number, old, new)
            arrays += [self._make_column(values, rows, len(many), number) for values in (old, new)]
            arrays += self._make_ranges(many, number, rows)
        if self._has_cost:
            known = many.answers.has_set & bool(many.efforts)
            arrays.append(pa.array(costs, mask=~known))
        if self._has_credibility:
            arrays.append(pa.array(many.credibilities, from_pandas=True))
        if self._is_limited:
            arrays.append(pa.array(many.sizes_without_limit, from_pandas=True).cast(pa.int32()))
        if self._speaker is not None:
            arrays.append(pa.array([self._speaker.sentence(one) for one in many.statements()], type=pa.string()))
        for (name, kind), values in zip(self.fields, arrays, strict=True):
            results = results.append_column(pa.field(name, kind), values)
        return results

    def _type_of(self, number: int) -> pa.DataType:
        columns = self._features[number].columns
        dtype = self._form.dtypes[columns[0]]
        if len(columns) > 1 or isinstance(dtype, pd.CategoricalDtype):
            return pa.string()
        if pd.api.types.is_bool_dtype(dtype):
            return pa.bool_()
        return pa.float64() if pd.api.types.is_numeric_dtype(dtype) else pa.string()

    def _find_changes(self, many: Explanations, number: int) -> tuple[IntArray, list[Cell], list[Cell]]:
        """Rows whose first set changes a feature, and its values before and after."""
        answers = many.answers
        found = np.flatnonzero(answers.has_set)
        first = unpack(answers.masks[answers.offsets[found]], len(self._features))[:, number]
        rows = found[first]
        queries = self._values_of_feature(many.queries.iloc[rows], number)
        references = self._values_of_feature(many.references.iloc[answers.reference[rows]], number)
        return (rows, queries, references) if many.kind == "minus" else (rows, references, queries)

    def _values_of_feature(self, frame: pd.DataFrame, number: int) -> list[Cell]:
        feature = self._features[number]
        if len(feature.columns) == 1:
            return frame[feature.columns[0]].tolist()
        cells = frame[list(feature.columns)].to_dict("records")
        return [feature_value(feature.name, row, feature.columns) for row in cells]

    def _make_column(self, values: list[Cell], rows: IntArray, n_rows: int, number: int) -> pa.Array:
        column: list[Cell] = [None] * n_rows
        kind = self._type_of(number)
        for row, value in zip(rows.tolist(), values, strict=True):
            if not pd.isna(value):
                column[row] = str(value) if pa.types.is_string(kind) else value
        return pa.array(column, type=kind)

    # -- what is enough, and what it costs -----------------------------------------------------------------------------

    def _fields_of_range(self, number: int) -> list[tuple[str, pa.DataType]]:
        if not self._has_ranges:
            return []
        name = self._features[number].name
        if pa.types.is_float64(self._type_of(number)) and not self._listed[number]:
            return [(f"{name}_enough_low", pa.float64()), (f"{name}_enough_high", pa.float64())]
        return [(f"{name}_enough", pa.list_(pa.string()))]

    def _make_ranges(self, many: Explanations, number: int, rows: IntArray) -> list[pa.Array]:
        """The values that do, where they are known; an end that is no bound is null."""
        if not self._has_ranges:
            return []
        name = self._features[number].name
        known: list[Cell] = [None] * len(many)
        if many.enough is not None:
            # those of all rows at once: they are found when they are first read
            ranges = many.enough.get(many.answers.offsets[rows].tolist())
            for row, one in zip(rows.tolist(), ranges, strict=True):
                known[row] = one.get(name)
        if len(self._fields_of_range(number)) == 1:
            texts = [
                [self._tell_choice(number, one) for one in some] if isinstance(some, tuple) else None for some in known
            ]
            return [pa.array(texts, type=pa.list_(pa.string()))]
        ends = [(one.low, one.high) if isinstance(one, Interval) else (math.nan, math.nan) for one in known]
        return [
            pa.array([end[side] if math.isfinite(end[side]) else None for end in ends], type=pa.float64())
            for side in (0, 1)
        ]

    def _tell_choice(self, number: int, value: Cell) -> str | None:
        """One of the values that do, as text; null for a missing one."""
        feature = self._features[number]
        if len(feature.columns) > 1:
            return feature_value(
                feature.name, dict(zip(feature.columns, cast("Cells", value), strict=True)), feature.columns
            )
        return None if pd.isna(value) else str(plain_value(value))

    def _compute_costs(self, many: Explanations, number: int, old: list[Cell], new: list[Cell]) -> FloatArray:
        """As :attr:`sev.Explanation.cost`, of one feature."""
        weight, scale = many.efforts.get(self._features[number].name, (1.0, None))
        if scale is None or not pa.types.is_float64(self._type_of(number)):
            return np.full(len(old), weight)
        moved = np.abs(pd.Series(new, dtype="float64").to_numpy() - pd.Series(old, dtype="float64").to_numpy())
        return np.where(np.isnan(moved), weight, weight * moved / scale)
