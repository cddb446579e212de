"""What is taken off a model is mathematically right: falling and flat links, frozen models, thresholds of its own."""

import pickle

import numpy as np
import pandas as pd
import pytest
from oracle import assert_equals_oracle
from sklearn import ensemble, linear_model, svm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import RFE
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

import sev
from sev.backends import CannotReadError
from sev.backends._band import decision_band
from sev.backends._wrappers import decision_rule, unwrap
from sev.exceptions import DecisionWarning, FallbackWarning
from sev.libraries.sklearn.calibration import calibration_link


def data(seed=0, n_rows=240, n_columns=5):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, n_columns)).round(2), columns=list("abcdefgh")[:n_columns])
    y = (X["a"] + 0.5 * X["b"] - X["c"] * X["d"] + rng.normal(scale=0.5, size=n_rows) > 0).astype(int).to_numpy()
    return X, y


def score_of(model, place=1):
    return lambda frame: np.asarray(model.predict_proba(frame))[:, place]


def compare_with_definition(explainer, X, score, *, n_rows=25, kinds=("minus", "plus"), at_least=5):
    features = {name: (name,) for name in explainer.feature_names}
    compared = 0
    for kind in kinds:
        many = explainer.explain(X, kind=kind)
        for row in np.flatnonzero(many.statuses != "not_target")[:n_rows]:
            assert_equals_oracle(many[int(row)], score, features)
            compared += 1
    assert compared >= at_least


def with_falling_calibration(estimator, method):
    """A calibration that learnt the labels the wrong way round, as it happens on noise."""
    X, y = data()
    inside = estimator.fit(X, y)
    model = CalibratedClassifierCV(FrozenEstimator(inside), method=method, ensemble=False).fit(X, y)
    calibrator = model.calibrated_classifiers_[0].calibrators[0]
    if method == "sigmoid":
        calibrator.a_ = -calibrator.a_
        assert calibrator.a_ > 0
    else:
        calibrator.set_params(increasing=False).fit(inside.decision_function(X), 1 - y)
    return model, X, y


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize(
    ("estimator", "backend"),
    [
        (linear_model.LogisticRegression(), "linear"),
        (ensemble.GradientBoostingClassifier(n_estimators=12, random_state=0), "trees"),
    ],
    ids=["linear", "trees"],
)
@pytest.mark.parametrize("target", [0, 1])
def test_a_calibration_that_falls_is_read_with_the_other_sign(estimator, backend, method, target):
    model, X, _ = with_falling_calibration(estimator, method)
    explainer = sev.Explainer(model, X, target=target, reference="median", allow_positive_reference=True)
    assert explainer.backend == backend
    compare_with_definition(explainer, X, score_of(model, target))


def test_a_falling_network_is_read_with_the_other_sign():
    from sklearn.neural_network import MLPClassifier

    X, y = data()
    inside = MLPClassifier((6,), solver="lbfgs", alpha=1.0, max_iter=2000, random_state=0).fit(X, y)
    model = CalibratedClassifierCV(FrozenEstimator(inside), ensemble=False).fit(X, y)
    calibrator = model.calibrated_classifiers_[0].calibrators[0]
    calibrator.a_, calibrator.b_ = -calibrator.a_, -calibrator.b_
    explainer = sev.Explainer(model, X, reference="median", allow_positive_reference=True)
    assert explainer.backend == "networks"
    compare_with_definition(explainer, X, score_of(model), n_rows=10)


def test_a_sigmoid_fitted_on_noise_may_fall_and_is_answered_by_the_definition():
    falling = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
        y = rng.integers(0, 2, 60)
        model = CalibratedClassifierCV(linear_model.LogisticRegression(), ensemble=False, cv=5).fit(X, y)
        positive = score_of(model)(X) >= 0.5
        if model.calibrated_classifiers_[0].calibrators[0].a_ <= 0 or positive.all() or not positive.any():
            continue
        falling += 1
        explainer = sev.Explainer(model, X, reference="median", allow_positive_reference=True)
        assert explainer.backend == "linear"
        compare_with_definition(explainer, X, score_of(model), n_rows=5, at_least=1)
    assert falling >= 2


