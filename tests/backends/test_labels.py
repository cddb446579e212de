"""Models that return labels, and labels that name what is explained."""

import numpy as np
import pytest
from backends.score_cases import compare_with_definition, data, explainer_of
from sklearn import ensemble, linear_model
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import sev
from sev.exceptions import InputError, ModelError, TargetError


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
    with pytest.raises(ModelError, match="not a classifier"):
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
