"""What bad input gets: an error before any work starts, naming the row, the column and the remedy."""

import cases
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import sev
from sev.exceptions import (
    DecisionWarning,
    InputError,
    InterruptedExplanation,
    ModelError,
    SevError,
    TargetError,
    UnfittedModelError,
    UnknownFeatureError,
)


@pytest.fixture(scope="module")
def fitted():
    X, y = cases.table()
    return make_pipeline(cases.encoder(), LogisticRegression()).fit(X, y), X, y


@pytest.fixture(scope="module")
def explainer(fitted):
    return sev.Explainer(*fitted)


def test_missing_columns_are_named(explainer, fitted):
    with pytest.raises(InputError, match=r"X lacks 2 columns of the background: \['age', 'job'\]"):
        explainer.explain(fitted[1].drop(columns=["age", "job"]))


def test_wrong_number_of_columns():
    X, y = cases.numbers()
    explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(InputError, match="5 columns, the background has 6"):
        explainer.explain(X[:, :5])


def test_text_in_a_column_of_numbers_names_row_and_column(explainer, fitted):
    frame = fitted[1].iloc[:5].astype({"age": object})
    frame.loc[3, "age"] = "old"
    with pytest.raises(InputError, match=r"column 'age'.*row 3 has 'old'"):
        explainer.explain(frame)


def test_infinity_names_row_and_column(explainer, fitted):
    frame = fitted[1].iloc[:5].copy()
    frame.loc[2, "income"] = np.inf
    with pytest.raises(InputError, match=r"column 'income' is infinite in row 2"):
        explainer.explain(frame)
    array, y = cases.numbers()
    ours = sev.Explainer(LogisticRegression().fit(array, y), array, y)
    with pytest.raises(InputError, match="'x1' is infinite in row 1"):
        ours.explain(np.where(np.arange(12).reshape(2, 6) == 7, -np.inf, 0.0))


def test_nan_that_the_model_refuses_is_an_error_of_that_row(explainer, fitted):
    frame = fitted[1].iloc[:6].copy()
    frame.loc[4, "income"] = np.nan
    many = explainer.explain(frame)
    assert many.statuses[4] == "error"
    assert "NaN" in many[4].reason
    assert (many.statuses[[0, 1, 2, 3, 5]] != "error").all()


def test_unknown_features(fitted, explainer):
    with pytest.raises(UnknownFeatureError, match=r"restricted names 'Age'.*did you mean 'age'"):
        sev.Explainer(*fitted, restricted=["Age"])
    with pytest.raises(UnknownFeatureError, match="restricted"):
        explainer.explain(fitted[1], restricted=["nothing"])
    with pytest.raises(UnknownFeatureError, match="groups"):
        sev.Explainer(*fitted, groups={"address": ["zip"]})


def test_unknown_target(fitted):
    with pytest.raises(TargetError, match=r"target='yes'.*classes are \[0, 1\]"):
        sev.Explainer(*fitted, target="yes")


def test_empty_background(fitted):
    model, X, y = fitted
    with pytest.raises(InputError, match="no rows"):
        sev.Explainer(model, X.iloc[:0], y[:0])


def test_no_row_of_the_other_class(fitted):
    model, X, y = fitted
    with pytest.raises(InputError, match="rows of the other class"):
        sev.Explainer(model, X[y == 1], y[y == 1])
    positive = X[model.predict(X) == 1]
    with pytest.raises(InputError, match="is predicted as"):
        sev.Explainer(model, positive)


def test_labels_that_do_not_fit(fitted):
    model, X, y = fitted
    with pytest.raises(InputError, match="one label per row"):
        sev.Explainer(model, X, y[:-1])
    with pytest.raises(InputError, match=r"not classes of the model: \['bad', 'good'\]|\['good', 'bad'\]"):
        sev.Explainer(model, X, np.where(y == 1, "bad", "good"))


def test_a_model_that_is_not_fitted(fitted):
    _, X, y = fitted
    with pytest.raises(UnfittedModelError, match=r"call model.fit"):
        sev.Explainer(make_pipeline(cases.encoder(), LogisticRegression()), X, y)
    with pytest.raises(ModelError, match="class LogisticRegression"):
        sev.Explainer(LogisticRegression, X, y)


def test_a_model_without_scores(fitted):
    class Silent:
        pass

    with pytest.raises(ModelError, match="no scores"):
        sev.Explainer(Silent(), fitted[1])