def test_isotonic_steps_and_flat_parts_are_answered_by_the_definition():
    X, y = data(n_rows=80)
    inside = linear_model.LogisticRegression().fit(X, y)
    model = CalibratedClassifierCV(FrozenEstimator(inside), method="isotonic", ensemble=False).fit(X, y)
    levels = np.unique(score_of(model)(X))
    for threshold in (levels[len(levels) // 2], levels[1], 0.5):  # on a plateau, and between
        explainer = sev.Explainer(
            model, X, threshold=float(threshold), reference="median", allow_positive_reference=True
        )
        assert explainer.backend == "linear"
        compare_with_definition(explainer, X, score_of(model), n_rows=10)


def test_a_calibrator_of_another_kind_is_not_assumed_to_rise():
    class Wave:
        def predict(self, scores):
            return np.sin(scores) / 2 + 0.5

    with pytest.raises(CannotReadError, match="Wave, is not known to be monotone"):
        calibration_link(Wave(), "decision_function")
    X, y = data()
    model = CalibratedClassifierCV(linear_model.LogisticRegression(), ensemble=False).fit(X, y)
    model.calibrated_classifiers_[0].calibrators[0] = Wave()
    with pytest.warns(FallbackWarning, match="Wave"):
        explainer = sev.Explainer(model, X, reference="median", allow_positive_reference=True)
    compare_with_definition(explainer, X, score_of(model), n_rows=5)


@pytest.mark.parametrize("slope", [np.nan, np.inf])
def test_a_slope_that_is_no_number_is_refused(slope):
    X, y = data()
    model = CalibratedClassifierCV(linear_model.LogisticRegression(), ensemble=False).fit(X, y)
    calibrator = model.calibrated_classifiers_[0].calibrators[0]
    calibrator.a_ = slope
    with pytest.raises(CannotReadError, match="slope"):
        calibration_link(calibrator, "decision_function")


def test_an_isotonic_map_that_goes_both_ways_is_refused():
    X, y = data()
    model = CalibratedClassifierCV(linear_model.LogisticRegression(), method="isotonic", ensemble=False).fit(X, y)
    calibrator = model.calibrated_classifiers_[0].calibrators[0]
    calibrator.y_thresholds_ = calibrator.y_thresholds_.copy()
    calibrator.y_thresholds_[1] = 2.0
    with pytest.raises(CannotReadError, match="isotonic calibration is not monotone"):
        calibration_link(calibrator, "decision_function")


def test_rounding_is_followed_through_a_steep_link():
    def step(scores):
        return np.clip((scores - 0.25) * 1e12 + 0.5, 0.0, 1.0)

    low, high = decision_band(lambda margins: margins, 0.5, 1e-9, step)
    assert low <= 0.25 - 0.9e-9
    assert high >= 0.25 + 0.9e-9
    assert high - low < 1e-8


@pytest.mark.parametrize("level", [0.3, 0.5, 0.7])
def test_the_band_of_a_constant_link_is_all_or_nothing(level):
    def flat(scores):
        return np.full_like(scores, level)

    expected = {0.3: (np.inf, np.inf), 0.5: (-np.inf, np.inf), 0.7: (-np.inf, -np.inf)}
    assert decision_band(lambda margins: margins, 0.5, 1e-12, flat) == expected[level]


def frozen_members():
    forest = ensemble.RandomForestClassifier(12, max_depth=4, random_state=0)
    return [
        ("forest", forest, "trees"),
        ("bagging", ensemble.BaggingClassifier(n_estimators=8, random_state=0, max_samples=0.4), "trees"),
        ("boosting", ensemble.AdaBoostClassifier(n_estimators=8, random_state=0), "trees"),
        ("machine", svm.LinearSVC(), "linear"),
        ("pipeline", make_pipeline(StandardScaler(), linear_model.LogisticRegression()), "linear"),
        ("search", GridSearchCV(linear_model.LogisticRegression(), {"C": [0.1, 1.0]}, cv=3), "linear"),
    ]


@pytest.mark.parametrize(
    ("estimator", "backend"), [row[1:] for row in frozen_members()], ids=[r[0] for r in frozen_members()]
)
@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
def test_the_calibration_of_a_frozen_model_is_read(estimator, backend, method):
    X, y = data()
    inside = FrozenEstimator(estimator.fit(X, y))
    model = CalibratedClassifierCV(inside, method=method, ensemble=False).fit(X, y)
    explainer = sev.Explainer(model, X, y, reference="median", allow_positive_reference=True)
    assert (explainer.backend, explainer.backend_reason) == (backend, "")
    compare_with_definition(explainer, X, score_of(model), n_rows=6)


@pytest.mark.parametrize(
    ("make", "backend"),
    [
        (lambda: OneVsRestClassifier(linear_model.LogisticRegression()), "linear"),
        (lambda: RFE(linear_model.LogisticRegression(), n_features_to_select=3), "linear"),
        (lambda: HalfLabelled(linear_model.LogisticRegression()), "linear"),
        (lambda: FrozenEstimator(ensemble.RandomForestClassifier(5, random_state=0).fit(*data())), "trees"),
        (lambda: Pipeline([("none", "passthrough"), ("model", linear_model.LogisticRegression())]), "linear"),
    ],
    ids=["one against the rest", "selection", "self-training", "frozen forest", "passthrough"],
)
def test_wrappers_that_hand_every_score_on_are_taken_off(make, backend):
    X, y = data()
    model = make().fit(X, y)
    explainer = sev.Explainer(model, X, y, reference="median", allow_positive_reference=True)
    assert explainer.backend == backend
    compare_with_definition(explainer, X, score_of(model), n_rows=8)


class HalfLabelled(SelfTrainingClassifier):
    """Forgets every other label before it is fitted."""

    def fit(self, X, y):
        return super().fit(X, np.where(np.arange(len(y)) % 2, y, -1))


class Sampler:
    """Works in ``fit`` only, as the samplers of imbalanced-learn do."""

    def fit_resample(self, X, y):
        return X, y


class ResamplingPipeline(Pipeline):
    """Leaves samplers out when rows are scored, as the pipeline of imbalanced-learn does."""

    def fit(self, X, y):
        for _, step in self.steps[:-1]:
            X, y = step.fit_resample(X, y) if hasattr(step, "fit_resample") else (step.fit_transform(X, y), y)
        self.steps[-1][1].fit(X, y)
        return self

    def predict_proba(self, X):
        for _, step in self.steps[:-1]:
            X = X if hasattr(step, "fit_resample") else step.transform(X)
        return self.steps[-1][1].predict_proba(X)

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] >= 0.5).astype(int)]

    def __sklearn_is_fitted__(self):
        return True


