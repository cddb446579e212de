"""Hostile XGBoost models: what compiled code would trust blindly is refused, and all else is written anew."""

import json

import numpy as np
import pytest
from files import hostile, zoo

from sev.exceptions import ArchiveError, SevError
from sev.files._models import model_from_bytes
from sev.libraries.xgboost import format as _xgboost
from sev.libraries.xgboost import ubjson as _ubjson


@pytest.fixture(scope="module")
def xgboost_model():
    return zoo.fitted("xgboost")[0]


def test_xgboost_models_are_written_anew_without_loss(xgboost_model):
    xgboost = pytest.importorskip("xgboost")
    rows, y = zoo.numbers(300)
    kinds = [{"booster": "dart", "max_depth": 3}, {"booster": "gblinear"}, {"num_parallel_tree": 2, "max_depth": 3}, {}]
    models = [xgboost.XGBClassifier(n_estimators=3, **one).fit(rows, y) for one in kinds]
    models.append(xgboost.XGBClassifier(n_estimators=3).fit(rows, np.digitize(rows[:, 0], [-0.5, 0.5])))
    for model in models:
        booster = model.get_booster()
        for data in (booster.save_raw("ubj"), booster.save_raw("json"), booster.__getstate__()["handle"]):
            checked, _ = _xgboost.checked_bytes(bytes(data))
            again = xgboost.Booster()
            again.load_model(bytearray(checked))
            np.testing.assert_array_equal(again.predict(xgboost.DMatrix(rows)), booster.predict(xgboost.DMatrix(rows)))
            assert again.save_raw("json") == booster.save_raw("json")


def test_xgboost_categories_are_written_anew_without_loss():
    xgboost = pytest.importorskip("xgboost")
    frame, _ = zoo.table(300)
    frame = frame.assign(home=frame["home"].astype("category"))
    model = xgboost.XGBClassifier(n_estimators=3, enable_categorical=True).fit(frame, frame["home"] == "own")
    checked, _ = _xgboost.checked_bytes(bytes(model.get_booster().save_raw("ubj")))
    assert bytes(checked) == bytes(model.get_booster().save_raw("ubj"))


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("left_children", [0, -1, -1], "reached twice|does not exist"),
        ("left_children", [10**6, -1, -1], "a node that does not exist"),
        ("right_children", [-5, -1, -1], "a node that does not exist"),
        ("right_children", [1, -1, -1], "reached twice|parent"),
        ("split_indices", [10**6, 0, 0], "a feature that does not exist"),
        ("split_type", [1, 0, 0], "categories"),
        ("parents", [2**31 - 1, 2, 0], "parent"),
        ("default_left", [7, 0, 0], "side"),
        ("sum_hessian", [1.0], "lengths are not the declared"),
    ],
)
@pytest.mark.parametrize("form", ["ubj", "json"])
def test_xgboost_trees_that_lead_nowhere_are_refused(xgboost_model, entry, value, message, form):
    document = json.loads(xgboost_model.get_booster().save_raw("json"))
    tree = document["learner"]["gradient_booster"]["model"]["trees"][1]
    value = value + tree[entry][3:] if len(value) == 3 else value
    if form == "json":
        tree[entry] = value
        data = json.dumps(document).encode()
    else:
        document = _ubjson.read(bytes(xgboost_model.get_booster().save_raw("ubj")))
        tree = document["learner"]["gradient_booster"]["model"]["trees"][1]
        tree[entry] = np.array(value, dtype=tree[entry].dtype)
        data = _ubjson.write(document)
    with pytest.raises(ArchiveError, match=message):
        model_from_bytes("xgboost", data)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("gradient_booster", "model", "tree_info"), [0, 9, 0, 0], "a class that does not exist"),
        (("gradient_booster", "model", "iteration_indptr"), [0, 1, 2, 3, 99], "rounds"),
        (("gradient_booster", "model", "trees", 2, "id"), 10**9, "number its trees"),
        (("learner_model_param", "num_feature"), "2", "does not exist|more features"),
        (("learner_model_param", "num_class"), "-1", "where a number is expected"),
        (("objective", "name"), "multi:softprob", "several classes"),
        (("gradient_booster", "name"), "gblinear", "cannot be read"),
    ],
)
def test_other_numbers_of_xgboost_are_checked(xgboost_model, path, value, message):
    document = json.loads(xgboost_model.get_booster().save_raw("json"))
    place = document["learner"]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(ArchiveError, match=message):
        model_from_bytes("xgboost", json.dumps(document).encode())


def test_xgboost_models_with_an_entry_twice_are_refused(xgboost_model):
    text = bytes(xgboost_model.get_booster().save_raw("json")).decode()
    twice = text.replace('"left_children":', '"left_children":[0],"left_children":', 1)
    with pytest.raises(ArchiveError, match="twice"):
        model_from_bytes("xgboost", twice.encode())


def test_cut_xgboost_models_are_refused(xgboost_model):
    data = bytes(xgboost_model.get_booster().save_raw("ubj"))
    for length in range(1, len(data), 97):
        with pytest.raises(ArchiveError):
            model_from_bytes("xgboost", data[:length])


def test_whatever_is_refused_is_refused_by_the_package(xgboost_model):
    """Errors of parsers do not come through as they are."""
    data = bytes(xgboost_model.get_booster().save_raw("ubj"))
    generator = hostile.seeded("errors", 0)
    refused = 0
    for _ in range(200):
        try:
            model_from_bytes("xgboost", hostile.changed_ubjson(data, generator))
        except SevError:
            refused += 1
    assert refused > 100
