"""The three estimators: scikit-learn's own checks, raw tables, exact explanations, and trouble said in words."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks
from training.tables import numbers, raw

pytest.importorskip("torch", reason="training needs torch")

import sev
from sev.exceptions import InputError, ModelError, TrainingError, TrainingWarning, UnknownFeatureError

SMALL = {
    "linear": lambda **options: sev.SEVLogisticRegression(**{"random_state": 0, "max_iter": 60, **options}),
    "networks": lambda **options: sev.SEVMLPClassifier(
        **{
            "base_estimator": MLPClassifier((16,), max_iter=200, learning_rate_init=0.01, tol=1e-3, random_state=0),
            "random_state": 0,
            "max_iter": 20,
            **options,
        }
    ),
    "trees": lambda **options: sev.SEVGradientBoostingClassifier(
        **{
            "base_estimator": GradientBoostingClassifier(n_estimators=20, random_state=0),
            "random_state": 0,
            "max_iter": 60,
            **options,
        }
    ),
}
#: As above, quick enough for half a hundred fits.
CHECKED = [
    sev.SEVLogisticRegression(max_iter=5),
    sev.SEVMLPClassifier(
        max_iter=5, base_estimator=MLPClassifier((16,), max_iter=300, learning_rate_init=0.01, tol=1e-3)
    ),
    sev.SEVGradientBoostingClassifier(max_iter=5, base_estimator=GradientBoostingClassifier(n_estimators=5)),
]


#: Checks of scikit-learn that cannot hold here, and why.
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "the reference and the encoding are those of sev.Explainer, in which every row counts once"
    ),
    "check_class_weight_classifiers": "weights under which nobody is predicted positive leave no decision to explain",
}


@pytest.fixture(params=SMALL)
def family(request):
    return request.param


@pytest.mark.filterwarnings("ignore::sev.exceptions.TrainingWarning")  # checks train on labels that mean nothing
@parametrize_with_checks(CHECKED, expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.skipif(not os.environ.get("SEV_FULL_CHECKS"), reason="80 seconds: runs where SEV_FULL_CHECKS is set")
@pytest.mark.filterwarnings("ignore::sev.exceptions.TrainingWarning")
# scikit-learn's own perceptron, the base, does not converge on all rows of the checks
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "estimator", [sev.SEVLogisticRegression(), sev.SEVMLPClassifier(), sev.SEVGradientBoostingClassifier()], ids=repr
)
def test_scikit_learn_checks_with_every_default(estimator):
    check_estimator(estimator, on_skip=None, expected_failed_checks=EXPECTED_FAILURES)


def test_raw_tables_are_explained_exactly(family):
    rows, labels = raw()
    model = SMALL[family]().fit(rows, labels) if family != "trees" else _hist().fit(rows, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a black box would be announced by a warning
        explainer = sev.Explainer(model, rows, labels, reference="mean")
    assert explainer.backend == family
    assert explainer.feature_names == tuple(rows.columns)
    explained = explainer.explain(rows.iloc[:60])
    explained.verify()
    assert (explained.statuses == "optimal").any()


def _hist(**options):
    base = HistGradientBoostingClassifier(max_iter=20, random_state=0)
    return sev.SEVGradientBoostingClassifier(base_estimator=base, random_state=0, max_iter=60, **options)


@pytest.mark.parametrize("objective", ["plus", "minus"])
def test_decisions_need_fewer_reasons(family, objective):
    rows, labels = numbers(600, 5)
    model = SMALL[family](objective=objective, max_iter=None, sev_penalty=3.0).fit(rows, labels)
    plain = make_pipeline(StandardScaler(), clone(model.base_estimator_))
    plain.fit(rows, labels)
    sizes = {}
    for name, one in {"plain": plain, "tuned": model}.items():
        sizes[name] = sev.Explainer(one, rows, labels).explain(rows, kind=objective).mean_size()
    assert sizes["tuned"] < sizes["plain"] - 0.01
    rates = [one.predict(rows).mean() for one in (plain, model)]
    assert abs(rates[1] - rates[0]) < 0.15 * rates[0]


@pytest.mark.parametrize("objective", ["both", "volume"])
def test_other_objectives(objective):
    rows, labels = numbers(600, 5)
    model = SMALL["linear"](objective=objective, max_iter=None).fit(rows, labels)
    plain = SMALL["linear"](sev_penalty=0.0).fit(rows, labels)
    explained = [sev.Explainer(one, rows, labels).explain(rows, kind="plus").mean_size() for one in (plain, model)]
    assert explained[1] < explained[0]


def test_restricted_features_are_not_needed():
    rows, labels = numbers(600, 3)
    frame = pd.DataFrame(rows, columns=["age", "debt", "income"])
    before, after = (
        SMALL["linear"](restricted=["age"], sev_penalty=penalty, max_iter=300, max_rate_change=None).fit(frame, labels)
        for penalty in (0, 3.0)
    )
    unexplained = []
    for model in (before, after):
        explained = sev.Explainer(model, frame, labels, restricted=["age"]).explain(frame)
        unexplained.append((explained.statuses == "unexplainable").mean())
    assert unexplained[1] < unexplained[0]


def test_groups_of_columns_move_as_one():
    rows, labels = numbers(300, 4)
    groups = {"first": [0, 1], "second": [2, 3]}
    model = SMALL["linear"](groups=groups).fit(rows, labels)
    explainer = sev.Explainer(model, rows, labels, groups=groups)
    assert explainer.feature_names == ("first", "second")
    assert explainer.backend == "linear"
    with pytest.raises(UnknownFeatureError, match="column 9"):
        SMALL["linear"](groups={"first": [0, 9]}).fit(rows, labels)


def test_the_reference_is_the_explainers(family):
    rows, labels = numbers()
    model = SMALL[family]().fit(rows, labels)
    expected = sev.Explainer(model, rows, labels, reference="mean").reference
    assert model.reference_ == expected.iloc[0].to_dict()


def test_same_seed_same_model(family):
    rows, labels = numbers()
    one, other = (SMALL[family]().fit(rows, labels).predict_proba(rows) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_training_leaves_no_trace_in_torch(family):
    import torch

    rows, labels = numbers()
    torch.manual_seed(0)
    before, threads = torch.random.get_rng_state(), torch.get_num_threads()
    SMALL[family]().fit(rows, labels)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.get_num_threads() == threads


def test_searches_pipelines_and_cross_validation():
    rows, labels = numbers()
    pipeline = make_pipeline(StandardScaler(), sev.SEVLogisticRegression(max_iter=30, random_state=0))
    search = GridSearchCV(pipeline, {"sevlogisticregression__sev_penalty": [0.1, 1.0]}, cv=2).fit(rows, labels)
    assert sev.Explainer(search, rows, labels).backend == "linear"
    assert cross_val_score(clone(pipeline), rows, labels, cv=2).min() > 0.6


def test_labels_of_any_kind():
    rows, labels = numbers()
    names = np.where(labels == 1, "refuse", "grant")
    model = SMALL["linear"]().fit(rows, names)
    assert model.classes_.tolist() == ["grant", "refuse"]
    assert set(model.predict(rows)) == {"grant", "refuse"}
    assert sev.Explainer(model, rows, names).target == "refuse"


def test_the_bar_shows_the_running_terms(family, capsys):
    rows, labels = numbers()
    model = SMALL[family](max_iter=3, verbose=True).fit(rows, labels)
    shown = capsys.readouterr().err
    assert all(term in shown for term in ("training", "total", "sev", "rate"))
    assert len(model.history_) == model.n_iter_ == 3
    assert set(model.history_[0]) == {"total", "fit", "sev", "reference", "rate"}


def test_early_stopping_ends_when_nothing_falls(family):
    rows, labels = numbers()
    model = SMALL[family](max_iter=100, early_stopping=True, tol=10.0, n_iter_no_change=4).fit(rows, labels)
    assert model.n_iter_ == 5  # one pass that is the best so far, four idle ones


def test_the_papers_schedule_warms_up_on_labels(family):
    rows, labels = numbers(200)
    options = {"max_iter": 20} if family != "networks" else {"max_iter": 20, "learning_rate": 0.01}
    model = SMALL[family](schedule="paper", **options).fit(rows, labels)
    sev_terms = [terms["sev"] for terms in model.history_]
    assert sev_terms[:14] == [0.0] * 14  # 70 of 100
    assert all(term > 0.0 for term in sev_terms[14:])
    assert model.score(rows, labels) > 0.6


def test_constant_columns_are_fine(family):
    rows, labels = numbers()
    rows[:, 2] = 7.0
    model = SMALL[family]().fit(rows, labels)
    moved = rows.copy()
    moved[:, 2] = 8.0
    assert np.isfinite(model.predict_proba(moved)).all()


def test_vol_opt_leaves_constant_columns_alone():
    from sev.training._families import train
    from sev.training._settings import settings_for
    from sev.training._task import TrainingTask

    rows, labels = numbers()
    base = LogisticRegression().fit(rows, labels)
    rows[:, 2] = 7.0
    task = TrainingTask(
        rows, labels.astype(float), np.arange(4), rows[labels == 0].mean(axis=0), np.ones(4, dtype=np.bool_)
    )
    tuned = train(base, task, settings_for("linear", {"objective": "volume", "schedule": "recipe"}, 0)).estimator
    assert tuned.coef_[0, 2] == base.coef_[0, 2]
    assert not np.isclose(tuned.coef_[0, [0, 1, 3]], base.coef_[0, [0, 1, 3]]).any()


def test_predictions_need_no_torch(tmp_path):
    import pickle

    rows, labels = numbers()
    models = {name: make().fit(rows, labels) for name, make in SMALL.items()}
    expected = {name: model.predict_proba(rows[:5]) for name, model in models.items()}
    (tmp_path / "models.pickle").write_bytes(pickle.dumps((models, expected, rows[:5])))
    code = (
        "import pickle, sys, numpy as np\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'torch':\n"
        "            raise ModuleNotFoundError('no torch here', name='torch')\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        f"models, expected, rows = pickle.load(open({str(tmp_path / 'models.pickle')!r}, 'rb'))\n"
        "for name, model in models.items():\n"
        "    np.testing.assert_array_equal(model.predict_proba(rows), expected[name])\n"
        "import sev\n"
        "try:\n"
        "    sev.SEVLogisticRegression().fit([[0.0], [1.0]] * 9, [0, 1] * 9)\n"
        "except ImportError as error:\n"
        "    assert 'sev[train]' in str(error), error\n"
        "else:\n"
        "    raise AssertionError('trained without torch')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "less"}, "objective='less' is not known"),
        ({"schedule": "fast"}, "schedule='fast' is not known"),
        ({"sev_penalty": -1.0}, "sev_penalty=-1.0 must be a number of at least 0"),
        ({"max_iter": 2.5}, "max_iter=2.5 must be an integer"),
        ({"learning_rate": 0.0}, "learning_rate=0.0 must be a number above 0"),
        ({"margin": 0.6}, "margin=0.6 must be below 0.5"),
        ({"restricted": ["nobody"]}, "'nobody', which is not a feature"),
        ({"restricted": "x0"}, "must be a list of names"),
        ({"restricted": ["x0", "x1", "x2", "x3"]}, "Every feature is restricted"),
    ],
)
def test_wrong_parameters_are_refused(options, message):
    rows, labels = numbers()
    with pytest.raises(InputError, match=message):
        sev.SEVLogisticRegression(**options).fit(rows, labels)


def test_volume_is_for_linear_models(family):
    rows, labels = numbers()
    if family != "linear":
        with pytest.raises(InputError, match="linear models only"):
            SMALL[family](objective="volume").fit(rows, labels)


def test_a_base_of_another_family_is_refused():
    rows, labels = numbers()
    with pytest.raises(ModelError, match=r"not of the family .* use one of \['MLPClassifier"):
        sev.SEVMLPClassifier(base_estimator=LogisticRegression()).fit(rows, labels)


def test_one_class_only():
    rows, labels = numbers()
    with pytest.raises(InputError, match="Only one class in y, 0:"):
        sev.SEVLogisticRegression().fit(rows, np.zeros_like(labels))


def test_a_base_that_predicts_nobody_positive():
    rows, _ = numbers()
    rare = (rows[:, 0] > 2.0).astype(int)
    base = LogisticRegression(C=1e-6)
    with pytest.raises(TrainingError, match="predicts no row"):
        sev.SEVLogisticRegression(base_estimator=base).fit(rows, rare)


def test_a_loss_that_is_not_a_number(family):
    rows, labels = numbers()
    with pytest.raises(TrainingError, match="not a number after pass"):
        SMALL[family](learning_rate=1e308).fit(rows, labels)


def test_a_reference_that_turns_positive_is_not_hidden():
    rows, labels = numbers()
    # nothing holds the reference, and all that counts is a positive neighbour of it
    model = SMALL["linear"](
        objective="plus", sev_penalty=100.0, reference_penalty=0.0, rate_penalty=0.0, max_iter=200, margin=0.4
    )
    with pytest.warns(TrainingWarning, match="Raise reference_penalty"):
        model.fit(rows, labels)


def test_a_reference_with_missing_values_is_refused_with_their_columns():
    rows, labels = numbers()
    frame = pd.DataFrame(rows, columns=["age", "debt", "late", "income"])
    row = {"age": 0.0, "debt": 0.0, "late": 0.0, "income": np.nan}
    with pytest.raises(InputError, match=r"missing values \(\['income'\]\).*pass reference="):
        SMALL["trees"](reference=row).fit(frame, labels)


def test_infinity_is_refused_with_its_column():
    frame, labels = raw()
    frame.loc[3, "income"] = np.inf
    with pytest.raises(InputError, match="'income' holds infinity in row 3: use finite"):
        SMALL["linear"]().fit(frame, labels)


def test_unseen_categories_and_missing_values_are_predicted():
    frame, labels = raw()
    model = SMALL["linear"]().fit(frame, labels)
    strange = frame.iloc[:3].copy()
    strange["home"] = ["castle", None, "own"]
    strange["age"] = [np.nan, 20.0, 30.0]
    assert np.isfinite(model.predict_proba(strange)).all()


def test_models_can_be_saved_without_pickle(family, tmp_path):
    pytest.importorskip("skops", reason="safe files need skops")
    frame, labels = raw()
    model = _hist() if family == "trees" else SMALL[family]()
    explainer = sev.Explainer(model.fit(frame, labels), frame, labels, reference="mean")
    explainer.save(tmp_path / "model.sev")
    loaded = sev.load(tmp_path / "model.sev")
    assert loaded.backend == family
    np.testing.assert_array_equal(loaded.model.predict_proba(frame), model.predict_proba(frame))