ResamplingPipeline.__module__ = "imblearn.pipeline"


def test_samplers_are_no_steps_when_rows_are_scored():
    X, y = data()
    steps = [("scale", StandardScaler()), ("sample", Sampler()), ("model", linear_model.LogisticRegression())]
    model = ResamplingPipeline(steps).fit(X, y)
    explainer = sev.Explainer(model, X, y)
    assert explainer.backend == "linear"
    compare_with_definition(explainer, X, score_of(model), n_rows=8)


def test_a_pipeline_of_imbalanced_learn_is_read():
    imblearn = pytest.importorskip("imblearn", reason="imbalanced-learn is not installed")
    X, y = data()
    sampler = imblearn.under_sampling.RandomUnderSampler(random_state=0)
    model = imblearn.pipeline.make_pipeline(StandardScaler(), sampler, linear_model.LogisticRegression()).fit(X, y)
    explainer = sev.Explainer(model, X, y)
    assert explainer.backend == "linear"
    compare_with_definition(explainer, X, score_of(model), n_rows=8)


def test_a_balanced_forest_of_imbalanced_learn_is_read_as_trees():
    ensemble = pytest.importorskip("imblearn.ensemble", reason="imbalanced-learn is not installed")
    X, y = data()
    model = ensemble.BalancedRandomForestClassifier(10, max_depth=4, random_state=0).fit(X, y)
    explainer = sev.Explainer(model, X, y)
    assert explainer.backend == "trees"
    compare_with_definition(explainer, X, score_of(model), n_rows=8)


