"""Trees that are added for the SEV term: what they do, where they must not split, and whom they are not for."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from training.tables import numbers, raw

pytest.importorskip("torch", reason="training needs torch")

import sev
from sev.exceptions import InputError, ModelError
from sev.training._ensembles import ensemble_of
from sev.training._growing import _Bins
from sev.training._settings import settings_for
from sev.training._task import TrainingTask
from sev.training._trees import TreeTables

N_OWN = 20


def model(grow=30, **options):
    base = GradientBoostingClassifier(n_estimators=N_OWN, random_state=0)
    return sev.SEVGradientBoostingClassifier(
        **{"base_estimator": base, "grow": grow, "max_iter": 60, "random_state": 0, **options}
    )


def new_trees(fitted):
    return fitted.final_estimator_.estimators_[N_OWN:, 0]


@pytest.mark.parametrize("objective", ["plus", "minus", "both"])
def test_growing_alone_shortens_explanations(objective):
    rows, labels = numbers(600, 5)
    # one step of re-weighting next to nothing: what is seen is the growing
    options = {"objective": objective, "sev_penalty": 1.0, "max_iter": 1, "learning_rate": 1e-9}
    plain, grown = (model(grow, **options).fit(rows, labels) for grow in (0, 60))
    assert len(new_trees(plain)) == 0
    assert len(new_trees(grown)) == 60
    kinds = ["plus", "minus"] if objective == "both" else [objective]
    sizes = [
        [sev.Explainer(one, rows, labels).explain(rows, kind=kind).mean_size() for kind in kinds]
        for one in (plain, grown)
    ]
    assert np.mean(sizes[1]) < np.mean(sizes[0]) - 0.1
    base = grown.base_estimator_.predict(rows)
    assert (grown.predict(rows) == base).mean() > 0.9
    assert abs(grown.predict(rows).mean() - base.mean()) < 0.1 * base.mean()


def test_no_new_tree_splits_next_to_the_reference():
    rows, labels = numbers(600, 5)
    fitted = model().fit(rows, labels)
    reference = np.array(list(fitted.reference_.values()))
    splits = [
        (tree.tree_.feature[node], tree.tree_.threshold[node])
        for tree in new_trees(fitted)
        for node in np.flatnonzero(tree.tree_.children_left >= 0)
    ]
    assert len(splits) > 30
    assert {feature for feature, _ in splits} == set(range(5))
    for column, edge in splits:
        low, high = sorted([edge, reference[column]])
        assert ((rows[:, column] >= low) & (rows[:, column] <= high)).mean() >= 0.1


@pytest.mark.parametrize(
    ("reference", "edges"),
    [
        (0.0, [0.5, 1.5, 2.5, 3.5]),  # half of the rows are there
        (0.4, [2.5, 3.5]),  # between 0 and 1: one and two go with it
        (2.9, [0.5, 3.5]),  # three does, and below it one and two, which are few
        (3.0, [0.5, 1.5, 2.5, 3.5]),
        (9.0, [0.5, 1.5, 2.5, 3.5]),
    ],
)
def test_rows_that_stay_with_the_reference(reference, edges):
    column = np.repeat([0.0, 1.0, 2.0, 3.0, 4.0], [50, 6, 6, 28, 10])[:, None]
    bins = _Bins(column, np.array([reference]))
    np.testing.assert_array_equal(bins._edges[0], edges)
    expected = np.searchsorted(edges, column[:, 0])
    np.testing.assert_array_equal(bins.transform(column)[:, 0], expected)


def test_new_trees_come_after_the_old_ones_and_count_as_they_are():
    rows, labels = numbers()
    base = GradientBoostingClassifier(n_estimators=N_OWN, learning_rate=0.3, random_state=0).fit(rows, labels)
    more = list(GradientBoostingClassifier(n_estimators=3, random_state=1).fit(rows, labels).estimators_[:, 0])
    ensemble = ensemble_of(base)
    longer = ensemble.with_trees(more)
    added = sum(tree.predict(rows) for tree in more)
    np.testing.assert_allclose(longer.decision_function(rows), base.decision_function(rows) + added, atol=1e-9)
    assert ensemble_of(longer).n_trees == N_OWN + 3
    assert len(base.estimators_) == N_OWN


def test_a_grown_model_is_explained_exactly_copied_and_saved(tmp_path):
    frame, labels = raw()
    frame["income"] = frame["income"].fillna(20.0)
    one, other = (model(restricted=["age"]).fit(frame, labels) for _ in range(2))
    expected = one.predict_proba(frame)
    np.testing.assert_array_equal(other.predict_proba(frame), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).predict_proba(frame), expected)
    assert clone(one).grow == 30
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a black box would be announced by a warning
        explainer = sev.Explainer(one, frame, labels, reference="mean", restricted=["age"])
    assert explainer.backend == "trees"
    explainer.explain(frame.iloc[:60]).verify()
    pytest.importorskip("skops", reason="safe files need skops")
    explainer.save(tmp_path / "model.sev")
    np.testing.assert_array_equal(sev.load(tmp_path / "model.sev").model.predict_proba(frame), expected)


def test_optimize_grows():
    rows, labels = numbers(200, 3)
    base = GradientBoostingClassifier(n_estimators=N_OWN, random_state=0).fit(rows, labels)
    limits = {"max_accuracy_loss": 0.3, "max_rate_change": 0.5}
    better, record = sev.optimize(base, rows, labels, grow=10, penalties=[1.0], max_rows=20, **limits)
    assert record.chosen == 1.0
    assert len(better.estimators_) == N_OWN + 10


def test_what_does_not_grow():
    rows, labels = numbers()
    with pytest.raises(ModelError, match="not to HistGradientBoostingClassifier"):
        model(base_estimator=HistGradientBoostingClassifier(max_iter=5)).fit(rows, labels)
    with pytest.raises(InputError, match='boosted trees with schedule="recipe" only'):
        model(schedule="paper").fit(rows, labels)
    with pytest.raises(InputError, match="boosted trees"):
        sev.optimize(LogisticRegression().fit(rows, labels), rows, labels, grow=5)
    for wrong in (-1, 2.5):
        with pytest.raises(InputError, match="grow"):
            model(wrong).fit(rows, labels)


def test_a_grown_ensemble_is_held_to_its_base():
    rows, labels = numbers()
    base = GradientBoostingClassifier(n_estimators=N_OWN, random_state=0).fit(rows, labels)
    ensemble = ensemble_of(base)
    more = list(GradientBoostingClassifier(n_estimators=3, random_state=1).fit(rows, 1 - labels).estimators_[:, 0])
    task = TrainingTask(
        rows, labels.astype(float), np.arange(4), rows[labels == 0].mean(axis=0), np.ones(4, dtype=bool)
    )
    settings = settings_for("trees", {"objective": "minus", "schedule": "recipe"}, seed=0)
    tables = TreeTables(ensemble_of(ensemble.with_trees(more)), N_OWN, task, settings.objective, settings.seed)
    np.testing.assert_allclose(expit(tables.logits), base.predict_proba(rows)[:, 1], atol=1e-6)
    assert tables.rate == base.predict(rows).mean()
