"""Which score is explained: the right class, the right length, the model's own decision, or a clear error."""

import warnings

import numpy as np
import pandas as pd
import pytest
from oracle import assert_equals_oracle
from sklearn import ensemble, linear_model, svm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sev
from sev.backends._outputs import as_scores
from sev.backends._responses import model_scores
from sev.exceptions import DecisionWarning, FallbackWarning, InputError, ModelError, TargetError, TargetWarning


def data(seed=0, n_rows=200, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).round(2)
    strength = X[:, 0] + 0.7 * X[:, 1] - X[:, 2] + rng.normal(scale=0.7, size=n_rows)
    return X, np.digitize(strength, np.quantile(strength, np.linspace(0, 1, n_classes + 1)[1:-1]))


def explainer_of(model, X, y=None, **options):
    """With whatever reference the model takes; a black box is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        options = {"reference": "median", "allow_positive_reference": True, **options}
        return sev.Explainer(model, X, y, **options)


def compare_with_definition(explainer, X, score, n_rows=10):
    features = {name: (name,) for name in explainer.feature_names}
    many = explainer.explain(X)
    rows = np.flatnonzero(many.statuses != "not_target")[:n_rows]
    assert rows.size
    for row in rows:
        assert_equals_oracle(many[int(row)], lambda frame: score(frame.to_numpy(float)), features)


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
        ([[1.0], [1.0, 2.0]], "no array"),
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


# -- labels ------------------------------------------------------------------------------------------------------------


def voting():
    members = [("a", linear_model.LogisticRegression()), ("b", GaussianNB()), ("c", KNeighborsClassifier(5))]
    return ensemble.VotingClassifier(members, voting="hard")


@pytest.mark.parametrize("target", ["no", "yes", "predicted"])
def test_a_model_that_returns_labels_only_is_explained_by_them(target):
    X, y = data()
    labels = np.where(y == 1, "yes", "no")
    model = voting().fit(X, labels)
    explainer = explainer_of(model, X, labels, target=target)
    many = explainer.explain(X[:80])
    explained = many.statuses != "not_target"
    assert (explained == (model.predict(X[:80]) == target)).all() if target != "predicted" else explained.all()
    assert explainer.backend_reason == "only its labels can be explained, without scores"
    if target == "yes":
        compare_with_definition(explainer, X, lambda rows: (model.predict(rows) == "yes").astype(float))
    many.verify()


def test_a_callable_that_returns_booleans():
    X, y = data()
    model = linear_model.LogisticRegression().fit(X, y)

    def approve(rows):
        return model.predict(rows) == 1

    for labels in (y, y == 1, None):
        explainer = explainer_of(approve, X, labels)
        assert explainer.target is (1 if labels is y else True)
        compare_with_definition(explainer, X, lambda rows: approve(rows).astype(float))


def test_a_callable_that_returns_text():
    X, y = data()
    model = linear_model.LogisticRegression().fit(X, np.where(y == 1, "yes", "no"))
    with pytest.raises(TargetError, match="returns labels \\('no', 'yes'\\): pass target="):
        explainer_of(lambda rows: model.predict(rows), X)
    for dtype in (object, str):
        explainer = explainer_of(lambda rows, dtype=dtype: model.predict(rows).astype(dtype), X, target="no")
        assert explainer.target == "no"
        compare_with_definition(explainer, X, lambda rows: (model.predict(rows) == "no").astype(float))
        assert explainer_of(lambda rows: model.predict(rows), X, target="predicted").classes_ == ("no", "yes")


def test_labels_that_a_callable_returns_and_that_rows_have_must_meet():
    X, y = data()
    with pytest.raises(InputError, match=r"returns labels .*'yes'.* y_train does not hold"):
        explainer_of(lambda rows: np.where(rows[:, 0] > 0, "yes", "no"), X, y, target="yes")


@pytest.mark.parametrize("target", [-1, 1])
def test_outlier_detectors_have_their_own_labels(target):
    X, _ = data()
    model = ensemble.IsolationForest(n_estimators=10, random_state=0).fit(X)
    explainer = explainer_of(model, X, target=target)
    assert explainer.classes_ == (-1, 1)
    assert ((explainer.explain(X, max_size=1).statuses != "not_target") == (model.predict(X) == target)).all()


def test_a_callable_object_with_a_predict_of_another_kind():
    """Keras models are called, and their `predict` returns scores."""

    class Network:
        def __call__(self, rows):
            return 1 / (1 + np.exp(-rows[:, :1]))

        predict = __call__

    X, _ = data()
    explainer = explainer_of(Network(), X)
    compare_with_definition(explainer, X, lambda rows: 1 / (1 + np.exp(-rows[:, 0])))


def test_a_search_without_a_model_says_so():
    X, y = data()
    search = GridSearchCV(linear_model.LogisticRegression(), {}, cv=2, refit=False).fit(X, y)
    with pytest.raises(ModelError, match="refit=True"):
        sev.Explainer(search, X, y)
    with pytest.raises(ModelError, match="no classifier"):
        sev.Explainer(linear_model.LinearRegression().fit(X, y), X, y)


def test_text_labels_name_what_a_callable_scores():
    X, y = data()
    labels = np.where(y == 1, "bad", "good")
    model = linear_model.LogisticRegression().fit(X, y)

    def risk(rows):
        return model.predict_proba(rows)[:, 1]

    with pytest.raises(TargetError, match=r"labels ('bad', 'good'|'good', 'bad')"):
        explainer_of(risk, X, labels)
    explainer = sev.Explainer(risk, X, labels, target="bad", reference="mean")
    assert (explainer.target, explainer.classes_) == ("bad", ("good", "bad"))
    assert np.allclose(explainer.reference.iloc[0], X[labels == "good"].mean(axis=0))
    assert explainer_of(risk, X, target="bad").classes_ == ("not bad", "bad")
    assert explainer_of(risk, X, y == 1).target is True


# -- thresholds and decisions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", ["high", True, np.nan, np.inf, [0.5]])
def test_a_threshold_is_a_finite_number(threshold):
    X, y = data()
    with pytest.raises(InputError, match="not a finite number"):
        sev.Explainer(linear_model.LogisticRegression().fit(X, y), X, y, threshold=threshold)


@pytest.mark.parametrize("threshold", [-0.1, 1.5, 50])
def test_a_threshold_that_no_probability_meets_is_refused(threshold):
    X, y = data()
    model = linear_model.LogisticRegression().fit(X, y)
    with pytest.raises(InputError, match=r"outside \[0, 1\]"):
        sev.Explainer(model, X, y, threshold=threshold)
    with pytest.raises(InputError, match=r"outside \[0, 1\].*between"):
        sev.Explainer(lambda rows: model.predict_proba(rows)[:, 1], X, y, threshold=threshold)
    explainer_of(svm.LinearSVC().fit(X, y), X, y, threshold=1.5)  # decision values have no such limits
    explainer_of(lambda rows: 3 * rows[:, 0], X, threshold=threshold)


class Strict(linear_model.LogisticRegression):
    """Predicts by a threshold that nobody can look up."""

    def predict(self, X):
        return (self.predict_proba(X)[:, 1] >= 0.8).astype(int)


def test_a_model_that_predicts_otherwise_is_reported_with_the_remedy():
    X, y = data()
    model = Strict().fit(X, y)
    differs = int((model.predict(X) != (model.predict_proba(X)[:, 1] >= 0.5)).sum())
    with pytest.warns(DecisionWarning, match=r"in \d+ of \d+ background rows.*at least 0\.5.*threshold=") as caught:
        explainer = sev.Explainer(model, X, y)
    assert differs > 0
    assert caught[0].filename == __file__
    assert explainer.threshold == 0.5
    explainer = sev.Explainer(model, X, y, threshold=0.8)
    assert ((explainer.explain(X).statuses != "not_target") == (model.predict(X) == 1)).all()


def test_ties_are_no_other_decisions():
    X, y = data()
    X = X.round(0)
    forest = ensemble.RandomForestClassifier(2, random_state=0).fit(X, y)
    tied = forest.predict_proba(X)[:, 1] == 0.5
    assert (forest.predict(X)[tied] == 0).any()
    explainer_of(forest, X, y)  # no warning: the score rules


def test_labels_that_are_no_classes_are_not_compared():
    class Numbered(linear_model.LogisticRegression):
        def predict(self, X):
            return np.arange(len(X))

    X, y = data()
    explainer_of(Numbered().fit(X, y), X, y)


@pytest.mark.parametrize("kind", [bool, str, int])
def test_classes_of_every_type(kind):
    X, y = data()
    labels = y.astype(kind) if kind is not bool else y == 1
    for model in (linear_model.LogisticRegression(), linear_model.RidgeClassifier(), FrozenEstimator(GaussianNB())):
        inner = model.estimator if isinstance(model, FrozenEstimator) else model
        inner.fit(X, labels)
        for target in np.unique(labels).tolist():
            explained = explainer_of(model, X, labels, target=target).explain(X).statuses != "not_target"
            assert (explained == (model.predict(X) == target)).all()


def test_catboost_predicts_text_for_boolean_labels():
    catboost = pytest.importorskip("catboost", reason="catboost is not installed")
    X, y = data()
    model = catboost.CatBoostClassifier(iterations=5, verbose=False, allow_writing_files=False).fit(X, y == 1)
    explainer = explainer_of(model, X)
    predicted = np.array([str(label) == "True" for label in model.predict(X)])
    assert ((explainer.explain(X).statuses != "not_target") == predicted).all()


@pytest.mark.parametrize("labels", [[False, True], [0, 1]])
@pytest.mark.parametrize("classes", [[False, True], [0, 1]])
def test_booleans_label_a_model_that_numbers_its_classes_and_the_other_way_round(labels, classes):
    X, y = data()
    model = linear_model.LogisticRegression().fit(X, np.array(classes)[y])
    explainer = explainer_of(model, X, np.array(labels)[y], target=labels[0], reference="mean")
    assert np.allclose(explainer.reference.iloc[0], X[y == 1].mean(axis=0))


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
    with pytest.warns(FallbackWarning, match=f"within a budget.*{reason}"):
        explainer = sev.Explainer(model.fit(X, y), X, y, target=1, reference="median", allow_positive_reference=True)
    assert reason in explainer.backend_reason
    again = sev.Explainer.from_parts(explainer.parts())  # no second warning for what is known
    assert again.backend_reason == explainer.backend_reason


def test_a_function_is_a_black_box_without_a_warning():
    X, _ = data()
    explainer = sev.Explainer(lambda rows: (rows[:, 0] > 0).astype(float), X, reference="median")
    assert explainer.backend_reason == "a function can be evaluated, but not read"
