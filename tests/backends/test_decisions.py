"""Thresholds, and whether the explained decision is the model's own."""

import numpy as np
import pytest
from backends.score_cases import data, explainer_of
from sklearn import ensemble, linear_model, svm
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

import sev
from sev.exceptions import DecisionWarning, InputError


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
    explainer_of(lambda rows: 100 * rows[:, 0], X, threshold=threshold)


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
