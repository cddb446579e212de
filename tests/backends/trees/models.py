"""One table of small fitted tree models: every library and everything about trees that has to be read."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

N_COLUMNS = 7


@dataclass(frozen=True)
class Fitted:
    model: Any
    rows: Any  # as the model takes them
    response: str = "predict_proba"


CASES: dict[str, tuple[str, Any]] = {}


def case(package="sklearn"):
    def add(function):
        CASES[function.__name__] = (package, function)
        return function

    return add


def fitted(name):
    package, function = CASES[name]
    pytest.importorskip(package, reason=f"{package} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # chatter of the libraries while they train
        return function()


def numbers(seed=0, n=400):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, N_COLUMNS)).round(1)
    signal = rows[:, 0] + rows[:, 1] * rows[:, 2] + rows[:, 3] - 0.5 * rows[:, 4] + 0.3 * rows[:, 5]
    return rows, (signal + rng.normal(size=n) * 0.5 > 0).astype(int)


def with_missing(seed=0):
    rows, labels = numbers(seed)
    rows[np.random.default_rng(seed).random(rows.shape) < 0.15] = np.nan
    return rows, labels


def with_codes(seed=0):
    """Columns 1 and 4 are categories by number."""
    rows, _ = numbers(seed)
    rng = np.random.default_rng(seed + 1)
    rows[:, 1] = rng.integers(0, 9, len(rows))
    rows[:, 4] = rng.integers(0, 4, len(rows))
    odd = np.isin(rows[:, 1], [1, 4, 6, 7]).astype(float) - 0.5
    labels = (rows[:, 0] + 2 * odd + (rows[:, 4] == 2) + rows[:, 2] > 0.3).astype(int)
    return rows, labels


def with_text(seed=0, *, categorical=True):
    """The same as a DataFrame of names, with a missing one here and there."""
    rows, labels = with_codes(seed)
    frame = pd.DataFrame(rows, columns=[f"c{number}" for number in range(N_COLUMNS)])
    for column, names in (("c1", list("ihgfedcba")), ("c4", ["north", "south", "east", "west"])):
        frame[column] = np.array(names, dtype=object)[frame[column].astype(int)]
        if categorical:
            frame[column] = frame[column].astype("category")
            frame.loc[frame.index[::17], column] = np.nan
    return frame, labels


@case()
def decision_tree():
    from sklearn.tree import DecisionTreeClassifier

    rows, labels = numbers()
    return Fitted(DecisionTreeClassifier(max_depth=6, random_state=0).fit(rows, labels), rows)


@case()
def extra_tree_missing():
    from sklearn.tree import DecisionTreeClassifier

    rows, labels = with_missing(5)
    return Fitted(DecisionTreeClassifier(max_depth=7, random_state=0).fit(rows, labels), rows)


@case()
def random_forest():
    from sklearn.ensemble import RandomForestClassifier

    rows, labels = numbers(1)
    return Fitted(RandomForestClassifier(15, max_depth=6, random_state=0).fit(rows, labels), rows)


@case()
def random_forest_with_ties():
    """Ten trees with pure leaves: the mean is exactly 0.5 for many vertices."""
    from sklearn.ensemble import RandomForestClassifier

    rows, labels = numbers(2)
    return Fitted(RandomForestClassifier(10, random_state=0).fit(rows, labels), rows)


@case()
def random_forest_missing():
    from sklearn.ensemble import RandomForestClassifier

    rows, labels = with_missing(3)
    return Fitted(RandomForestClassifier(12, max_depth=7, random_state=0).fit(rows, labels), rows)


@case()
def extra_trees():
    from sklearn.ensemble import ExtraTreesClassifier

    rows, labels = numbers(4)
    return Fitted(ExtraTreesClassifier(12, max_depth=7, random_state=0).fit(rows, labels), rows)


@case()
def bagging():
    from sklearn.ensemble import BaggingClassifier

    rows, labels = numbers(5)
    return Fitted(BaggingClassifier(n_estimators=12, max_features=0.7, random_state=0).fit(rows, labels + 5), rows)


@case()
def bagging_of_forests():
    from sklearn.ensemble import BaggingClassifier, RandomForestClassifier

    rows, labels = numbers(6)
    members = RandomForestClassifier(5, max_depth=5, random_state=0)
    return Fitted(BaggingClassifier(members, n_estimators=4, random_state=0).fit(rows, labels), rows)


@case()
def gradient_boosting():
    from sklearn.ensemble import GradientBoostingClassifier

    rows, labels = numbers(7)
    return Fitted(GradientBoostingClassifier(n_estimators=60, random_state=0).fit(rows, labels), rows)


@case()
def gradient_boosting_deep():
    from sklearn.ensemble import GradientBoostingClassifier

    rows, labels = numbers(8)
    model = GradientBoostingClassifier(n_estimators=40, max_depth=6, subsample=0.7, init="zero", random_state=0)
    return Fitted(model.fit(rows, labels), rows, "decision_function")


@case()
def gradient_boosting_exponential():
    from sklearn.ensemble import GradientBoostingClassifier

    rows, labels = numbers(9)
    model = GradientBoostingClassifier(n_estimators=60, max_depth=2, loss="exponential", random_state=0)
    return Fitted(model.fit(rows, labels), rows)


@case()
def hist_gradient_boosting_missing():
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows, labels = with_missing(10)
    model = HistGradientBoostingClassifier(max_iter=40, min_samples_leaf=5, random_state=0)
    return Fitted(model.fit(rows, labels), rows, "decision_function")


@case()
def hist_gradient_boosting_codes():
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows, labels = with_codes(11)
    model = HistGradientBoostingClassifier(max_iter=40, min_samples_leaf=5, categorical_features=[1, 4], random_state=0)
    return Fitted(model.fit(rows, labels), rows)


@case()
def hist_gradient_boosting_text():
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows, labels = with_text(12)
    model = HistGradientBoostingClassifier(
        max_iter=40, min_samples_leaf=5, categorical_features="from_dtype", random_state=0
    )
    return Fitted(model.fit(rows, labels), rows)


@case()
def ada_boost():
    from sklearn.ensemble import AdaBoostClassifier

    rows, labels = numbers(13)
    return Fitted(AdaBoostClassifier(n_estimators=40, random_state=0).fit(rows, labels), rows)


@case()
def ada_boost_deep():
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    rows, labels = numbers(14)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=15, random_state=0)
    return Fitted(model.fit(rows, labels), rows, "decision_function")


@case("xgboost")
def xgboost_shallow():
    from xgboost import XGBClassifier

    rows, labels = numbers(15)
    return Fitted(XGBClassifier(n_estimators=60, max_depth=3, n_jobs=1).fit(rows, labels), rows)


@case("xgboost")
def xgboost_missing_marker():
    from xgboost import XGBClassifier

    rows, labels = with_missing(16)
    rows[np.isnan(rows)] = -999.0
    return Fitted(XGBClassifier(n_estimators=40, max_depth=6, missing=-999.0, n_jobs=1).fit(rows, labels), rows)


@case("xgboost")
def xgboost_stopped_early():
    from xgboost import XGBClassifier

    rows, labels = with_missing(17)
    model = XGBClassifier(n_estimators=300, max_depth=4, early_stopping_rounds=5, num_parallel_tree=2, n_jobs=1)
    return Fitted(model.fit(rows[:300], labels[:300], eval_set=[(rows[300:], labels[300:])], verbose=False), rows)


@case("xgboost")
def xgboost_dart():
    from xgboost import XGBClassifier

    rows, labels = numbers(18)
    model = XGBClassifier(n_estimators=40, max_depth=3, booster="dart", rate_drop=0.3, n_jobs=1, random_state=0)
    return Fitted(model.fit(rows, labels), rows)


@case("xgboost")
def xgboost_text():
    from xgboost import XGBClassifier

    rows, labels = with_text(19)
    model = XGBClassifier(n_estimators=40, max_depth=4, enable_categorical=True, max_cat_to_onehot=3, n_jobs=1)
    return Fitted(model.fit(rows, labels), rows)


@case("xgboost")
def xgboost_booster_codes():
    import xgboost

    rows, labels = with_codes(20)
    types = ["c" if column in (1, 4) else "q" for column in range(N_COLUMNS)]
    data = xgboost.DMatrix(rows, labels, feature_types=types, enable_categorical=True)
    settings = {"objective": "binary:logistic", "max_depth": 4, "base_score": 0.3, "nthread": 1}
    return Fitted(xgboost.train(settings, data, num_boost_round=40), rows, "call")


@case("lightgbm")
def lightgbm_missing():
    from lightgbm import LGBMClassifier

    rows, labels = with_missing(21)
    model = LGBMClassifier(n_estimators=50, num_leaves=15, min_child_samples=5, n_jobs=1, verbose=-1)
    return Fitted(model.fit(rows, labels), rows)


@case("lightgbm")
def lightgbm_text():
    from lightgbm import LGBMClassifier

    rows, labels = with_text(22)
    model = LGBMClassifier(
        n_estimators=50, num_leaves=15, min_child_samples=5, min_data_per_group=2, cat_smooth=1, max_cat_to_onehot=1,
        n_jobs=1, verbose=-1,
    )  # fmt: skip
    return Fitted(model.fit(rows, labels), rows)


@case("lightgbm")
def lightgbm_zero_as_missing():
    from lightgbm import LGBMClassifier

    rows, labels = numbers(23)
    rows[np.random.default_rng(23).random(rows.shape) < 0.2] = 0.0
    model = LGBMClassifier(n_estimators=40, min_child_samples=5, zero_as_missing=True, n_jobs=1, verbose=-1)
    return Fitted(model.fit(rows, labels), rows)


@case("lightgbm")
def lightgbm_booster_stopped_early():
    import lightgbm

    rows, labels = numbers(24)
    train = lightgbm.Dataset(rows[:300], labels[:300])
    test = lightgbm.Dataset(rows[300:], labels[300:], reference=train)
    settings = {"objective": "binary", "min_data_in_leaf": 5, "verbosity": -1, "num_threads": 1, "sigmoid": 0.7}
    stop = lightgbm.early_stopping(3, verbose=False)
    return Fitted(lightgbm.train(settings, train, 300, valid_sets=[test], callbacks=[stop]), rows, "call")


@case("lightgbm")
def lightgbm_forest():
    from lightgbm import LGBMClassifier

    rows, labels = numbers(25)
    model = LGBMClassifier(
        n_estimators=20, boosting_type="rf", subsample=0.6, subsample_freq=1, min_child_samples=5, n_jobs=1, verbose=-1
    )
    return Fitted(model.fit(rows, labels), rows)


@case("catboost")
def catboost_missing():
    from catboost import CatBoostClassifier

    rows, labels = with_missing(26)
    model = CatBoostClassifier(iterations=40, depth=4, nan_mode="Max", **_QUIET)
    return Fitted(model.fit(rows, labels), rows)


@case("catboost")
def catboost_text():
    from catboost import CatBoostClassifier

    rows, labels = with_text(27, categorical=False)
    model = CatBoostClassifier(iterations=40, depth=4, one_hot_max_size=20, cat_features=["c1", "c4"], **_QUIET)
    return Fitted(model.fit(rows, labels), rows)


@case("catboost")
def catboost_grown_by_leaf():
    from catboost import CatBoostClassifier

    rows, labels = numbers(28)
    model = CatBoostClassifier(iterations=40, max_leaves=12, grow_policy="Lossguide", **_QUIET)
    return Fitted(model.fit(rows, labels), rows)


_QUIET = {"verbose": 0, "allow_writing_files": False, "thread_count": 1, "random_seed": 0}
