"""Types come from the explainer, and a bad cell spoils its own row only."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sev.batch._cells import rows_of, used_columns
from sev.exceptions import InputError
from sev.space import TableForm

BACKGROUND = pd.DataFrame(
    {
        "age": [30, 40],
        "income": [1.5, 2.5],
        "branch": ["007", "x"],
        "grade": pd.Categorical([1, 2]),
        "code": pd.Categorical(["1", "2"]),
        "member": [True, False],
        "since": pd.to_datetime(["2020-01-01", "2021-01-01"]),
    }
)
FORM = TableForm.of(BACKGROUND)
CELLS = {
    "age": ["30", "41"],
    "income": ["1.5", "2"],
    "branch": ["007", "08"],
    "grade": ["1", "2"],
    "code": ["1", "2"],
    "member": ["true", "False"],
    "since": ["2020-01-01", "2021-06-01"],
}


def text_table(**changes):
    return pa.table({name: pa.array(values, type=pa.string()) for name, values in {**CELLS, **changes}.items()})


def test_text_becomes_what_the_background_holds():
    rows, problems = rows_of(text_table(), FORM)
    assert not problems
    assert rows.dtypes.to_dict() == BACKGROUND.dtypes.to_dict()
    assert rows["branch"].tolist() == ["007", "08"]
    assert rows["code"].cat.categories.tolist() == ["1", "2"]
    assert rows["grade"].tolist() == [1, 2]
    assert rows["member"].tolist() == [True, False]


@pytest.mark.parametrize("missing", ["", "NA", "nan", "null", " NaN "])
def test_missing_numbers_are_missing(missing):
    rows, problems = rows_of(text_table(age=["30", missing], income=[missing, "2"]), FORM)
    assert not problems
    assert np.isnan(rows["age"].iloc[1])
    assert np.isnan(rows["income"].iloc[0])


def test_whole_numbers_may_have_fractions_after_all():
    rows, problems = rows_of(text_table(age=["30.5", "41"]), FORM)
    assert not problems
    assert rows["age"].tolist() == [30.5, 41.0]


def test_large_whole_numbers_keep_their_digits():
    rows, _ = rows_of(text_table(age=["9007199254740993", "1"]), FORM)
    assert rows["age"].iloc[0] == 9007199254740993


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        ("age", "forty", "'age' holds 'forty'; expected a number"),
        ("income", "inf", "'income' holds 'inf'; expected a finite number"),
        ("member", "perhaps", "'member' holds 'perhaps'; expected true or false"),
        ("since", "last week", "'since' holds 'last week'; expected a date"),
        ("grade", "two", "'grade' holds 'two'; expected a number"),
    ],
)
def test_a_bad_cell_spoils_its_row(column, cell, expected):
    rows, problems = rows_of(text_table(**{column: [cell, CELLS[column][1]]}), FORM)
    assert list(problems) == [0]
    assert expected in problems[0]
    assert rows.index.tolist() == [1]


def test_dictionary_columns_keep_their_missing_values():
    table = text_table().set_column(2, "branch", pa.array(["x", None], type=pa.string()).dictionary_encode())
    rows, _ = rows_of(table, FORM)
    assert rows["branch"].iloc[0] == "x"
    assert pd.isna(rows["branch"].iloc[1])


def test_columns_are_found_by_name_or_for_arrays_in_order():
    with pytest.raises(InputError, match=r"lacks 1 column that the explainer needs: \['age'\]"):
        rows_of(text_table().drop_columns("age"), FORM)
    form = TableForm.of(np.zeros((2, 2)))
    assert used_columns(["a", "b"], form) == {"x0": "a", "x1": "b"}
    assert used_columns(["x1", "id", "x0"], form) == {"x0": "x0", "x1": "x1"}
