"""A mixed row is the row that its user would have built: cell by cell, in every dtype of every library."""

import datetime
from decimal import Decimal
from itertools import product

import numpy as np
import pandas as pd
import pytest

from sev.space import FeatureSpace, MixedRows, Mixer, TableForm

BIG = 2**53 + 1

PANDAS = {
    "int64": pd.Series([3, BIG, 7], dtype="int64"),
    "int8": pd.Series([3, -4, 7], dtype="int8"),
    "uint64": pd.Series([3, 2**63 + 1, 7], dtype="uint64"),
    "float64": pd.Series([0.1, np.nan, -0.0]),
    "float32": pd.Series([0.1, np.nan, 2.0], dtype="float32"),
    "bool": pd.Series([True, False, True]),
    "Int64": pd.Series([3, None, BIG], dtype="Int64"),
    "Float64": pd.Series([0.5, None, 2.0], dtype="Float64"),
    "boolean": pd.Series([True, None, False], dtype="boolean"),
    "object": pd.Series(["a", None, np.nan], dtype=object),
    "object of numbers": pd.Series([3, 3.0, "3"], dtype=object),
    "object of markers": pd.Series([pd.NA, None, pd.NaT], dtype=object),
    "str": pd.Series(["a", None, "b"], dtype="str"),
    "string": pd.Series(["a", None, "b"], dtype="string"),
    "category": pd.Series(["a", None, "b"], dtype=pd.CategoricalDtype(["b", "a", "unused"])),
    "ordered": pd.Series([1, 3, 2], dtype=pd.CategoricalDtype([3, 2, 1], ordered=True)),
    "datetime": pd.Series(pd.to_datetime(["2020-01-01", None, "2021-02-03"])),
    "datetime with zone": pd.Series(pd.to_datetime(["2020-01-01", None, "2021-02-03"]).tz_localize("Europe/Berlin")),
    "timedelta": pd.Series(pd.to_timedelta(["1 day", None, "2 days"])),
    "arrow": pd.Series([1, None, 3], dtype="int64[pyarrow]"),
}


def all_vertices(n_columns, n_rows):
    sets = np.array(list(product([False, True], repeat=n_columns)))
    return np.repeat(np.arange(n_rows), len(sets)), np.tile(sets, (n_rows, 1))


def tables_seen(form, queries, references, assigned, alone=True):
    """Every vertex, as the one table or the several tables in which a model sees them."""
    space = FeatureSpace.of(queries)
    rows, sets = all_vertices(len(space), len(queries))
    seen = [None] * len(rows)
    mixer = Mixer(form, space, queries, references, assigned, dtypes_matter=lambda queries, wider: alone)
    places = iter(mixer._group_by_dtypes(rows, sets)) if mixer._split_columns else iter([np.arange(len(rows))])

    def keep(table):
        for place, vertex in enumerate(next(places)):
            seen[vertex] = table[place : place + 1]
        return np.zeros(len(table))

    mixer.apply(keep, rows, sets)
    return zip(rows, sets, seen, strict=True)


def same_cell(one, other):
    """Equal, of one type, and missing in the same way."""
    if type(one) is not type(other):
        return False
    missing = pd.isna(one)
    return pd.isna(other) if missing else one == other


@pytest.mark.parametrize("name", PANDAS)
def test_rows_of_pandas_are_those_mixed_by_hand(name):
    column = PANDAS[name]
    frame = pd.DataFrame({"x": column, "n": [1, 2, 3], "t": pd.Series(["u", "v", None], dtype=object)})
    form = TableForm.of(frame)
    queries, references = form.to_frame(frame), frame.iloc[[2, 0]].reset_index(drop=True)
    assigned = np.array([0, 1, 0])
    for row, taken, seen in tables_seen(form, queries, references, assigned):
        expected = frame.iloc[[row]].copy()
        for place, label in enumerate(frame.columns):
            if taken[place]:
                donor = references[label].iloc[[assigned[row]]].set_axis(expected.index)
                expected[label] = donor.astype(frame[label].dtype)
        assert dict(seen.dtypes) == dict(expected.dtypes)
        for label in frame.columns:
            assert same_cell(seen[label].iloc[0], expected[label].iloc[0]), (label, seen, expected)
        if isinstance(column.dtype, pd.CategoricalDtype):
            assert seen["x"].cat.categories.equals(column.cat.categories)
    assert seen.columns.equals(frame.columns)


@pytest.mark.parametrize("dtype", ["int64", "int8", "Int64", "uint8"])
def test_a_value_that_does_not_fit_changes_the_dtype_of_its_own_row_only(dtype):
    frame = pd.DataFrame({"n": pd.Series([3, 4], dtype=dtype), "m": pd.Series([5, 6], dtype=dtype)})
    form = TableForm.of(frame)
    references = pd.DataFrame({"n": [3.4], "m": [5.0]})
    for row, taken, seen in tables_seen(form, frame, references, np.zeros(2, dtype=int)):
        assert seen["m"].dtype == frame["m"].dtype  # 5.0 is 5 there
        assert seen["m"].iloc[0] == (5 if taken[1] else frame["m"].iloc[row])
        assert pd.api.types.is_float_dtype(seen["n"].dtype) == taken[0]
        assert str(seen["n"].iloc[0]) == ("3.4" if taken[0] else str(frame["n"].iloc[row]))


