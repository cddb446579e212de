"""From columns of a file to rows in the form that the model takes.

Types come from the saved explainer, never from a guess about the file: where the background holds text, "007" stays
text. A cell that does not fit spoils its own row and no other.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sev.core import list_names, suggest_columns
from sev.exceptions import InputError
from sev.space import TableForm
from sev.typing import BoolArray, ColumnLabel, Dtype

#: What people write in a column of numbers when there is none.
NO_NUMBER = pa.array(["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None"])
_MOST_SHOWN = 40


def used_columns(names: list[str], form: TableForm) -> dict[ColumnLabel, str]:
    """For each column of the form, the column of the file that holds it.

    Columns are found by name. Rows of arrays have no names: a file with the right number of columns is then taken in
    order.
    """
    by_name = {str(column): column for column in form.columns}
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"The file has columns that occur more than once: {list_names(twice, 8)}. Rename them.")
    missing = [name for name in by_name if name not in names]
    if missing and form.kind == "numpy" and len(names) == len(form.columns):
        return dict(zip(form.columns, names, strict=True))
    if missing:
        raise InputError(
            f"The file lacks {len(missing)} column{'s' if len(missing) != 1 else ''} that the explainer needs: "
            f"{list_names(missing, 8)}.{suggest_columns(missing, [one for one in names if one not in by_name])} "
            f"It has {list_names(names)}."
        )
    return {column: name for name, column in by_name.items()}


def rows_of(table: pa.Table, form: TableForm) -> tuple[pd.DataFrame, dict[int, str]]:
    """Rows that fit the form, and what is wrong with the others.

    Parameters
    ----------
    table : pyarrow.Table
        Rows.
    form : TableForm
        Columns and dtypes of the model.

    Returns
    -------
    rows : DataFrame
        The fitting ones, in order, labelled by their position in ``table``.
    problems : dict
        Position to reason, for all others.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> import pyarrow
    >>> table = pyarrow.table({"debt": ["1", "x"], "late": ["0", "1"], "age": ["40", "50"]})
    >>> rows, problems = sev.batch.rows_of(table, explainer.form)
    >>> len(rows), sorted(problems)
    (1, [1])
    """
    columns: dict[ColumnLabel, pd.Series] = {}
    problems: dict[int, str] = {}
    for column, name in used_columns(table.column_names, form).items():
        values = table.column(name)
        columns[column], bad, expected = _fit_dtype(values, form.dtypes[column])
        for row in np.flatnonzero(bad).tolist():
            shown = repr(values[row].as_py())[:_MOST_SHOWN]
            problems.setdefault(row, f"column {name!r} holds {shown}; expected {expected}")
    frame = pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows), copy=False)
    if problems:
        frame = frame.loc[np.setdiff1d(np.arange(table.num_rows), list(problems))]
    return form.to_frame(frame), problems


def _fit_dtype(values: pa.ChunkedArray, wanted: Dtype) -> tuple[pd.Series, BoolArray, str]:
    """A column in a dtype that the form takes, which cells do not fit, and what was expected of them."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)  # pyarrow's own way to numpy mixes up missing ones
    if isinstance(wanted, pd.CategoricalDtype):
        wanted = wanted.categories.dtype
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    if is_text and pd.api.types.is_bool_dtype(wanted):
        return _read_booleans(values)
    if is_text and pd.api.types.is_numeric_dtype(wanted):
        whole = pd.api.types.is_integer_dtype(wanted)
        series, bad, expected = _read_numbers(values, pa.int64() if whole else pa.float64(), "a number")
        return (series, bad | _find_infinities(series), "a finite number") if not whole else (series, bad, expected)
    if pd.api.types.is_datetime64_any_dtype(wanted):
        given = values.to_pandas()
        dates = pd.to_datetime(given, errors="coerce", format="ISO8601") if is_text else pd.to_datetime(given)
        return dates, (dates.isna() & given.notna()).to_numpy(), "a date"
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    series = values.to_pandas()
    return series, _find_infinities(series), "a finite number"


def _read_booleans(values: pa.ChunkedArray) -> tuple[pd.Series, BoolArray, str]:
    words = pc.utf8_lower(pc.utf8_trim_whitespace(values)).to_pandas()
    told = words.map({"true": True, "1": True, "false": False, "0": False})
    missing = words.isna() | words.isin(NO_NUMBER.to_pylist())
    bad = (told.isna() & ~missing).to_numpy()
    return (told if told.isna().any() else told.astype(bool)), bad, "true or false"


def _read_numbers(values: pa.ChunkedArray, dtype: pa.DataType, expected: str) -> tuple[pd.Series, BoolArray, str]:
    """Text read as numbers; whole numbers may have fractions after all."""
    trimmed = pc.utf8_trim_whitespace(values)
    trimmed = pc.if_else(pc.is_in(trimmed, value_set=NO_NUMBER), None, trimmed)
    for attempt in (dtype, pa.float64()):
        try:
            return trimmed.cast(attempt).to_pandas(), np.zeros(len(values), dtype=np.bool_), expected
        except pa.ArrowInvalid:
            continue
    text = trimmed.to_pandas()
    numbers = pd.to_numeric(text, errors="coerce")
    bad = (numbers.isna() & text.notna()).to_numpy()
    return numbers.astype(np.float64), bad | np.isinf(numbers.to_numpy(dtype=np.float64)), expected


def _find_infinities(series: pd.Series) -> BoolArray:
    if series.dtype.kind != "f":
        return np.zeros(len(series), dtype=np.bool_)
    infinite: BoolArray = np.isinf(series.to_numpy())
    return infinite
