"""Weights of rows and classes, floors on any metric, and category columns that boosted trees take as they are."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, make_scorer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from training.mortgages import mortgages
from training.tables import numbers

pytest.importorskip("torch", reason="training needs torch")

import sev
from sev.exceptions import InputError, TrainingError
from sev.training._building import TaskBuilder
from sev.training._categories import CategoryCodes
from sev.training._ensembles import ensemble_of
from sev.training._settings import SCHEDULES, settings_for
from sev.training._tuning import Tuner
from sev.training._weights import fit_with_weights

QUICK = {"max_iter": 20, "random_state": 0, "max_rate_change": None}


@pytest.fixture(autouse=True)
def _short_schedules(monkeypatch):
    """A quarter of the steps: these tests are about what is passed on, not about where it ends."""
    short = {family: replace(one, epochs=max(10, one.epochs // 4)) for family, one in SCHEDULES["recipe"].items()}
    monkeypatch.setitem(SCHEDULES, "recipe", short)


# -- weights -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [sev.SEVLogisticRegression, sev.SEVMLPClassifier])
def test_rows_without_weight_do_not_count(estimator):
    rows, labels = numbers(200)
    weights = (np.arange(200) < 150).astype(float)
    weighted = estimator(**QUICK).fit(rows, labels, sample_weight=weights)
    fewer = estimator(**QUICK).fit(rows[:150], labels[:150], sample_weight=np.ones(150))
    np.testing.assert_allclose(weighted.predict_proba(rows), fewer.predict_proba(rows), atol=1e-5)
    plain = estimator(**QUICK).fit(rows, labels)
    assert not np.allclose(weighted.predict_proba(rows), plain.predict_proba(rows), atol=1e-3)


@pytest.mark.parametrize(
    "estimator", [sev.SEVLogisticRegression, sev.SEVMLPClassifier, sev.SEVGradientBoostingClassifier]
)
def test_balanced_classes_find_more_of_the_rare_one(estimator):
    rows, refused = mortgages(600)
    names = np.where(refused == 1, "refuse", "grant")
    plain, balanced, given = (
        estimator(class_weight=weight, **QUICK).fit(rows, names)
        for weight in (None, "balanced", {"grant": 1.0, "refuse": 5.0})
    )
    shares = [(one.predict(rows) == "refuse").mean() for one in (plain, balanced, given)]
    assert min(shares[1:]) > 1.05 * shares[0]


def test_every_term_of_the_tuning_is_weighted():
    rows, labels = numbers(200)
    rows = (rows > 0.0).astype(float)  # indicators, which are not scaled by their variance, of weights or not
    weights = np.random.default_rng(0).integers(1, 4, 200)
    model = LogisticRegression().fit(rows, labels)
    repeated = np.repeat(np.arange(200), weights)
    tuners = [
        Tuner.of(model, rows, labels, TaskBuilder(reference=[0.0] * 4), weights=weights.astype(float)),
        Tuner.of(model, rows[repeated], labels[repeated], TaskBuilder(reference=[0.0] * 4)),
    ]
    given = {"objective": "both", "schedule": "recipe", "max_iter": 30, "max_rate_change": 0.1}
    one, other = (tuner.tune(settings_for("linear", given, 0)).predict_proba(rows) for tuner in tuners)
    np.testing.assert_allclose(one, other, atol=1e-6)
    plain = Tuner.of(model, rows, labels, TaskBuilder(reference=[0.0] * 4)).tune(settings_for("linear", given, 0))
    assert np.abs(plain.predict_proba(rows) - other).max() > 1e-3


def test_optimize_fits_and_measures_with_weights():
    rows, labels = numbers(300)
    weights = np.where(np.arange(300) % 3 == 0, 0.0, 1.0)
    seen = []

    class Watched(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append(sample_weight)
            return super().fit(X, y, sample_weight=sample_weight)

    model = make_pipeline(StandardScaler(), Watched())
    fit_with_weights(model, rows, labels, weights)
    limits = {"max_accuracy_loss": 1.0, "max_rate_change": 1.0}
    _, record = sev.optimize(
        model, rows, labels, penalties=[1.0], sample_weight=weights, class_weight={0: 1.0, 1: 2.0}, **limits
    )
    assert len(seen) == 6
    assert set(np.unique(np.concatenate(seen[1:]))) == {0.0, 1.0, 2.0}
    assert record.path.loc[0.0, "accuracy"] > 0.5


def test_figures_of_weighted_rows_are_those_of_the_rows_that_count():
    rows, labels = numbers(300)
    model = LogisticRegression().fit(rows, labels)
    weights = (np.arange(300) < 200).astype(float)
    weighted = sev.compare({"it": model}, rows, labels, X_train=rows, y_train=labels, sample_weight=weights)
    fewer = sev.compare({"it": model}, rows[:200], labels[:200], X_train=rows, y_train=labels)
    pd.testing.assert_frame_equal(weighted, fewer)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"sample_weight has shape \(2,\) but X has 150 rows"),
        ([-1.0] + [1.0] * 149, "sample_weight of row 0 is -1"),
        ([1.0] * 149 + [np.nan], "sample_weight of row 149 is nan"),
        (np.zeros(150), "zero for every row"),
        (["much"] * 150, "one number for each row"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(weights, message):
    rows, labels = numbers(150)
    with pytest.raises(InputError, match=message):
        sev.SEVLogisticRegression(**QUICK).fit(rows, labels, sample_weight=weights)
    with pytest.raises(InputError, match=message):
        sev.optimize(LogisticRegression().fit(rows, labels), rows, labels, sample_weight=weights)


def test_weights_of_classes_that_cannot_be_used_are_refused():
    rows, labels = numbers(150)
    with pytest.raises(InputError, match="class_weight='even' is not known"):
        sev.SEVLogisticRegression(class_weight="even", **QUICK).fit(rows, labels)
    with pytest.raises(InputError, match=r"has the labels \[7\], but the labels in y are \[0, 1\]"):
        sev.SEVLogisticRegression(class_weight={7: 2.0}, **QUICK).fit(rows, labels)
    with pytest.raises(InputError, match="KNeighborsClassifier does not accept sample_weight"):
        fit_with_weights(KNeighborsClassifier(), rows, labels, np.ones(150))


# -- floors ------------------------------------------------------------------------------------------------------------


def share_of_hits(model, X, y):
    """Recall, as a user might write it."""
    return float((model.predict(X) == 1)[np.asarray(y) == 1].mean())


def tried(**options):
    rows, labels = numbers(300)
    model = LogisticRegression().fit(rows, labels)
    limits = {"max_rate_change": 1.0, "penalties": [0.1, 30.0], "max_rows": 50, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sev.exceptions.TrainingWarning)
        return sev.optimize(model, rows, labels, **limits)[1]


def test_a_floor_on_any_metric():
    strict = tried(metric="roc_auc", max_metric_loss=0.0)
    assert strict.path["roc_auc"].tolist() == pytest.approx(strict.path["auc"].tolist())
    assert strict.path.loc[30.0, "why"].startswith("roc_auc 0.")
    loose = tried(metric="roc_auc", max_metric_loss=1.0)
    assert loose.path.loc[30.0, "acceptable"]  # however much accuracy is lost
    assert not tried(metric="roc_auc", max_metric_loss=1.0, max_accuracy_loss=0.0).path.loc[30.0, "acceptable"]
    assert "roc_auc 0." in loose.reason


def test_floors_on_several_metrics_at_once():
    several = tried(metric={"balanced_accuracy": 1.0, share_of_hits: 0.0, make_scorer(f1_score): 1.0})
    assert {"balanced_accuracy", "share_of_hits", "_Scorer"} <= set(several.path)
    why = several.path.loc[30.0, "why"]
    assert why == "" or why.startswith("share_of_hits")
    listed = tried(metric=["balanced_accuracy", "neg_log_loss"], max_metric_loss=1e-9)
    assert listed.path.loc[30.0, "why"].split()[0] in ("balanced_accuracy", "neg_log_loss")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "rocauc"}, "metric='rocauc' is not a scorer of scikit-learn"),
        ({"metric": 3}, "metric=3 must be the name"),
        ({"metric": balanced_accuracy_score}, "balanced_accuracy_score cannot be computed"),
        ({"metric": {"f1": -1.0}}, r"metric\['f1'\]=-1.0 must be a number of at least 0"),
        ({"metric": ["f1", "f1"]}, r"names \['f1'\] more than once"),
        ({"metric": share_of_hits, "sample_weight": np.ones(300)}, "share_of_hits has no parameter sample_weight"),
    ],
)
def test_metrics_that_cannot_be_used_are_refused_before_training(options, message):
    with pytest.raises(InputError, match=message):
        tried(**options)


# -- category columns --------------------------------------------------------------------------------------------------


def categories(n_rows=240, missing=True):
    rng = np.random.default_rng(0)
    regions = ["n", "s", "e", None] if missing else ["n", "s", "e"]
    frame = pd.DataFrame(
        {
            "home": pd.Categorical(rng.choice(["own", "rent", "free"], n_rows)),
            "age": rng.integers(18, 80, n_rows).astype(float),
            "region": pd.Categorical(rng.choice(regions, n_rows)),
            "income": rng.normal(size=n_rows),
        }
    )
    score = (frame["age"] - 50) / 15 + (frame["home"] == "rent") - frame["income"] + rng.normal(size=n_rows)
    return frame, (score > 0).to_numpy().astype(int)


def _xgboost():
    return pytest.importorskip("xgboost").XGBClassifier(
        n_estimators=8, max_depth=3, enable_categorical=True, n_jobs=1, random_state=0
    )


def _lightgbm():
    return pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=8, n_jobs=1, verbose=-1, random_state=0)


def _catboost():
    return pytest.importorskip("catboost").CatBoostClassifier(
        iterations=8,
        depth=3,
        verbose=0,
        thread_count=1,
        allow_writing_files=False,
        random_seed=0,
        cat_features=["home", "region"],
        one_hot_max_size=10,
    )


BOOSTERS = {
    "hist": lambda: HistGradientBoostingClassifier(max_iter=8, random_state=0),
    "xgboost": _xgboost,
    "lightgbm": _lightgbm,
    "catboost": _catboost,
}


@pytest.mark.parametrize("library", BOOSTERS)
def test_boosted_trees_on_category_columns_are_optimized(library):
    rows, labels = categories(missing=library != "catboost")
    model = BOOSTERS[library]().fit(rows, labels)
    before = model.predict_proba(rows)
    better, record = sev.optimize(
        model, rows, labels, penalties=[1.0], max_accuracy_loss=0.3, max_rate_change=0.5, max_rows=30
    )
    assert type(better) is type(model)
    assert record.chosen == 1.0
    assert sev.Explainer(better, rows, labels, reference="mean").backend == "trees"
    np.testing.assert_array_equal(model.predict_proba(rows), before)
    assert np.abs(better.predict_proba(rows) - before).max() > 0.01


@pytest.mark.parametrize("library", BOOSTERS)
def test_outputs_on_category_columns_add_up_and_are_reweighted(library):
    rows, labels = categories(missing=library != "catboost")
    model = BOOSTERS[library]().fit(rows, labels)
    ensemble = ensemble_of(model)
    outputs = ensemble.outputs(rows)
    margins = ensemble.offset + outputs.sum(axis=1)
    np.testing.assert_allclose(expit(margins), model.predict_proba(rows)[:, 1], atol=2e-6)
    weights = np.linspace(0.5, 1.5, ensemble.n_trees)
    copy = ensemble.reweighted(weights, 0.3)
    expected = expit(ensemble.offset + 0.3 + outputs @ weights)
    np.testing.assert_allclose(copy.predict_proba(rows)[:, 1], expected, atol=2e-6)


def test_codes_of_categories_and_back():
    rows, _ = categories()
    codes = CategoryCodes.of(rows)
    pd.testing.assert_frame_equal(codes.decode(codes.encode(rows)), rows)
    assert np.isnan(codes.encode(rows)[rows["region"].isna().to_numpy(), 2]).all()
    assert CategoryCodes.of(rows[["age", "income"]]) is None
    assert CategoryCodes.of(rows[["age", "income"]].to_numpy()) is None


def test_an_ensemble_without_trees_is_refused():
    rows, labels = numbers(150)
    model = HistGradientBoostingClassifier(max_iter=2).fit(rows, labels)
    model._predictors = []
    with pytest.raises(TrainingError, match="has no trees"):
        Tuner.of(model, rows, labels, TaskBuilder())._trainer
