"""A table that is read from JSON has the very cells that were written."""

import datetime
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sev.explanations._json_tables import LostCell, lost_cells, table_from_plain, table_to_plain
from sev.space import FeatureSpace, MixedRows, TableForm, is_nan_value

BIG = 2**53 + 1
DAY = datetime.date(2020, 1, 2)

COLUMNS = {
    "int64": pd.Series([3, BIG, -7], dtype="int64"),
    "uint64": pd.Series([3, 2**63 + 1, 7], dtype="uint64"),
    "int8": pd.Series([3, -4, 7], dtype="int8"),
    "float64": pd.Series([0.1, np.nan, -0.0]),
    "float32": pd.Series([0.1, np.nan, 2.0], dtype="float32"),
    "float16": pd.Series([0.1, np.nan, 2.0], dtype="float16"),
    "bool": pd.Series([True, False, True]),
    "Int64": pd.Series([3, None, BIG], dtype="Int64"),
    "Float64": pd.Series([0.1, None, -0.0], dtype="Float64"),
    "boolean": pd.Series([True, None, False], dtype="boolean"),
    "object": pd.Series(["a", None, np.nan], dtype=object),
    "markers": pd.Series([pd.NA, None, pd.NaT], dtype=object),
    "numbers": pd.Series([3, 3.0, "3"], dtype=object),
    "booleans": pd.Series([True, 1, "True"], dtype=object),
    "numpy": pd.Series([np.float32(0.1), np.int64(BIG), np.bool_(True)], dtype=object),
    "dates": pd.Series([DAY, datetime.datetime(2020, 1, 2, 3), datetime.time(4, 5)], dtype=object),
    "moments": pd.Series(
        [pd.Timestamp("2020-01-01 00:00:00.000000001"), pd.Timedelta("1 day 1 ns"), None], dtype=object
    ),
    "decimals": pd.Series([Decimal("1.10"), Decimal("1.1"), None], dtype=object),
    "bytes": pd.Series([b"a", "a", b"\xff\x00"], dtype=object),
    "categories of several types": pd.Series(
        ["a", 1, None], dtype=pd.CategoricalDtype(pd.Index(["a", 1], dtype=object))
    ),
    "categories of intervals": pd.Series(pd.cut([1.0, 2.0, 3.0], 2)),
    "intervals": pd.Series([pd.Interval(0, 1), pd.Interval(pd.Timestamp("2020"), pd.Timestamp("2021"), "left"), None]),
    "categories of booleans": pd.Series([True, None, False], dtype=pd.CategoricalDtype([True, False])),
    "period": pd.Series(pd.PeriodIndex(["2020-01", None, "2020-03"], freq="M")),
    "sparse": pd.Series(pd.arrays.SparseArray([0.0, 1.5, np.nan])),
    "str": pd.Series(["a", None, "b"], dtype="str"),
    "string": pd.Series(["a", None, "b"], dtype="string"),
    "string of arrow": pd.Series(["a", None, "b"], dtype=pd.ArrowDtype(pa.string())),
    "int of arrow": pd.Series([1, None, BIG], dtype="int64[pyarrow]"),
    "decimal of arrow": pd.Series([Decimal("1.10"), None, Decimal("2.00")], dtype=pd.ArrowDtype(pa.decimal128(10, 2))),
    "category": pd.Series(["a", None, "b"], dtype=pd.CategoricalDtype(["b", "a", "unused"])),
    "ordered": pd.Series([1, 3, 2], dtype=pd.CategoricalDtype([3, 2, 1], ordered=True)),
    "category of days": pd.Series(pd.to_datetime(["2020-01-01", None, "2021-02-03"])).astype("category"),
    "datetime": pd.Series(pd.to_datetime(["2020-01-01 00:00:00.123456789", None, "2021-02-03"], format="ISO8601")),
    "zone": pd.Series(pd.to_datetime(["2020-01-01", None, "2021-07-03"]).tz_localize("Europe/Berlin")),
    "timedelta": pd.Series(pd.to_timedelta(["1 day", None, "2 days 00:00:00.000001"])),
}


def read_again(frame):
    return table_from_plain(json.loads(json.dumps(table_to_plain(frame), allow_nan=False)))


def cells(values):
    return [(type(one), repr(one)) for one in values]


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_come_back_cell_by_cell(name):
    frame = COLUMNS[name].to_frame("x")
    again = read_again(frame)
    assert lost_cells(again) == []
    assert again["x"].dtype == frame["x"].dtype
    if isinstance(frame["x"].dtype, pd.CategoricalDtype):
        pd.testing.assert_index_equal(again["x"].cat.categories, frame["x"].cat.categories)
    assert cells(again["x"]) == cells(frame["x"])


def test_nan_beside_null_comes_back():
    table = pl.DataFrame({"x": [1.0, float("nan"), None]})
    frame = TableForm.of(table).to_frame(table)
    again = read_again(frame)
    assert is_nan_value(again["x"]).tolist() == [False, True, False]
    assert not MixedRows(FeatureSpace.of(frame), frame, again, np.arange(3)).differing().any()


def test_cells_that_no_file_holds_are_never_taken_for_their_text():
    frame = pd.DataFrame({"x": pd.Series(["a", (1, 2), None, 1 + 2j, np.nan], dtype=object), "y": range(5)})
    again = read_again(frame)
    assert lost_cells(again) == [(1, "x"), (3, "x")]
    assert cells(again["x"])[0::2] == cells(frame["x"])[0::2]
    assert type(again["x"][1]) is LostCell
    assert again["x"][1] == "(1, 2)"


def test_columns_that_cannot_be_built_again_are_lost_as_a_whole():
    frame = pd.DataFrame({"x": pd.Series([[1], [2]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))})
    assert lost_cells(read_again(frame)) == [(0, "x"), (1, "x")]


@pytest.mark.parametrize(
    ("names", "levels"),
    [
        (["a", "b"], 1),
        ([1, "1"], 1),
        (["", "x"], 1),
        ([0, 1], 1),
        ([("u", 1), ("v", "x")], 1),
        ([("u", 1), ("v", "x")], 2),
    ],
)
def test_column_names_come_back(names, levels):
    frame = pd.DataFrame([[1, 2.5]], columns=pd.Index(names, tupleize_cols=levels > 1))
    assert frame.columns.nlevels == levels
    again = read_again(frame)
    assert list(again.columns) == names
    assert [type(one) for one in again.columns] == [type(one) for one in names]
    assert again.columns.nlevels == levels
    assert again.iloc[0].tolist() == [1, 2.5]


def test_tables_of_the_first_version_are_read():
    plain = {
        "columns": ["x", "y"],
        "dtypes": [{"categories": ["b", "a"], "ordered": False}, "object"],
        "values": [["a", None], ["t", None]],
    }
    frame = table_from_plain(plain)
    assert frame["x"].cat.categories.tolist() == ["b", "a"]
    assert frame["x"].isna().tolist() == [False, True]
    assert frame["y"].tolist() == ["t", None]
