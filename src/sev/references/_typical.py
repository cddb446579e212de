"""A typical row of the other class: means or medians of quantities, the most common value of everything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from sev.references._protocol import Background, FittedReference
from sev.space import Feature
from sev.typing import Cell, ColumnLabel

if TYPE_CHECKING:
    from pandas.api.extensions import ExtensionDtype


@dataclass(frozen=True)
class Typical:
    """A typical row of those that are not of the class being explained.

    Columns of numbers take their mean or median over these rows; text, booleans, columns that the model takes as
    categories and columns with at most two different values take the most common one. Columns of a one-hot block take
    their most common joint value, so that exactly one stays 1.

    Parameters
    ----------
    centre : {"mean", "median"}
        The value of a column of numbers.
    observed_integers : bool, default=False
        Whether a column that holds only integers takes, instead of the mean or median, the value nearest to it that
        occurs in the background; ties go to the smaller value.
    observed_numbers : bool, default=False
        The same for every column of numbers.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> sev.Explainer(explainer.model, X, y, reference=sev.references.Typical("median")).reference.to_dict("records")
    [{'debt': 1, 'late': 0, 'age': 40}]
    """

    centre: Literal["mean", "median"] = "mean"
    observed_integers: bool = False
    observed_numbers: bool = False

    def fit(self, background: Background) -> FittedReference:
        """Compute the row.

        Parameters
        ----------
        background : Background
            The rows to choose from.

        Returns
        -------
        FittedReference
            One row.
        """
        rows = background.rows.loc[background.negatives]
        values: dict[ColumnLabel, Cell] = {}
        for feature in background.space.features:
            if len(feature.columns) > 1 and all(has_two_values(background.rows[c]) for c in feature.columns):
                values.update(_joint_mode(rows, feature))
            else:
                values.update({c: self._typical_value(c, rows[c], background) for c in feature.columns})
        frame = pd.DataFrame({c: _column_of(values[c], background.form.dtypes[c]) for c in background.form.columns})
        return FittedReference(frame, self.centre)

    def _typical_value(self, column: ColumnLabel, values: pd.Series, background: Background) -> Cell:
        everywhere = background.rows[column]
        if not background.is_quantity(column) or has_two_values(everywhere):
            return _find_mode(values)
        if values.isna().all():
            return np.nan
        centre = values.mean() if self.centre == "mean" else values.median()
        if values.dtype.kind not in "mM" and (
            self.observed_numbers or (self.observed_integers and holds_integers(everywhere))
        ):
            return _nearest_value(everywhere, float(centre))
        return centre


def holds_integers(values: pd.Series) -> bool:
    """Whether a column of numbers holds nothing but integers and missing values.

    Parameters
    ----------
    values : Series
        A column.

    Returns
    -------
    bool
        False for text and booleans.
    """
    if not pd.api.types.is_numeric_dtype(values.dtype) or pd.api.types.is_bool_dtype(values.dtype):
        return False
    if pd.api.types.is_integer_dtype(values.dtype):
        return True
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    numbers = numbers[~np.isnan(numbers)]
    return bool(numbers.size) and bool((np.isfinite(numbers) & (numbers == np.floor(numbers))).all())


def _nearest_value(values: pd.Series, centre: float) -> Cell:
    """The value of a column, with its own type, that is nearest to a number."""
    candidates = values.dropna().drop_duplicates().sort_values()
    gaps = np.abs(candidates.to_numpy(dtype=np.float64) - centre)
    return candidates.iloc[int(np.argmin(gaps))]


def has_two_values(values: pd.Series) -> bool:
    """Whether a column has at most two different values, not counting missing ones.

    Parameters
    ----------
    values : Series
        A column.

    Returns
    -------
    bool
        True also for a column of one value, or none.
    """
    return values.nunique(dropna=True) <= 2


def _find_mode(values: pd.Series) -> Cell:
    """Most common value, missing counted as one; of equally common ones the smallest, so that row order never
    matters.
    """
    counts = values.value_counts(dropna=False)
    best = counts.index[counts.to_numpy() == counts.to_numpy().max()]
    return min(best, key=lambda value: (pd.isna(value), str(type(value)), value)) if len(best) > 1 else best[0]


def _joint_mode(rows: pd.DataFrame, feature: Feature) -> dict[ColumnLabel, Cell]:
    counts = rows[list(feature.columns)].value_counts(dropna=False)
    best = counts.index[counts.to_numpy() == counts.to_numpy().max()]
    return dict(zip(feature.columns, max(best), strict=True))


def _column_of(value: Cell, dtype: ExtensionDtype) -> pd.Series:
    """One value as a column: of the background's dtype if that keeps it, else of the value's own (a mean of
    integers).
    """
    own = pd.Series([value])
    try:
        cast = own.astype(dtype)
    except (TypeError, ValueError):
        return own
    same = cast.isna().iloc[0] if pd.isna(value) else (cast == own).iloc[0]
    return cast if bool(same) else own
