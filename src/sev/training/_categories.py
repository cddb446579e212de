"""Category columns that a final estimator takes as they are, as boosted trees do: as codes, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.typing import ColumnLabel, FloatArray, NativeTable

if TYPE_CHECKING:
    from pandas.api.extensions import ExtensionDtype


@dataclass(frozen=True, eq=False)
class CategoryCodes:
    """A table with category columns as a matrix of numbers, one column each.

    A missing category is NaN, as a missing number is.

    Parameters
    ----------
    dtypes : dict
        pandas dtype of each column.
    """

    dtypes: dict[ColumnLabel, ExtensionDtype]

    @classmethod
    def of(cls, table: NativeTable) -> CategoryCodes | None:
        """The codes of a table's category columns; None where it has none."""
        if not isinstance(table, pd.DataFrame):
            return None
        dtypes = dict(table.dtypes)
        found = any(isinstance(dtype, pd.CategoricalDtype) for dtype in dtypes.values())
        return cls(dtypes) if found else None

    def encode(self, table: pd.DataFrame) -> FloatArray:
        """Numbers as they are, categories as their place in the list of categories."""
        columns = [self._column_codes(table[name], dtype) for name, dtype in self.dtypes.items()]
        return np.column_stack(columns)

    def decode(self, rows: FloatArray) -> pd.DataFrame:
        """The table that a matrix stands for."""
        columns = {}
        for place, (name, dtype) in enumerate(self.dtypes.items()):
            values = rows[:, place]
            if isinstance(dtype, pd.CategoricalDtype):
                codes = np.where(np.isnan(values), -1.0, values).astype(np.int64)
                columns[name] = pd.Categorical.from_codes(codes, dtype=dtype)
            else:
                columns[name] = values
        return pd.DataFrame(columns)

    def _column_codes(self, values: pd.Series, dtype: object) -> FloatArray:
        if not isinstance(dtype, pd.CategoricalDtype):
            return values.to_numpy(dtype=np.float64, na_value=np.nan)
        codes = values.astype(dtype).cat.codes.to_numpy().astype(np.float64)
        codes[codes < 0.0] = np.nan
        return codes