def test_rows_may_share_wider_dtypes_but_never_lose_digits():
    frame = pd.DataFrame({"n": [3, BIG], "m": [1, 2]})
    form = TableForm.of(frame)
    references = pd.DataFrame({"n": [0.5], "m": [0.5]})
    for row, taken, seen in tables_seen(form, frame, references, np.zeros(2, dtype=int), alone=False):
        assert int(seen["n"].iloc[0]) == (0 if taken[0] else frame["n"].iloc[row])
        assert seen["m"].dtype == float or not taken[1]


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint64, np.bool_, np.float32, np.float64, object])
def test_rows_of_arrays_keep_their_dtype(dtype):
    array = np.array([[1, 0, 1], [0, 1, 1]], dtype=dtype)
    form = TableForm.of(array)
    frame = form.to_frame(array)
    references = frame.iloc[[1]].reset_index(drop=True)
    for row, taken, seen in tables_seen(form, frame, references, np.zeros(2, dtype=int)):
        native = form.to_native(seen) if isinstance(seen, pd.DataFrame) else seen
        assert native.dtype == dtype
        np.testing.assert_array_equal(native[0], np.where(taken, array[1], array[row]))


def test_integers_beyond_2_to_53_stay_what_they_are_in_arrays():
    array = np.array([[BIG, 3], [BIG + 2, 4]])
    form = TableForm.of(array)
    references = pd.DataFrame({"x0": [BIG + 4], "x1": [3.5]})
    for row, taken, seen in tables_seen(form, form.to_frame(array), references, np.zeros(2, dtype=int), alone=False):
        if taken[1]:
            assert seen.dtype == np.float64
        else:
            assert seen[0].tolist() == [BIG + 4 if taken[0] else array[row, 0], array[row, 1]]


def polars_columns(pl):
    return {
        "i": pl.Series([3, None, BIG]),
        "i8": pl.Series([1, 2, 3], dtype=pl.Int8),
        "f": pl.Series([1.5, None, float("nan")]),
        "f32": pl.Series([0.1, float("nan"), None], dtype=pl.Float32),
        "b": pl.Series([True, None, False]),
        "s": pl.Series(["a", None, "b"]),
        "c": pl.Series(["a", None, "b"], dtype=pl.Categorical),
        "e": pl.Series(["a", None, "b"], dtype=pl.Enum(["b", "a"])),
        "d": pl.Series([datetime.date(2020, 1, 1), None, datetime.date(2021, 2, 3)]),
        "dt": pl.Series([datetime.datetime(2020, 1, 1), None, datetime.datetime(2021, 2, 3)]),
        "dur": pl.Series([datetime.timedelta(1), None, datetime.timedelta(2)]),
        "u": pl.Series([1, 2, 2**63 + 1], dtype=pl.UInt64),
        "dec": pl.Series([Decimal("1.50"), None, Decimal("2.25")], dtype=pl.Decimal(10, 2)),
    }


@pytest.mark.parametrize("name", ["i", "i8", "f", "f32", "b", "s", "c", "e", "d", "dt", "dur", "u", "dec"])
def test_rows_of_polars_are_those_mixed_by_hand(name):
    pl = pytest.importorskip("polars")
    table = pl.DataFrame({"x": polars_columns(pl)[name], "n": [1.5, float("nan"), None]})
    form = TableForm.of(table)
    frame = form.to_frame(table)
    references = frame.iloc[[2, 1]].reset_index(drop=True)
    assigned = np.array([0, 1, 0])
    for row, taken, seen in tables_seen(form, frame, references, assigned):
        donor = table[2 - int(assigned[row])]
        expected = pl.DataFrame([donor[c] if taken[k] else table[int(row)][c] for k, c in enumerate(table.columns)])
        assert seen.schema == table.schema
        assert seen.equals(expected, null_equal=True), (seen, expected)
        assert repr(seen) == repr(expected)  # NaN and null apart


@pytest.mark.parametrize("name", ["i", "i8", "f", "f32", "b", "s", "d", "dt", "u", "dec"])
def test_rows_of_arrow_are_those_mixed_by_hand(name):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    table = pl.DataFrame({"x": polars_columns(pl)[name], "n": [1.5, float("nan"), None]}).to_arrow()
    if name == "s":
        table = table.set_column(0, "x", table.column("x").cast(pa.string()))
    form = TableForm.of(table)
    frame = form.to_frame(table)
    references = frame.iloc[[2, 1]].reset_index(drop=True)
    assigned = np.array([0, 1, 0])
    for row, taken, seen in tables_seen(form, frame, references, assigned):
        donor = 2 - int(assigned[row])
        assert seen.schema.remove_metadata() == table.schema.remove_metadata()
        for place, label in enumerate(table.column_names):
            expected = table.column(label)[donor if taken[place] else int(row)].as_py()
            assert same_cell(seen.column(label)[0].as_py(), expected), (label, seen, expected)


def test_other_markers_of_missing_values_are_other_cells():
    frame = pd.DataFrame({"x": pd.Series([None, np.nan, "a"], dtype=object)})
    space = FeatureSpace.of(frame)
    differs = MixedRows(space, frame, frame.iloc[[0]], np.zeros(3, dtype=int)).differing()
    assert differs[:, 0].tolist() == [False, True, True]


def test_a_model_cannot_write_into_rows_that_it_is_given():
    for rows in (pd.DataFrame({"a": [1.0, 2.0], "b": [1, 2]}), np.array([[1.0, 2.0], [3.0, 4.0]])):
        form = TableForm.of(rows)
        before = np.array(rows, copy=True)
        native = form.to_native(form.to_frame(rows))
        if isinstance(native, pd.DataFrame):
            native.loc[:, "a"] = -1.0
            native["b"] = -1
            native.iloc[0, 0] = -2.0
        else:
            native[:] = -1.0
        np.testing.assert_array_equal(np.array(rows), before)