# -- thresholds of a model's own ---------------------------------------------------------------------------------------


def threshold_wrappers():
    base = linear_model.LogisticRegression()
    fixed = FixedThresholdClassifier(base, threshold=0.2)
    pipeline = make_pipeline(StandardScaler(), fixed)
    return {
        "fixed": lambda X, y: fixed.fit(X, y),
        "frozen": lambda X, y: FrozenEstimator(fixed.fit(X, y)),
        "frozen twice": lambda X, y: FrozenEstimator(FrozenEstimator(fixed.fit(X, y))),
        "tuned, frozen": lambda X, y: FrozenEstimator(TunedThresholdClassifierCV(base, cv=3).fit(X, y)),
        "in a pipeline, frozen": lambda X, y: FrozenEstimator(pipeline.fit(X, y)),
        "frozen, in a pipeline": lambda X, y: make_pipeline(
            StandardScaler(), FrozenEstimator(fixed.fit(StandardScaler().fit_transform(X), y))
        ).fit(X, y),
        "in a search": lambda X, y: GridSearchCV(pipeline, {}, cv=3).fit(X, y),
        "of the other class": lambda X, y: FrozenEstimator(
            FixedThresholdClassifier(base, threshold=0.3, pos_label=0).fit(X, y)
        ),
        "of decision values": lambda X, y: FrozenEstimator(
            FixedThresholdClassifier(base, threshold=0.7, response_method="decision_function").fit(X, y)
        ),
        "in self-training": lambda X, y: HalfLabelled(fixed).fit(X, y),
        "in a selection": lambda X, y: RFE(fixed, n_features_to_select=3, importance_getter="estimator_.coef_").fit(
            X, y
        ),
    }


@pytest.mark.parametrize("name", threshold_wrappers())
@pytest.mark.parametrize("target", [0, 1])
def test_rows_are_explained_as_predicted_by_a_models_own_threshold(name, target):
    X, y = data()
    model = threshold_wrappers()[name](X, y)
    explainer = sev.Explainer(model, X, y, target=target, reference="median", allow_positive_reference=True)
    explained = explainer.explain(X).statuses != "not_target"
    assert (explained == (model.predict(X) == target)).all()
    assert explained.any()
    assert not explained.all()
    assert explainer.backend == "linear"


def test_the_last_model_of_a_stack_may_have_a_threshold_of_its_own():
    X, y = data()
    last = FixedThresholdClassifier(linear_model.LogisticRegression(), threshold=0.2)
    members = [("a", linear_model.LogisticRegression()), ("b", ensemble.RandomForestClassifier(3, random_state=0))]
    model = ensemble.StackingClassifier(members, final_estimator=last, cv=2).fit(X, y)
    with pytest.warns(FallbackWarning, match="combines 2 models"):
        explainer = sev.Explainer(model, X, y, reference="median", allow_positive_reference=True)
    assert explainer.threshold == 0.2
    assert ((explainer.explain(X, max_size=1).statuses != "not_target") == (model.predict(X) == 1)).all()


def test_a_threshold_of_its_own_that_no_score_reaches_survives_a_pickle():
    X, y = data()
    model = FixedThresholdClassifier(linear_model.LogisticRegression(), threshold=1.2).fit(X, y)
    explainer = sev.Explainer(model, X, y)
    again = pickle.loads(pickle.dumps(explainer))
    assert explainer.threshold == again.threshold == 1.2
    assert (again.explain(X).statuses == "not_target").all()


