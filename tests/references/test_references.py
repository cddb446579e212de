"""Means and modes of the other class, as in the paper; what happens when the model calls them positive."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import sev
from sev import datasets
from sev.exceptions import InputError, PositiveReferenceError, ReferenceWarning
from sev.references import Background, FittedReference, FixedRow, NearestRow, Typical, as_reference

# Figures printed in the explanation tables of the paper (appendix H): means and modes over the negative class.
PAPER = {
    "german": {
        "duration": 19.21,
        "credit_amount": 2985.46,
        "age": 36.22,
        "checking_status": "no checking account",
        "purpose": "radio/television",
        "other_debtors": "none",
        "housing": "own",
    },
    "adult": {
        "age": 36.78,
        "education-num": 9.6,
        "capital-gain": 148.75,
        "capital-loss": 53.14,
        "hours-per-week": 38.84,
        "workclass": "Private",
        "marital-status": "Never-married",
        "occupation": "Adm-clerical",
        "relationship": "Not-in-family",
        "race": "White",
    },
    "fico": {
        "ExternalRiskEstimate": 72.21,
        "MSinceMostRecentTradeOpen": 9.2,
        "NumSatisfactoryTrades": 21.1,
        "PercentTradesNeverDelq": 89.98,
        "MaxDelq2PublicRecLast12M": 5.36,
        "PercentInstallTrades": 29.82,
        "NumInqLast6M": 0.6,
        "NumInqLast6Mexcl7days": 0.56,
        "NetFractionRevolvingBurden": 22.26,
        "NumRevolvingTradesWBalance": 2.95,
    },
}
LOADERS = {"german": datasets.load_german_credit, "adult": datasets.fetch_adult, "fico": datasets.fetch_heloc}


@pytest.mark.parametrize("name", PAPER)
def test_the_default_reference_is_the_papers(name):
    if name != "german" and not Path(os.environ.get("SEV_DATA_HOME", "nowhere")).is_dir():
        pytest.skip("set SEV_DATA_HOME to the folder of the data sets")
    data = LOADERS[name]()
    y = data.y.to_numpy()
    # a score that knows only the labels, so that the reference does not depend on a fitted model
    constant = {"score": lambda frame: np.full(len(frame), 0.25)}
    explainer = sev.Explainer(constant["score"], data.X, y)
    row = explainer.reference.iloc[0]
    for column, value in PAPER[name].items():
        if isinstance(value, str):
            assert row[column] == value
        else:
            assert round(float(row[column]), 2) == value


def background(frame, negatives, is_positive=None):
    from sev.space import FeatureSpace, TableForm

    return Background(
        frame,
        np.asarray(negatives),
        TableForm.of(frame),
        FeatureSpace.of(frame),
        is_positive or (lambda rows: np.zeros(len(rows), dtype=bool)),
    )


def test_means_modes_and_two_valued_columns():
    frame = pd.DataFrame(
        {
            "n": [1, 2, 6, 100],
            "two": [0, 1, 1, 0],
            "text": ["b", "a", "b", "z"],
            "missing": [np.nan, 2.0, 4.0, 9.0],
            "home_own": [1, 0, 0, 1],
            "home_rent": [0, 1, 0, 0],
            "home_free": [0, 0, 1, 0],
        }
    )
    rows = background(frame, [True, True, True, False])
    mean = Typical("mean").fit(rows).rows.iloc[0]
    assert mean[["n", "two", "text", "missing"]].tolist() == [3.0, 1, "b", 3.0]
    assert mean[["home_own", "home_rent", "home_free"]].sum() == 1  # a block keeps exactly one 1
    assert Typical("median").fit(rows).rows["n"].iloc[0] == 2


def test_mode_of_a_tie_does_not_depend_on_row_order():
    frame = pd.DataFrame({"t": ["b", "a", "a", "b", None, "c", "d"], "x": range(7)})
    one = Typical().fit(background(frame, [True] * 7)).rows["t"].iloc[0]
    two = Typical().fit(background(frame[::-1], [True] * 7)).rows["t"].iloc[0]
    assert one == two == "a"


def test_auto_goes_on_to_the_median_then_to_a_real_row_and_says_so():
    frame = pd.DataFrame({"x": [0.0, 0.0, 0.0, 10.0, 20.0], "y": [1.0, 2.0, 3.0, 4.0, 5.0]})
    model = lambda rows: (rows["x"].to_numpy() > 1).astype(float)  # noqa: E731
    with pytest.warns(ReferenceWarning, match="median"):
        explainer = sev.Explainer(model, frame, [0, 0, 0, 0, 1])
    assert explainer.reference["x"].iloc[0] == 0.0
    stubborn = lambda rows: (rows["y"].to_numpy() % 1 == 0.5).astype(float)  # noqa: E731
    with pytest.warns(ReferenceWarning, match="real row"):
        explainer = sev.Explainer(stubborn, frame, [0, 0, 0, 0, 1])
    assert explainer.reference.iloc[0].tolist() in frame.to_numpy().tolist()


def test_an_explicit_reference_that_is_positive_is_refused_with_its_score():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = LogisticRegression().fit(X, [0, 0, 1, 1])
    with pytest.raises(PositiveReferenceError, match=r"score is 0\.9.*allow_positive_reference"):
        sev.Explainer(model, X, [0, 0, 1, 1], reference=[9.0])
    explainer = sev.Explainer(model, X, [0, 0, 1, 1], reference=[9.0], allow_positive_reference=True)
    plus = explainer.explain_one([3.0], kind="plus")
    assert (plus.size, plus.features, plus.status) == (0, (), "optimal")
    assert explainer.explain_one([3.0]).status == "unexplainable"


def test_an_object_of_ones_own_with_several_rows():
    class HighAndLow:
        def fit(self, background):
            rows = background.rows.iloc[[0, 1]].reset_index(drop=True)
            return FittedReference(rows, "high and low", lambda queries: (queries["x1"] > 0).to_numpy().astype(int))

    X = np.array([[-3.0, -1.0], [-4.0, 1.0], [3.0, 1.0], [3.0, -1.0]])
    model = LogisticRegression().fit(X, [0, 0, 1, 1])
    many = sev.Explainer(model, X, [0, 0, 1, 1], reference=HighAndLow()).explain(X[2:])
    assert [one.reference["x0"] for one in many] == [-4.0, -3.0]
    assert [one.result["x0"] for one in many] == [-4.0, -3.0]
    many.verify()


def test_what_can_be_given_as_a_reference():
    assert as_reference("median") == Typical("median")
    assert isinstance(as_reference([1, 2]), FixedRow)
    assert isinstance(as_reference(NearestRow()), NearestRow)
    with pytest.raises(InputError, match="mean"):
        as_reference("middle")
