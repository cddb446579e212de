"""Each reader against the model's own scores, and the models that no reader takes."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from backends.trees.models import CASES, fitted, numbers, with_text
from backends.trees.problems import own_scores, read

from sev.backends._protocol import Backend, CannotReadError


@pytest.mark.parametrize("name", CASES)
def test_scores_meet_the_model_at_and_beside_thresholds(name):
    case = fitted(name)
    backend = read(case.model, case.response)
    assert isinstance(backend, Backend)
    planted = backend.proof_rows(case.rows)
    assert len(planted) >= 300
    for rows in (case.rows, planted):
        scores = backend.scores(backend.margins(backend.encode(rows)))
        own = own_scores(case.model, case.response)(rows)
        assert np.abs(scores - own).max() <= backend.score_tolerance
    assert backend.score_tolerance < 1e-4


@pytest.mark.parametrize("name", CASES)
def test_encoding_is_by_column_and_leaves_the_rows_alone(name):
    case = fitted(name)
    backend = read(case.model, case.response)
    rows = case.rows[:20].copy()
    before = rows.copy()
    whole = backend.encode(rows)
    assert whole.shape == (20, backend.n_columns)
    assert whole.dtype == np.float64
    for column in range(backend.n_columns):
        mixed = _with_column(rows, column)
        changed = backend.encode(mixed)
        others = np.arange(backend.n_columns) != column
        np.testing.assert_array_equal(changed[:, others], whole[:, others])
    if isinstance(rows, pd.DataFrame):
        pd.testing.assert_frame_equal(rows, before)
    else:
        np.testing.assert_array_equal(rows, before)


@pytest.mark.parametrize("name", ["gradient_boosting", "xgboost_text", "catboost_text", "hist_gradient_boosting_text"])
def test_a_backend_survives_pickling(name):
    case = fitted(name)
    backend = read(case.model, case.response)
    backend.margins(backend.encode(case.rows))
    again = pickle.loads(pickle.dumps(backend))
    np.testing.assert_array_equal(again.encode(case.rows), backend.encode(case.rows))
    np.testing.assert_array_equal(again.margins(again.encode(case.rows)), backend.margins(backend.encode(case.rows)))


def _with_column(rows, column):
    """The rows with one column in another order."""
    mixed = rows.copy()
    if isinstance(rows, pd.DataFrame):
        mixed.isetitem(column, rows.iloc[::-1, column].set_axis(rows.index))
    else:
        mixed[:, column] = rows[::-1, column]
    return mixed


def _three_classes():
    from sklearn.ensemble import RandomForestClassifier

    rows, labels = numbers()
    return RandomForestClassifier(3).fit(rows, labels + (rows[:, 0] > 1)), "predict_proba"


def _own_initial_model():
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    return GradientBoostingClassifier(n_estimators=3, init=LogisticRegression()).fit(*numbers()), "predict_proba"


def _bagging_of_boosting():
    from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier

    return BaggingClassifier(GradientBoostingClassifier(n_estimators=2), 2).fit(*numbers()), "predict_proba"


def _boosted_lines():
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.linear_model import LogisticRegression

    return AdaBoostClassifier(LogisticRegression(), n_estimators=2).fit(*numbers()), "predict_proba"


def _xgboost_linear():
    xgboost = pytest.importorskip("xgboost")
    rows, labels = numbers()
    model = xgboost.train({"booster": "gblinear", "objective": "binary:logistic"}, xgboost.DMatrix(rows, labels), 3)
    return model, "call"


def _xgboost_hinge():
    xgboost = pytest.importorskip("xgboost")
    rows, labels = numbers()
    return xgboost.train({"objective": "binary:hinge"}, xgboost.DMatrix(rows, labels), 3), "call"


def _lightgbm_linear_trees():
    lightgbm = pytest.importorskip("lightgbm")
    return lightgbm.LGBMClassifier(n_estimators=3, linear_tree=True, verbose=-1).fit(*numbers()), "predict_proba"


def _catboost_statistics():
    catboost = pytest.importorskip("catboost")
    rows, labels = with_text(categorical=False)
    model = catboost.CatBoostClassifier(
        iterations=10, one_hot_max_size=1, cat_features=["c1", "c4"], verbose=0, allow_writing_files=False
    )
    return model.fit(rows, labels), "predict_proba"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_three_classes, "3 classes"),
        (_own_initial_model, "initial estimator"),
        (_bagging_of_boosting, "its members are GradientBoostingClassifier models"),
        (_boosted_lines, "not decision trees"),
        (_xgboost_linear, "not made of trees"),
        (_xgboost_hinge, "binary:hinge"),
        (_lightgbm_linear_trees, "linear models"),
        (_catboost_statistics, "OnlineCtr"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_read_exactly_is_refused_with_the_reason(make, reason):
    model, response = make()
    with pytest.raises(CannotReadError, match=reason):
        read(model, response)


@pytest.mark.parametrize(("n_trees", "base", "scale"), [(30, 0.5, 1.0), (400, 0.01, 1.0), (1500, 0.999, 40.0)])
def test_the_bound_on_xgboosts_rounding_holds(n_trees, base, scale):
    """Margins of XGBoost, added up in float32, against sums in float64 of the same leaves."""
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    rng = np.random.default_rng(n_trees)
    rows = rng.normal(size=(2000, 5))
    labels = (rows[:, 0] * rows[:, 1] + rng.normal(size=2000) > 0).astype(int)
    model = xgboost.XGBClassifier(
        n_estimators=n_trees, max_depth=3, learning_rate=0.3 * scale, base_score=base, reg_lambda=0.1, n_jobs=1
    ).fit(rows, labels)
    backend = read(model)
    own = model.predict(rows, output_margin=True).astype(np.float64)
    gap = np.abs(backend.margins(backend.encode(rows)) - own).max()
    assert 0.0 < gap <= backend.noise


@pytest.mark.parametrize("n_trees", [100, 1000])
def test_the_bound_holds_where_all_roundings_go_one_way(n_trees):
    """Leaves of just less than half a unit in the last place are lost one after the other: no luck evens that out."""
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    rows = np.linspace(-1.0, 1.0, 200)[:, None]
    model = xgboost.XGBClassifier(n_estimators=n_trees, max_depth=1, base_score=0.5, n_jobs=1)
    model.fit(rows, (rows[:, 0] > 0).astype(int))
    document = json.loads(bytes(model.get_booster().save_raw("json")))
    trees = document["learner"]["gradient_booster"]["model"]["trees"]
    for number, tree in enumerate(trees):
        leaves = [node for node, child in enumerate(tree["left_children"]) if child < 0]
        for node in leaves:
            tree["split_conditions"][node] = 1.0 if number == 0 else 0.49 * 2.0**-23
    model.load_model(bytearray(json.dumps(document).encode()))
    backend = read(model)
    own = model.predict(rows, output_margin=True).astype(np.float64)
    gap = np.abs(backend.margins(backend.encode(rows)) - own).max()
    assert gap > 0.9 * n_trees * 2.0**-24
    assert gap <= backend.noise
