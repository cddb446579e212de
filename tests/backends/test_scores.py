"""Which score is explained: the right class, the right length, or a clear error."""

import numpy as np
import pandas as pd
import pytest
from backends.score_cases import compare_with_definition, data, explainer_of
from sklearn import ensemble, linear_model, svm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sev
from sev.backends._outputs import as_scores
from sev.backends._responses import model_scores
from sev.exceptions import FallbackWarning, ModelError, TargetWarning

# -- more than two classes ---------------------------------------------------------------------------------------------


def machines():
    ovo = svm.SVC(decision_function_shape="ovo", random_state=0)
    return {
        "three classes by pairs": (ovo, 3),
        "four classes by pairs": (ovo, 4),
        "three classes": (svm.SVC(), 3),
        "ties broken by confidence": (svm.SVC(break_ties=True), 3),
        "nu": (svm.NuSVC(nu=0.3, decision_function_shape="ovo"), 3),
        "in a pipeline": (make_pipeline(StandardScaler(), ovo), 3),
        "in a search": (GridSearchCV(make_pipeline(StandardScaler(), ovo), {}, cv=2), 4),
    }


@pytest.mark.parametrize("name", machines())
def test_support_vector_machines_are_explained_as_the_class_that_they_predict(name):
    model, n_classes = machines()[name]
    X, y = data(n_classes=n_classes)
    model.fit(X, y)
    wide = 3 * np.random.default_rng(1).normal(size=(400, 4))
    for rows in (X, wide):
        many = explainer_of(model, X, y, target="predicted").explain(rows[:150], max_size=1)
        assert [one.target for one in many] == model.predict(rows[:150]).tolist()
    compare_with_definition(
        explainer_of(model, X, y, target=1), X, lambda rows: np.where(model.predict(rows) == 1, 1.0, -1.0), n_rows=4
    )


def test_pairs_of_equally_many_votes_go_to_the_first_class_as_predicted():
    """Three classes around a circle beat each other in turn; decision values part them in another way."""
    X, y = data(n_classes=3, n_rows=60)
    model = svm.SVC(kernel="linear").fit(X, np.random.default_rng(0).integers(0, 3, 60))
    rows = np.random.default_rng(1).normal(size=(5000, 4))
    tied = model.decision_function(rows).argmax(axis=1) != model.predict(rows)
    assert tied.any()
    with pytest.warns(FallbackWarning):
        explainer = sev.Explainer(model, X, y, target="predicted", reference="median", allow_positive_reference=True)
    many = explainer.explain(rows[tied][:20], max_size=1)
    assert [one.target for one in many] == model.predict(rows[tied][:20]).tolist()


class OtherColumns(ClassifierMixin, BaseEstimator):
    """Returns scores of other classes than it predicts."""

    def __init__(self, n_columns=3):
        self.n_columns = n_columns

    def fit(self, X, y):
        self.inner_ = GaussianNB().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def decision_function(self, X):
        return np.roll(self.inner_.predict_proba(X), 1, axis=1)[:, : self.n_columns]

    def predict(self, X):
        return self.inner_.predict(X)


def test_scores_whose_best_class_is_not_the_predicted_one_give_way_to_the_labels():
    X, y = data(n_classes=3)
    model = OtherColumns().fit(X, y)
    explainer = explainer_of(model, X, y, target="predicted")
    many = explainer.explain(X[:60])
    assert [one.target for one in many] == model.predict(X[:60]).tolist()
    assert "labels" in explainer.backend_reason
    many.verify()


def test_scores_that_are_not_one_for_each_class_are_refused():
    X, y = data(n_classes=4)
    with pytest.raises(ModelError, match="returns 2 scores per row, but the model has 4 classes"):
        sev.Explainer(OtherColumns(2).fit(X, y), X, y)


def test_a_class_is_never_chosen_in_silence_among_more_than_two():
    X, y = data(n_classes=3)
    model = linear_model.LogisticRegression().fit(X, np.array(["high", "low", "mid"])[y])
    with pytest.warns(TargetWarning, match=r"being explained is 'low'.*\['high', 'low', 'mid'\].*predicted"):
        assert explainer_of(model, X).target == "low"
    assert explainer_of(model, X, target="mid").target == "mid"


