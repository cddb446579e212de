import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import show_cases as cases
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from sev.explainers._hashing import model_hash, table_hash


def _fitted(name):
    rows, labels = cases.loans()
    return {
        "pipeline": lambda: cases.loan_model(),
        "forest": lambda: RandomForestClassifier(5, random_state=0).fit(rows, labels),
        "boosted": lambda: GradientBoostingClassifier(n_estimators=5, random_state=0).fit(rows, labels),
        "histogram": lambda: HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(rows, labels),
        "network": lambda: MLPClassifier((4,), max_iter=2000, random_state=0, tol=0.1).fit(rows / 1000, labels),
    }[name]()


@pytest.mark.parametrize("name", ["pipeline", "forest", "boosted", "histogram", "network"])
def test_a_copy_has_the_same_hash_and_use_does_not_change_it(name):
    model = _fitted(name)
    before = model_hash(model)
    model.predict_proba(cases.loans()[0])
    copy = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(model))))
    assert before is not None
    assert model_hash(model) == model_hash(copy) == before


@pytest.mark.parametrize("name", ["pipeline", "forest", "boosted"])
def test_another_process_gives_the_same_hash(name):
    code = f"from test_hashing import _fitted, model_hash; print(model_hash(_fitted({name!r})))"
    folders = [path.rpartition("/")[0] for path in (cases.__file__, __file__)]
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": ":".join([*folders, *sys.path]), "PYTHONHASHSEED": "11"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == model_hash(_fitted(name))


def test_a_changed_model_has_another_hash():
    rows, labels = cases.loans()
    model = LogisticRegression(max_iter=5000).fit(rows, labels)
    before = model_hash(model)
    model.coef_[0, 0] = np.nextafter(model.coef_[0, 0], 1.0)
    assert model_hash(model) != before


def test_a_changed_tree_has_another_hash():
    model = _fitted("forest")
    state = model.estimators_[0].tree_.__getstate__()
    nodes = state["nodes"].copy()
    nodes["threshold"][0] += 1.0
    other = {**state, "nodes": nodes}
    assert model_hash(state) == model_hash({**state, "nodes": state["nodes"].copy()})
    assert model_hash(other) != model_hash(state)


def test_sets_and_maps_have_no_order():
    names = [f"name {number}" for number in range(50)]
    backwards = names[::-1]
    assert model_hash(set(names)) == model_hash(set(backwards))
    assert model_hash(dict.fromkeys(names)) == model_hash(dict.fromkeys(backwards))
    assert model_hash(set(names)) != model_hash(set(names[1:]))


def test_functions_are_hashed_by_what_they_do():
    def made(weight):
        return lambda rows: np.asarray(rows) @ np.array([weight, 1.0])

    assert model_hash(made(1.0)) == model_hash(made(1.0))
    assert model_hash(made(1.0)) != model_hash(made(2.0))


def test_a_model_that_holds_itself_is_hashed():
    model = {"a": 1}
    model["self"] = model
    assert model_hash(model) is not None


def test_a_model_without_a_readable_state_has_none():
    assert model_hash(number for number in range(3)) is None


@pytest.mark.parametrize(
    "other",
    [
        pd.DataFrame({"a": [1.0, np.nan], "b": ["x", "y"]}).iloc[::-1],
        pd.DataFrame({"a": [1.0, np.nan], "c": ["x", "y"]}),
        pd.DataFrame({"a": [1.0, 0.0], "b": ["x", "y"]}),
        pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None]}),
        pd.DataFrame({"a": pd.Series([1.0, np.nan], dtype="float32"), "b": ["x", "y"]}),
    ],
)
def test_tables_that_differ_have_different_hashes(other):
    assert table_hash(other) != table_hash(pd.DataFrame({"a": [1.0, np.nan], "b": ["x", "y"]}))
