"""Messages about tables name what is wrong and what to do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import sev
from sev.exceptions import InputError

ROWS = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=list("abc"))
LABELS = (ROWS["a"] > 0).astype(int)


@pytest.fixture(scope="module")
def model():
    return LogisticRegression().fit(ROWS.to_numpy(), LABELS)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"groups": {"x": ["a", "b"], "y": ["b", "c"]}},
            "Column 'b' is in two groups, 'x' and 'y': leave it out of one.",
        ),
        ({"feature_names": ["a", "b"]}, "feature_names has 2 names, but the rows have 3 columns: pass one per column."),
    ],
)
def test_messages_of_the_constructor(model, given, message):
    rows = ROWS.to_numpy() if "feature_names" in given else ROWS
    with pytest.raises(InputError) as error:
        sev.Explainer(lambda table: model.predict_proba(np.asarray(table))[:, 1], rows, LABELS, **given)
    assert str(error.value) == message


def test_messages_of_rows(model):
    explainer = sev.Explainer(lambda table: model.predict_proba(np.asarray(table, dtype=float))[:, 1], ROWS, LABELS)
    wrong = ROWS.astype(object)
    wrong.loc[3, "b"] = "much"
    with pytest.raises(InputError, match=r"row 3 has 'much': correct the cell, or leave the row out\."):
        explainer.explain(wrong)
    with pytest.raises(InputError, match=r"has 2 values: pass 3, one for each column\."):
        explainer.explain_one([1.0, 2.0])
    with pytest.raises(InputError, match=r"more than once: .*a.*Rename or drop them\."):
        explainer.explain(pd.concat([ROWS, ROWS[["a"]]], axis=1))


@pytest.mark.parametrize(("cell", "kind"), [([1], "list"), ({"x": 1}, "dict"), (np.array([1, 2]), "ndarray")])
def test_a_column_of_lists_is_named(cell, kind):
    rows = ROWS.assign(parts=pd.Series([None, *[cell] * 39], dtype=object))
    with pytest.raises(
        InputError, match=rf"Column 'parts' holds a {kind} in row 1: a cell must be one value.*or drop it"
    ):
        sev.Explainer(lambda table: table["a"].to_numpy() > 0, rows, LABELS, target=True)
