"""What the authors' published code does, done again on purpose."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from sev_reproduction import Plan, _authors, _conditions, _measure, _reweight


@pytest.fixture
def rows():
    """Training and test part; "late" occurs among positives only, "far" among negatives of the test part only."""
    train = pd.DataFrame(
        {
            "home": ["own", "rent", "free", "own", "late", "late"],
            "age": [20.0, 30.0, 40.0, 50.0, 60.0, 70.0],
            "phone": ["no", "yes", "no", "no", "yes", "yes"],
            "cars": [1, 2, 1, 1, 2, 2],
        }
    )
    test = pd.DataFrame({"home": ["far", "own"], "age": [100.0, 10.0], "phone": ["no", "yes"], "cars": [1, 2]})
    return train, np.array([0, 0, 0, 0, 1, 1]), test, np.array([0, 1])


def test_the_encoder_sees_the_negatives_of_both_parts(rows):
    transformer = _authors.encoder(_authors.negatives(rows))
    # age, phone and cars in place, then a block of the homes that negatives have
    ages = np.array([20, 30, 40, 50, 100.0])
    homes = ["far", "free", "own", "rent"]
    late = _measure.quietly(transformer.transform, rows[0].iloc[[4]])[0]
    assert late == pytest.approx([(60 - ages.mean()) / ages.std(), 1, 1, *[0] * len(homes)])
    assert transformer.transform(rows[2].iloc[[0]])[0][3:] == pytest.approx([1, 0, 0, 0])


def test_the_reference_has_the_common_value_of_two(rows):
    negatives = _authors.negatives(rows)
    assert _authors.reference(negatives, "mean").to_dict("records") == [
        {"home": "own", "age": 48.0, "phone": "no", "cars": 1}
    ]
    assert _authors.reference(negatives, "median")["age"].tolist() == [40.0]


def test_values_land_in_the_order_of_the_raw_columns(rows):
    model = _authors.fitted("l2", "german", rows, 0)
    assert model[-1].C == 1.0
    assert _authors.fitted("l2", "adult", rows, 0)[-1].C == 0.01
    raw = _authors.reference(_authors.negatives(rows), "mean")
    explainer = _conditions.misplaced_explainer(model, rows[0], rows[1], raw)
    # encoded columns are age, phone, cars, home (4); the reference is home (4), age, phone, cars
    assert explainer.reference.to_numpy()[0] == pytest.approx([0, 0, 1, 0, 0, 0, 0])


def test_a_split_of_the_authors_is_80_to_20_and_without_strata():
    X_train, _, X_test, y_test = _authors.split("german", 0, Plan())
    assert (len(X_train), len(X_test)) == (800, 200)
    assert y_test.sum() != 60
    assert len(_authors.split("german", 0, Plan(max_train_rows=50))[1]) == 50


def test_tree_weights_from_random_ones_fit_the_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=300) > 0).astype(int)
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y)
    before = model.decision_function(X)
    trees = np.column_stack([tree.predict(X) for (tree,) in model.estimators_])
    start = np.log(y.mean() / (1 - y.mean()))
    weights = _reweight.learnt(trees, y, start, 7)
    _reweight.from_random_weights(model, X, y, 7)
    assert model.decision_function(X) == pytest.approx(start + trees @ weights)
    assert np.std(weights) > 0.05  # boosting has the same for every tree

    def loss(scores):
        return float(np.logaddexp(0, np.where(y == 1, -scores, scores)).mean())

    assert loss(model.decision_function(X)) < loss(before)


def test_means_of_ten():
    assert _authors.means_of_ten([0.0] * 10 + [1.0] * 10 + [5.0]).tolist() == [0.0, 1.0]