def test_decision_values_in_two_columns_decide_by_the_larger():
    class TwoColumns(OtherColumns):
        def decision_function(self, X):
            return self.inner_.predict_joint_log_proba(X)

    X, y = data()
    model = TwoColumns().fit(X, y)
    for target in (0, 1):
        explainer = explainer_of(model, X, y, target=target)
        assert ((explainer.explain(X).statuses != "not_target") == (model.predict(X) == target)).all()


# -- one column --------------------------------------------------------------------------------------------------------


class OneColumn(ClassifierMixin, BaseEstimator):
    """Returns the probability of its second class only."""

    def __init__(self, shape="column"):
        self.shape = shape

    def fit(self, X, y):
        self.inner_ = linear_model.LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict_proba(self, X):
        second = self.inner_.predict_proba(X)[:, 1]
        return second[:, None] if self.shape == "column" else second

    def predict(self, X):
        return self.inner_.predict(X)


@pytest.mark.parametrize("shape", ["column", "flat"])
def test_the_first_class_of_a_single_column_has_the_other_probability(shape):
    X, y = data()
    model = OneColumn(shape).fit(X, y)
    explainer = explainer_of(model, X, y, target=0)
    explained = explainer.explain(X).statuses != "not_target"
    assert (explained == (model.predict(X) == 0)).all()
    assert explained.any()
    compare_with_definition(explainer, X, lambda rows: 1 - model.inner_.predict_proba(rows)[:, 1])
    strict = explainer_of(model, X, y, target=0, threshold=0.9)
    assert ((strict.explain(X).statuses != "not_target") == (model.inner_.predict_proba(X)[:, 0] >= 0.9)).all()


def test_the_first_class_of_decision_values_has_the_other_sign():
    X, y = data()
    model = svm.LinearSVC().fit(X, y)
    explainer = explainer_of(model, X, y, target=0)
    assert ((explainer.explain(X).statuses != "not_target") == (model.predict(X) == 0)).all()


# -- shapes and types --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "broken",
    [
        lambda scores: scores[:1],
        lambda scores: scores[:-1],
        lambda scores: scores[:1, None],
        lambda scores: scores.mean(),
    ],
    ids=["one for all", "one short", "one row", "a number"],
)
def test_scores_of_another_length_are_never_spread_over_the_rows(broken):
    X, y = data()
    model = linear_model.LogisticRegression().fit(X, y)
    lengths = []

    def breaks_later(rows):
        lengths.append(len(rows))
        scores = model.predict_proba(rows)[:, 1]
        return scores if len(rows) != 7 else broken(scores)

    explainer = explainer_of(breaks_later, X, y)
    many = explainer.explain(X[:7])
    assert 7 in lengths
    # scored again one by one, where the model returns one score for one row
    assert (many.statuses == explainer.explain(X[:8]).statuses[:7]).all()
    scorer = model_scores(breaks_later, X).for_target(None, None)
    with pytest.raises(ModelError, match=r"for 7 rows|shape \(\)"):
        scorer.scores(X[:7])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, object, int, bool])
def test_numbers_of_every_type_are_scores(dtype):
    X, y = data()

    def model(rows):
        return (rows[:, 0] > 0).astype(dtype)

    explainer = explainer_of(model, X, y)
    assert explainer.explain(X).scores.dtype == np.float64
    compare_with_definition(explainer, X, lambda rows: (rows[:, 0] > 0).astype(float))


