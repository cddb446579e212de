"""Means and modes of the other class, as in the paper; what happens when the model calls them positive."""

import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from oracle import assert_equals_oracle
from paper_references import PAPER
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import sev
from sev import datasets
from sev.backends._categories import category_columns
from sev.exceptions import FallbackWarning, InputError, PositiveReferenceError, ReferenceWarning
from sev.references import Auto, Background, FittedReference, FixedRow, NearestToMean, Typical, as_reference

LOADERS = {"german": datasets.load_german_credit, "adult": datasets.fetch_adult, "fico": datasets.fetch_heloc}


@pytest.mark.parametrize("name", PAPER)
def test_the_mean_is_the_papers(name):
    if name != "german" and not Path(os.environ.get("SEV_DATA_HOME", "nowhere")).is_dir():
        pytest.skip("set SEV_DATA_HOME to the folder of the data sets")
    data = LOADERS[name]()
    y = data.y.to_numpy()
    # a score that knows only the labels, so that the reference does not depend on a fitted model
    constant = {"score": lambda frame: np.full(len(frame), 0.25)}
    explainer = sev.Explainer(constant["score"], data.X, y, reference="mean")
    row = explainer.reference.iloc[0]
    for column, value in PAPER[name].items():
        if isinstance(value, str):
            assert row[column] == value
        else:
            assert round(float(row[column]), 2) == value


@pytest.mark.parametrize("name", PAPER)
def test_the_default_is_the_mean_with_integers_that_occur(name):
    if name != "german" and not Path(os.environ.get("SEV_DATA_HOME", "nowhere")).is_dir():
        pytest.skip("set SEV_DATA_HOME to the folder of the data sets")
    data = LOADERS[name]()
    score = {"constant": lambda frame: np.full(len(frame), 0.25)}
    explainer = sev.Explainer(score["constant"], data.X, data.y.to_numpy())
    row, others = explainer.reference.iloc[0], data.X[data.y.to_numpy() == 0]
    numbers = data.X.select_dtypes("number").columns
    assert len(numbers) > 3
    for column in numbers:
        if data.X[column].nunique() > 2:
            gaps = (data.X[column] - others[column].mean()).abs()
            assert row[column] in set(data.X[column])
            assert abs(row[column] - others[column].mean()) == gaps.min()
            assert explainer.reference[column].dtype == data.X[column].dtype


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
    frame = pd.DataFrame({"x": [0.0, 0.0, 0.0, 10.5, 20.0], "y": [1.0, 2.0, 3.0, 4.0, 5.5]})
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
    assert isinstance(as_reference(NearestToMean()), NearestToMean)
    with pytest.raises(InputError, match="mean"):
        as_reference("middle")


def test_integers_take_the_value_that_occurs_nearest_to_the_mean():
    frame = pd.DataFrame(
        {
            "grade": [1, 2, 5, 9, 40],
            "whole": [1.0, 2.0, np.nan, 9.0, 40.0],
            "half": [1.0, 2.5, 5.0, 9.0, 40.0],
            "even": [0, 2, 4, 6, 100],
            "nullable": pd.array([1, 2, None, 9, 40], dtype="Int64"),
            "two": [0, 1, 1, 1, 0],
            "flag": [True, False, True, True, False],
            "when": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-05", "2020-01-09", "2021-01-01"]),
        }
    )
    rows = background(frame, [True, True, True, True, False])
    fitted = Typical("mean", observed_integers=True).fit(rows).rows
    row = fitted.iloc[0]
    assert row[["grade", "whole", "nullable"]].tolist() == [5, 2.0, 2]  # means 4.25, 4.0 and 4.0
    assert row["half"] == 4.375
    assert row["even"] == 2  # a mean of 3 is as near to 4
    assert row["two"] == 1
    assert row["flag"]
    assert fitted["grade"].dtype == frame["grade"].dtype
    assert fitted["nullable"].dtype == "Int64"
    assert row["when"] == frame["when"][:4].mean()
    assert Typical("median", observed_integers=True).fit(rows).rows["grade"].iloc[0] == 2  # a median of 3.5
    assert Typical("mean").fit(rows).rows["grade"].iloc[0] == 4.25
    assert as_reference("mean") == Typical("mean")
    assert Auto(observed_integers=False).fit(rows).rows["grade"].iloc[0] == 4.25


