"""Rows of requests: edits of a row that is kept are what the row would be if it were made anew."""

import numpy as np
import pandas as pd
import pytest

import sev
from sev.app import Service, Table
from sev.app._models import Person
from sev.core import Recent


def check_same(served, row, edits):
    """An edited row, and the same row made from all its cells."""
    edited = served.row_of(Person(row=row, edits=edits))
    whole = served.row_of(Person(row=row))
    cells = {str(column): whole[column].iloc[0] for column in whole}
    plain = {name: one.item() if isinstance(one, np.generic) else one for name, one in cells.items()}
    plain = {name: None if pd.isna(one) else one for name, one in plain.items()}
    made = served.row_of(Person(values={**plain, **edits}))
    pd.testing.assert_frame_equal(edited.reset_index(drop=True), made.reset_index(drop=True))
    return edited


def test_edits_of_a_row_are_in_the_types_of_the_model(service, loans):
    explainer, applicants = loans
    [served] = service.served_models
    other = applicants.iloc[1]
    for column in explainer.feature_names:
        value = other[column]
        edited = check_same(served, 0, {column: value.item() if isinstance(value, np.generic) else value})
        assert edited[column].dtype == explainer.form.dtypes[column]
        assert edited[column].iloc[0] == value
    assert served.row_of(Person(row=0)).equals(
        applicants[list(explainer.feature_names)].iloc[[0]].reset_index(drop=True)
    )


@pytest.fixture(scope="module")
def numbers():
    """A model of arrays, one of tables with missing numbers and categories, and their rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    random = np.random.default_rng(0)
    array = random.normal(size=(200, 3))
    label = (array.sum(axis=1) > 0).astype(int)
    frame = pd.DataFrame(array, columns=["a", "b", "c"]).assign(d=pd.Categorical(random.choice(["x", "y"], 200)))
    frame.loc[::7, "a"] = np.nan
    frame["e"] = random.integers(0, 9, 200)
    fitted = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype").fit(frame, label)
    plain = HistGradientBoostingClassifier(max_iter=5).fit(array, label)
    return [(sev.Explainer(fitted, frame, label), frame), (sev.Explainer(plain, array, label), pd.DataFrame(array))]


@pytest.mark.parametrize(
    ("which", "edits"),
    [
        (0, {"a": None}),
        (0, {"a": 1, "d": "y"}),
        (0, {"d": None}),
        (0, {"d": "unseen"}),
        (0, {"e": 3}),
        (0, {"e": 2.5}),
        (1, {"x0": 1.5}),
        (1, {"x2": 7, "x1": 0}),
    ],
)
def test_edits_of_missing_values_categories_and_arrays(numbers, which, edits):
    explainer, rows = numbers[which]
    rows = rows.set_axis(list(explainer.form.columns), axis=1)
    names = [str(name) for name in explainer.form.columns]
    service = Service([("one", explainer)], Table.of_frame(rows.set_axis(names, axis=1)))
    check_same(service.served_models[0], 3, edits)


def test_a_row_that_is_kept_is_not_changed_by_edits(service):
    [served] = service.served_models
    before = served.row_of(Person(row=2)).copy()
    served.row_of(Person(row=2, edits={"duration": 71}))
    pd.testing.assert_frame_equal(served.row_of(Person(row=2)), before)


def test_cells_that_are_kept_are_told_apart_by_type_and_not_changed_by_whoever_gets_them(numbers):
    explainer, rows = numbers[0]
    served = Service([("one", explainer)], Table.of_frame(rows)).served_models[0]
    for value in (1, 1.0, 2.5, None, 9007199254740993, 9007199254740992):
        for _ in range(2):
            check_same(served, 3, {"e": value})
    edited = served.row_of(Person(row=3, edits={"a": 4.5}))
    edited.loc[:, "a"] = -1.0
    assert served.row_of(Person(row=3, edits={"a": 4.5}))["a"].iloc[0] == 4.5


def test_no_long_text_that_somebody_typed_is_kept(service):
    [served] = service.served_models
    served.row_of(Person(row=2, edits={"purpose": "short"}))
    before = len(served._edited)
    assert served.row_of(Person(row=2, edits={"purpose": "long" * 100}))["purpose"].iloc[0] == "long" * 100
    assert len(served._edited) == before


def test_what_was_used_last_is_kept():
    recent, made = Recent(2), []

    def make(name):
        return recent.get(name, lambda: made.append(name) or name)

    assert [make(name) for name in "abacab"] == list("abacab")
    assert made == ["a", "b", "c", "b"]
    assert len(recent) == 2