@pytest.mark.parametrize(
    "wrap",
    [
        pd.DataFrame,
        lambda outputs: pd.DataFrame(outputs).astype("Float64"),
        lambda outputs: outputs.tolist(),
        np.asmatrix,
        lambda outputs: pd.DataFrame(outputs, index=range(5, 5 + len(outputs))),
    ],
    ids=["frame", "nullable", "list", "matrix", "index"],
)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_tables_of_scores_are_taken_by_position(wrap):
    X, y = data()
    model = linear_model.LogisticRegression().fit(X, y)
    explainer = explainer_of(lambda rows: wrap(model.predict_proba(rows)), X, y)
    assert np.array_equal(explainer.explain(X).scores, model.predict_proba(X)[:, 1])


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (np.array([1j, 2j]), "complex"),
        (np.array(["2020", "2021"], dtype="datetime64[Y]"), "datetime64"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
        ([np.zeros((2, 2)), np.zeros((2, 3))], "one for each of several outputs"),
        ([[1.0], [1.0, 2.0]], "cannot be made an array of numbers"),
        (np.array([object(), object()]), "object"),
    ],
)
def test_what_are_no_scores_is_refused(outputs, message):
    with pytest.raises(ModelError, match=message):
        as_scores(outputs, 2)


def test_tensors_masks_and_nothing():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    assert as_scores(torch.tensor([0.25, 0.5], requires_grad=True) * 2, 2).tolist() == [0.5, 1.0]
    assert np.isnan(as_scores(np.ma.masked_less(np.array([0.1, 0.9]), 0.5), 2)).tolist() == [True, False]
    with pytest.raises(ModelError, match="returns None"):
        as_scores(None, 2)


def test_a_missing_score_is_not_a_number():
    assert np.isnan(as_scores(np.array([0.5, None, pd.NA], dtype=object), 3)).tolist() == [False, True, True]


def test_a_score_that_is_not_finite_is_on_neither_side():
    scorer = model_scores(lambda rows: rows[:, 0], np.zeros((2, 2))).for_target(None, None)
    scores = np.array([np.nan, np.inf, -np.inf, 0.5, 0.4])
    assert scorer.is_positive(scores).tolist() == [False, False, False, True, False]
    assert scorer.is_negative(scores).tolist() == [False, False, False, False, True]


def test_models_of_several_outputs_are_refused():
    X, y = data()
    model = MultiOutputClassifier(linear_model.LogisticRegression()).fit(X, np.column_stack([y, 1 - y]))
    with pytest.raises(ModelError, match="outputs"):
        sev.Explainer(model, X)
    forest = ensemble.RandomForestClassifier(3, random_state=0).fit(X, np.column_stack([y, 1 - y]))
    with pytest.raises(ModelError, match="outputs"):
        sev.Explainer(forest, X)


def test_models_of_several_labels_are_refused():
    from sklearn.multiclass import OneVsRestClassifier

    X, y = data()
    model = OneVsRestClassifier(linear_model.LogisticRegression()).fit(X, np.column_stack([y, X[:, 3] > 0, 1 - y]))
    with pytest.raises(ModelError, match="several labels"):
        sev.Explainer(model, X, target=1)


# -- reasons -----------------------------------------------------------------------------------------------------------


def black_boxes():
    members = [("a", linear_model.LogisticRegression()), ("b", GaussianNB())]
    return {
        "voting": (ensemble.VotingClassifier(members, voting="soft"), 2, "VotingClassifier combines 2 models"),
        "stacking": (ensemble.StackingClassifier(members, cv=2), 2, "StackingClassifier combines 2 models"),
        "neighbours": (KNeighborsClassifier(), 2, "no exact form of KNeighborsClassifier"),
        "classes": (linear_model.LogisticRegression(), 3, "it has 3 classes"),
    }


@pytest.mark.parametrize("name", black_boxes())
def test_a_black_box_always_says_why(name):
    model, n_classes, reason = black_boxes()[name]
    X, y = data(n_classes=n_classes)
    with pytest.warns(FallbackWarning, match=f"only where the budget of predictions was enough.*{reason}"):
        explainer = sev.Explainer(model.fit(X, y), X, y, target=1, reference="median", allow_positive_reference=True)
    assert reason in explainer.backend_reason
    again = sev.Explainer.from_parts(explainer.parts())  # no second warning for what is known
    assert again.backend_reason == explainer.backend_reason


def test_a_function_is_a_black_box_without_a_warning():
    X, _ = data()
    explainer = sev.Explainer(lambda rows: (rows[:, 0] > 0).astype(float), X, reference="median")
    assert explainer.backend_reason == "a function can be evaluated, but not read"