def test_a_callable_of_log_odds_needs_a_threshold():
    X, _ = cases.numbers()
    with pytest.raises(InputError, match=r"threshold= \(0 for log-odds\)"):
        sev.Explainer(lambda rows: rows.sum(axis=1), X)
    assert sev.Explainer(lambda rows: rows.sum(axis=1), X, threshold=0.0).threshold == 0.0


def test_a_callable_that_gives_the_wrong_shape():
    X, _ = cases.numbers()
    with pytest.raises(ModelError, match="one score per row"):
        sev.Explainer(lambda rows: np.zeros(3), X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "both"}, 'kind=\'both\'.*"minus" or "plus"'),
        ({"max_size": 0}, "max_size"),
        ({"max_sets": 1.5}, "max_sets"),
        ({"time_limit": -1}, "time_limit"),
    ],
)
def test_options_that_make_no_sense(explainer, fitted, options, message):
    with pytest.raises(InputError, match=message):
        explainer.explain(fitted[1], **options)


def test_a_constant_feature_is_fine():
    X, y = cases.numbers()
    X = np.column_stack([X, np.full(len(X), 7.0)])
    many = sev.Explainer(LogisticRegression().fit(X, y), X, y).explain(X)
    assert "x6" not in {name for names in many.to_frame()["features"] for name in names}


def test_no_rows_to_explain(explainer, fitted):
    many = explainer.explain(fitted[1].iloc[:0])
    assert len(many) == 0
    assert many.to_frame().empty
    assert np.isnan(many.mean_size())


def test_every_error_is_also_the_builtin_that_people_catch():
    assert issubclass(InputError, ValueError)
    assert issubclass(ModelError, TypeError)
    assert issubclass(InputError, SevError)
    assert issubclass(TargetError, InputError)


def test_ctrl_c_keeps_what_is_done():
    X, y = cases.numbers()
    calls = []

    def score(rows):
        calls.append(len(rows))
        if len(calls) > 40:
            raise KeyboardInterrupt
        return (rows[:, 0] > 0).astype(float)

    explainer = sev.Explainer(score, X, y, reference=np.full(6, -1.0))
    rows = np.tile(X, (20, 1)) + np.arange(20).repeat(len(X))[:, None] * 0.001
    with pytest.raises(InterruptedExplanation, match="of 4800 rows were explained") as stop:
        explainer.explain(rows)
    kept = stop.value.explanations
    done = kept.lower_bounds + (kept.statuses == "not_target") > 0
    assert len(kept) == 4800
    assert 0 < done.sum() < 4800
    assert (kept.statuses[~done] == "undecided").all()


def test_a_threshold_beyond_all_scores_is_warned_about():
    X = np.array([[0.0], [0.2], [0.4], [0.6]])
    with pytest.warns(DecisionWarning, match=r"No background row is decided 1: the highest score of 4 rows is 0\.6"):
        sev.Explainer(lambda rows: np.asarray(rows)[:, 0], X, [0, 0, 1, 1], threshold=0.9)
    with pytest.warns(DecisionWarning, match=r"Every background row is decided 1: the lowest score of 4 rows is 0, "):
        sev.Explainer(
            lambda rows: np.asarray(rows)[:, 0], X, [0, 0, 1, 1], reference="mean", threshold=0.0,
            allow_positive_reference=True,
        )  # fmt: skip
    sev.Explainer(lambda rows: np.asarray(rows)[:, 0], X, [0, 0, 1, 1], threshold=0.5)  # no warning


def test_the_rows_behind_the_first_ones_are_looked_at_before_a_threshold_is_warned_about():
    X = np.r_[np.zeros(1500), 1.0][:, None]
    sev.Explainer(lambda rows: np.asarray(rows)[:, 0], X, X[:, 0].astype(int), threshold=0.5)


@pytest.mark.parametrize(
    "options", [{"restricted": ["x0", "x1"]}, {"restricted": ["x0"], "actions": sev.Actions(frozen=["x1"])}]
)
def test_an_explainer_in_which_nothing_may_change_is_warned_about(options):
    X = np.array([[0.0, 1.0], [0.2, 0.0], [0.4, 1.0], [0.6, 0.0]])
    with pytest.warns(DecisionWarning, match="All 2 features are restricted or frozen: nothing may change"):
        sev.Explainer(lambda rows: np.asarray(rows)[:, 0], X, [0, 0, 1, 1], **options)
