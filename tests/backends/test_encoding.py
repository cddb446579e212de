"""Encodings that look column-wise but are not, and columns that first vary after construction."""

import numpy as np
import pandas as pd
import pytest
from oracle import assert_equals_oracle
from sklearn.compose import make_column_transformer
from sklearn.impute import KNNImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, StandardScaler

import sev
from sev.backends._band import decision_band
from sev.backends._encoding import ColumnwiseEncoding
from sev.backends._protocol import CannotReadError
from sev.exceptions import FallbackWarning


def rare_colour(n=400):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"amount": rng.normal(size=n), "colour": rng.choice(["a", "b"], n), "age": rng.normal(size=n)})
    return frame, (frame["amount"] + (frame["colour"] == "a") > 0.5).to_numpy().astype(int)


def test_a_category_that_no_background_row_has_moves_with_its_feature():
    frame, y = rare_colour()
    colours = OneHotEncoder(categories=[["a", "b", "never"]])
    model = make_pipeline(
        make_column_transformer((colours, ["colour"]), (StandardScaler(), ["amount", "age"])), LogisticRegression()
    )
    model.fit(frame, y)
    model[-1].coef_[0, 2] = 4.0  # the category nobody has would decide alone
    explainer = sev.Explainer(model, frame, y)
    query = pd.DataFrame({"amount": [0.1], "colour": ["never"], "age": [0.0]})
    one = explainer.explain(query)[0]
    assert one.status == "optimal"
    assert one.features == ("colour",)
    assert_equals_oracle(one, lambda f: model.predict_proba(f)[:, 1], {c: (c,) for c in frame.columns})


@pytest.mark.parametrize(
    "transformer",
    [Normalizer(), FunctionTransformer(lambda rows: rows - np.mean(rows, axis=1, keepdims=True))],
    ids=["row norm", "row mean"],
)
def test_transformers_that_mix_columns_are_caught(transformer):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    y = (X[:, 0] > 0).astype(int)
    model = make_pipeline(transformer, LogisticRegression()).fit(X, y)
    with pytest.warns(FallbackWarning, match="more than one feature"):
        explainer = sev.Explainer(model, X, y)
    assert explainer.backend == "black box"


def test_an_imputer_that_looks_at_other_columns_is_caught():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] > 0).astype(int)
    X[50:60, 1] = np.nan
    model = make_pipeline(KNNImputer(), LogisticRegression()).fit(X, y)
    with pytest.warns(FallbackWarning):
        explainer = sev.Explainer(model, X, y)
    assert explainer.backend == "black box"


def test_a_subclass_that_changes_its_scores_is_caught():
    class Shifted(LogisticRegression):
        def predict_proba(self, X):
            return np.clip(super().predict_proba(X) + np.array([-0.1, 0.1]), 0, 1)

    Shifted.__module__ = "sklearn.elsewhere"  # otherwise refused for the override, before anything is compared
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    model = Shifted().fit(X, (X[:, 0] > 0).astype(int))
    with pytest.warns(FallbackWarning, match="differ from the model's own"):
        sev.Explainer(model, X, threshold=0.5)


def test_band_of_a_plateau_holds_every_margin_that_scores_the_threshold():
    def link(margins):
        return np.interp(margins, [-2.0, -1.0, 1.0, 2.0], [0.0, 0.5, 0.5, 1.0])

    low, high = decision_band(link, 0.5, 1e-12)
    assert -1.0 - 1e-9 < low <= -1.0 <= 1.0 <= high < 1.0 + 1e-9
    assert decision_band(link, 2.0, 1e-12) == (np.inf, np.inf)
    assert decision_band(link, -1.0, 1e-12) == (-np.inf, -np.inf)


def test_columns_that_turn_out_to_mix_features_leave_no_owners_behind():
    def encode(rows):
        a, b = np.asarray(rows, dtype=np.float64).T
        return np.column_stack([a, b, a > 100, (a > 100) + 2.0 * (b > 100)]).astype(np.float64)

    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["a", "b"])
    explainer = sev.Explainer(LogisticRegression().fit(frame, frame["a"] > 0), frame)
    encoding = ColumnwiseEncoding(encode, explainer.form, explainer.space, frame)
    owners = encoding.column_feature.copy()
    query, reference = pd.DataFrame({"a": [200.0], "b": [200.0]}), pd.DataFrame({"a": [0.0], "b": [0.0]})
    for _ in range(2):  # the second time as the first: the column is still without an owner
        with pytest.raises(CannotReadError, match="more than one feature"):
            encoding.own_new_columns(
                query, reference, np.zeros(1, dtype=np.int64), encoding.encode(query), encoding.encode(reference)
            )
        assert not encoding.owns_all
        assert encoding._owner.tolist() == [0, 1, -1, -1]
        assert encoding.column_feature.tolist() == owners.tolist()