def coded(n_rows=300):
    """Codes of regions, whose mean is no region."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"region": rng.choice([10, 20, 70], n_rows, p=[0.5, 0.2, 0.3]), "income": rng.normal(size=n_rows)})
    y = ((X["region"] == 20) + X["income"] + rng.normal(scale=0.3, size=n_rows) > 0.5).astype(int)
    return X, y


def coded_models():
    encoder = make_column_transformer((OneHotEncoder(), ["region"]), remainder="passthrough")
    deep = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="most_frequent"), OrdinalEncoder()), [0]), (StandardScaler(), [1])
    )
    pipeline = make_pipeline(encoder, LogisticRegression())
    return {
        "encoder": pipeline,
        "encoder in a pipeline": make_pipeline(deep, RandomForestClassifier(5, random_state=0)),
        "boosting": HistGradientBoostingClassifier(categorical_features=["region"], max_iter=5),
        "voting": VotingClassifier([("a", pipeline), ("b", pipeline)], voting="soft"),
    }


@pytest.mark.parametrize("name", coded_models())
@pytest.mark.parametrize("centre", ["mean", "median"])
def test_codes_that_the_model_takes_as_categories_have_no_mean(name, centre):
    X, y = coded()
    model = coded_models()[name].fit(X, y)
    assert category_columns(model, tuple(X.columns)) == {"region"}
    assert category_columns(FrozenEstimator(model), tuple(X.columns)) == {"region"}
    rows = replace(background(X, (y == 0).to_numpy()), categories=category_columns(model, tuple(X)))
    fitted = Typical(centre).fit(rows).rows
    assert fitted["region"].iloc[0] == X["region"][y == 0].mode()[0]


def test_a_model_of_categories_only():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(200, 3))
    model = CategoricalNB().fit(X, X[:, 0] > 2)
    explainer = sev.Explainer(model, X, X[:, 0] > 2, reference="mean")
    assert all(explainer.reference.iloc[0, place] in {0, 1, 2, 3, 4} for place in range(3))


@pytest.mark.parametrize("one_hot", [True, False])
def test_catboost_takes_integer_categories(one_hot):
    catboost = pytest.importorskip("catboost", reason="catboost is not installed")
    X, y = coded()
    X["flag"] = X["income"] > 0.2
    model = catboost.CatBoostClassifier(
        iterations=12,
        depth=3,
        verbose=False,
        allow_writing_files=False,
        cat_features=["region"],
        one_hot_max_size=10 if one_hot else 1,
    ).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        explainer = sev.Explainer(model, X, y)
    assert explainer.backend == ("trees" if one_hot else "black box")
    assert explainer.reference["region"].iloc[0] == 10
    assert explainer.reference["region"].dtype == X["region"].dtype
    many = explainer.explain(X[:60])
    positive = np.flatnonzero(many.statuses != "not_target")
    assert positive.size > 5

    def score(frame):
        return model.predict_proba(frame.astype(X.dtypes))[:, 1]

    for row in positive[:8]:
        assert_equals_oracle(many[int(row)], score, {name: (name,) for name in X})


def test_boosters_take_integer_categories():
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    X, y = coded()
    light = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(X, y, categorical_feature=["region"])
    assert category_columns(light, tuple(X)) == {"region"}
    assert category_columns(light.booster_, tuple(X)) == {"region"}
    codes = X["region"].map({10: 0, 20: 1, 70: 2})
    coded_rows = X.assign(region=codes).to_numpy()
    model = xgboost.XGBClassifier(n_estimators=3, enable_categorical=True, feature_types=["c", "q"]).fit(coded_rows, y)
    assert category_columns(model, ("region", "income")) == {"region"}
    assert category_columns(model.get_booster(), ("region", "income")) == {"region"}


def test_auto_passes_over_rows_that_the_model_does_not_take():
    X, y = coded()

    def refuses(rows):
        if not rows["income"].isin(X["income"]).all():
            raise ValueError("never seen")
        return (rows["income"].to_numpy() > 0.5).astype(float)

    with pytest.warns(ReferenceWarning, match="rejected by the model .ValueError: never seen.*nearest real row"):
        explainer = sev.Explainer(refuses, X, y)
    assert explainer.reference["income"].iloc[0] in set(X["income"])


@pytest.mark.parametrize(
    "model", [RandomForestClassifier(5, random_state=0), HistGradientBoostingClassifier(max_iter=5)]
)
def test_integer_column_names_do_not_make_trees_a_black_box(model):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 3)), columns=[2, 0, 7])
    y = (X[2] + X[0] > 0).astype(int)
    explainer = sev.Explainer(model.fit(X, y), X, y, reference="median", allow_positive_reference=True)
    assert (explainer.backend, explainer.backend_reason) == ("trees", "")
