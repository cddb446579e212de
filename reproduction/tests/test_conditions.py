"""The authors' misplaced reference, done on purpose."""

import numpy as np
import pandas as pd
import pytest

from sev_reproduction import Plan, _conditions, _models


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "home": rng.choice(["own", "rent", "free"], 200),
            "age": rng.normal(40, 10, 200),
            "phone": rng.choice(["no", "yes"], 200),
            "income": rng.normal(3, 1, 200),
        }
    )
    y = ((X["age"] > 42) ^ (rng.random(200) < 0.1)).astype(int).to_numpy()
    return X, y


def test_values_land_in_the_columns_of_other_features(mixed):
    X, y = mixed
    model = _models.baseline("l2", X, 0, C=1.0).fit(X, y)
    negative = X[y == 0]
    raw = pd.DataFrame(
        [{name: negative[name].mean() if name in ("age", "income") else negative[name].mode()[0] for name in X}]
    )
    explainer = _conditions.misplaced_explainer(model, X, y, raw)
    means = negative[["age", "income"]].mean()
    numbers = ((means - X[["age", "income"]].mean()) / X[["age", "income"]].std(ddof=0)).tolist()
    levels = [float(name == negative["home"].mode()[0]) for name in ("free", "own", "rent")]
    phone = float(negative["phone"].mode()[0] == "yes")
    # encoded columns are age, income, home (3), phone; the reference is home (3), age, phone, income
    assert explainer.reference.to_numpy()[0] == pytest.approx([*levels, numbers[0], phone, numbers[1]])
    assert len(explainer.feature_names) == 4


def test_nothing_is_misplaced_where_numbers_come_first(mixed):
    X, y = mixed
    ordered = X[["age", "income", "home", "phone"]]
    assert _conditions.is_mixed(X)
    assert not _conditions.is_mixed(ordered)
    model = _models.baseline("l2", ordered, 0, C=1.0).fit(ordered, y)
    data = ordered, y, ordered, y
    plan = Plan()
    right = _conditions.measure(_conditions.Condition(C=1.0), model, data, plan)
    same = _conditions.measure(_conditions.Condition(C=1.0, misplaced=True), model, data, plan)
    assert same == pytest.approx(right)


def test_a_search_from_size_one_counts_a_positive_reference_as_one():
    assert _conditions.from_one("N00U2") == pytest.approx(4 / 3)
    assert _conditions.from_one("NN") is None


def test_a_search_that_gives_up_counts_one_more_than_its_depth():
    assert _conditions.to_depth("N1U9") == pytest.approx((1 + 7 + 7) / 3)
    assert _conditions.to_depth("NN") is None


def test_conditions_name_what_they_change():
    names = [condition.name for condition in _conditions.conditions("l2", mixed=True)]
    assert names[0] == "as described"
    assert len(set(names)) == len(names) == 13
    assert not any("misplaced" in condition.name for condition in _conditions.conditions("gbdt", mixed=False))