def test_catboost_has_a_threshold_of_its_own():
    catboost = pytest.importorskip("catboost", reason="catboost is not installed")
    X, y = data()
    model = catboost.CatBoostClassifier(
        iterations=15, depth=3, verbose=False, random_seed=0, allow_writing_files=False
    ).fit(X, y)
    assert decision_rule(model).threshold == 0.5
    model.set_probability_threshold(0.2)
    for wrapped in (model, FrozenEstimator(model)):
        explainer = sev.Explainer(wrapped, X, y, reference="median", allow_positive_reference=True)
        assert explainer.threshold == 0.2
        explained = explainer.explain(X).statuses != "not_target"
        assert (explained == (model.predict(X) == 1)).all()
        assert (explained != (model.predict_proba(X)[:, 1] >= 0.5)).any()


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable:UserWarning")
def test_skorch_has_a_threshold_of_its_own():
    pytest.importorskip("torch", reason="torch is not installed")
    skorch = pytest.importorskip("skorch", reason="skorch is not installed")
    from torch import nn

    X, y = data()
    rows, labels = X.to_numpy(np.float32), y.astype(np.float32)
    net = skorch.NeuralNetBinaryClassifier(nn.Linear(5, 1), max_epochs=3, verbose=0, threshold=0.4)
    net.set_params(iterator_train__shuffle=False)
    net.fit(rows, labels)
    explainer = sev.Explainer(net, rows, y, reference="median", allow_positive_reference=True)
    assert explainer.threshold == 0.4
    explained = explainer.explain(rows).statuses != "not_target"
    assert (explained == (net.predict(rows) == 1)).all()


# -- subclasses --------------------------------------------------------------------------------------------------------


def test_a_subclass_with_a_rule_that_no_background_row_meets_is_a_black_box():
    class Careful(linear_model.LogisticRegression):
        def predict_proba(self, X):
            outputs = super().predict_proba(X)
            outputs[np.asarray(X)[:, 0] > 50] = [1.0, 0.0]
            return outputs

    X, y = data()
    model = Careful().fit(X, y)
    with pytest.warns(FallbackWarning, match="Careful overrides `predict_proba` of LogisticRegression"):
        explainer = sev.Explainer(model, X, y)
    queries = X.assign(b=60.0)
    compare_with_definition(explainer, queries, score_of(model), n_rows=10)


def test_a_method_that_was_put_on_the_object_is_noticed():
    X, y = data()
    model = linear_model.LogisticRegression().fit(X, y)
    model.predict_proba = lambda rows: np.tile([0.4, 0.6], (len(rows), 1))
    with (
        pytest.warns(DecisionWarning, match="Every background row"),
        pytest.warns(FallbackWarning, match="`predict_proba` of its own"),
    ):
        sev.Explainer(model, X, y, reference="median", allow_positive_reference=True, threshold=0.5)


def test_a_subclass_that_only_trains_in_another_way_is_read():
    class Renamed(linear_model.LogisticRegression):
        """Same scores."""

        note = "a plain attribute"

        def fit(self, X, y):
            return super().fit(X, y)

        def describe(self):
            return "a method that the library does not have"

    X, y = data()
    assert sev.Explainer(Renamed().fit(X, y), X, y).backend == "linear"


@pytest.mark.parametrize("wrapper", [CalibratedClassifierCV(ensemble=True, cv=3), OneVsRestClassifier(svm.LinearSVC())])
def test_what_combines_models_is_not_taken_off(wrapper):
    X, y = data()
    y = np.where(X["d"] > 1, 2, y) if isinstance(wrapper, OneVsRestClassifier) else y
    with pytest.raises(CannotReadError, match="3"):
        unwrap(wrapper.fit(X, y), "predict_proba")
