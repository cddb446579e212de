"""Targets, classes, progress and what an explainer says of itself."""

import cases
import numpy as np
import pandas as pd
import pytest
from oracle import assert_equals_oracle
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import sev
from sev.exceptions import FallbackWarning


def test_predicted_explains_every_row_for_its_own_class():
    X, y = cases.numbers()
    labels = np.where(y == 1, "yes", "no")
    model = LogisticRegression().fit(X, labels)
    many = sev.Explainer(model, X, labels, target="predicted").explain(X)
    assert (many.statuses != "not_target").all()
    assert [one.target for one in many] == model.predict(X).tolist()
    for one in many[:60]:
        place = list(model.classes_).index(one.target)
        assert_equals_oracle(
            one,
            lambda f, place=place: model.predict_proba(f.to_numpy(float))[:, place],
            {c: (c,) for c in one.query.index},
        )


def test_rows_that_are_changed_after_the_call_change_no_explanation():
    X, y = cases.numbers()
    frame = pd.DataFrame(X, columns=[f"c{number}" for number in range(X.shape[1])])
    explainer = sev.Explainer(LogisticRegression().fit(frame, y), frame, y)
    row = frame[explainer.model.predict(frame) == 1].iloc[[0]].copy()
    value = row.iloc[0, 0]
    one = explainer.explain_one(row)
    row.iloc[0, 0] = 99.0
    row["c1"] = -99.0
    assert one.query["c0"] == value
    assert one.query["c1"] != -99.0
    one.verify()


def test_predicted_with_three_classes():
    X, y = cases.numbers()
    labels = np.where(X[:, 1] > 0, "top", np.where(y == 1, "mid", "low"))
    model = KNeighborsClassifier(9).fit(X, labels)
    with pytest.warns(FallbackWarning, match="3 classes"):
        explainer = sev.Explainer(model, X, labels, target="predicted", reference="mean")
    many = explainer.explain(X[:60])
    scores = model.predict_proba(X[:60])
    clear = np.sort(scores, axis=1)[:, -1] > np.sort(scores, axis=1)[:, -2]
    predicted = np.array([one.target for one in many])
    assert (predicted[clear] == model.predict(X[:60])[clear]).all()
    many.verify()
    assert (many.statuses == "optimal").mean() > 0.9


def test_a_callable_with_a_column_a_class_explains_either():
    X, y = cases.numbers()
    model = LogisticRegression().fit(X, y)
    for target in (0, 1):
        asked = sev.Explainer(lambda rows: model.predict_proba(rows), X, y, target=target).explain(X)
        read = sev.Explainer(model, X, y, target=target).explain(X)
        assert np.array_equal(asked.sizes, read.sizes, equal_nan=True)


def test_the_second_class_is_the_default_and_names_may_be_anything():
    X, y = cases.numbers()
    for labels in (y, y.astype(bool), np.where(y == 1, "b", "a"), y * 10):
        explainer = sev.Explainer(LogisticRegression().fit(X, labels), X, labels)
        assert explainer.target == np.unique(labels)[1]
    assert explainer.classes_ == (0, 10)


def test_without_labels_the_models_predictions_say_what_is_typical():
    X, y = cases.numbers()
    model = LogisticRegression().fit(X, y)
    negative = X[model.predict_proba(X)[:, 1] < 0.5]
    assert np.allclose(sev.Explainer(model, X, reference="mean").reference.to_numpy(), negative.mean(axis=0))


def test_one_hot_arrays_move_as_one_feature():
    frame, y = cases.table()
    dummies = pd.get_dummies(frame, columns=cases.TEXT)
    model = LogisticRegression(max_iter=2000).fit(dummies, y)
    explainer = sev.Explainer(model, dummies, y)
    assert explainer.feature_names == ("age", "income", "flag", "colour", "town", "job")
    many = explainer.explain(dummies)
    for one in many[:80]:
        if one.size:
            result = one.result
            for name in ("colour", "town", "job"):
                block = [c for c in dummies if c.startswith(name)]
                assert result[block].sum() == 1
    raw = sev.Explainer(make_pipeline(cases.encoder(), LogisticRegression(max_iter=2000)).fit(frame, y), frame, y)
    assert raw.feature_names == tuple(frame.columns)


def test_repr_says_what_matters():
    X, y = cases.numbers()
    text = repr(sev.Explainer(LogisticRegression().fit(X, y), X, y))
    assert "linear" in text
    assert "6 features" in text
    assert "LogisticRegression" in text


def test_progress_bar_goes_to_stderr_and_counts_rows(capfd):
    X, y = cases.numbers()
    explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    quiet = explainer.explain(X)
    capfd.readouterr()
    loud = explainer.explain(X, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "240/240" in err
    pd.testing.assert_frame_equal(quiet.to_frame(), loud.to_frame())


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_workers_give_the_same_answers(n_jobs):
    X, y = cases.numbers()
    explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    rows = np.tile(X, (10, 1))
    pd.testing.assert_frame_equal(explainer.explain(rows).to_frame(), explainer.explain(rows, n_jobs=n_jobs).to_frame())
