"""Hostile LightGBM texts: what compiled code would trust blindly is refused, and all else is written anew."""

import json

import numpy as np
import pytest
from files import hostile, zoo

from sev.exceptions import ArchiveError
from sev.files._models import model_from_bytes, model_to_bytes
from sev.libraries.lightgbm import format as _lightgbm


@pytest.fixture(scope="module")
def lightgbm_text():
    return zoo.fitted("lightgbm")[0].booster_.model_to_string()


def test_a_lightgbm_text_is_written_anew_without_loss(lightgbm_text):
    lightgbm = pytest.importorskip("lightgbm")
    rows, y = zoo.numbers(300)
    kinds = [{}, {"linear_tree": True}, {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}]
    kinds += [{"monotone_constraints": [1, 0, -1]}, {"boosting_type": "dart"}, {"min_child_samples": 10**4}]
    models = [lightgbm.LGBMClassifier(n_estimators=4, num_leaves=5, verbose=-1, **one).fit(rows, y) for one in kinds]
    models.append(lightgbm.LGBMClassifier(n_estimators=3, verbose=-1).fit(rows, np.digitize(rows[:, 0], [-0.5, 0.5])))
    for model in models:
        text = model.booster_.model_to_string()
        again = lightgbm.Booster(model_str=_lightgbm.checked_text(text))
        np.testing.assert_array_equal(again.predict(rows), model.booster_.predict(rows))
        assert again.model_to_string() == lightgbm.Booster(model_str=text).model_to_string()


def test_lightgbm_categories_are_written_anew_without_loss():
    lightgbm = pytest.importorskip("lightgbm")
    frame, _ = zoo.table(300)
    frame = frame[["home", "age"]].astype({"home": "category"})
    model = lightgbm.LGBMClassifier(n_estimators=4, verbose=-1, min_child_samples=2).fit(frame, frame["home"] == "own")
    text = model.booster_.model_to_string()
    assert "cat_threshold" in text
    again = lightgbm.Booster(model_str=_lightgbm.checked_text(text))
    np.testing.assert_array_equal(again.predict(frame), model.booster_.predict(frame))
    for old, new in (("num_cat=1", "num_cat=2"), ("cat_boundaries=0 1", "cat_boundaries=0 9")):
        with pytest.raises(ArchiveError, match="categories"):
            _lightgbm.checked_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("left_child", lambda values: [*values[:-1], "9999999"]),
        ("left_child", lambda values: ["0", *values[1:]]),
        ("left_child", lambda values: ["-9999", *values[1:]]),
        ("right_child", lambda values: [*values, "0"]),
        ("split_feature", lambda values: ["3", *values[1:]]),
        ("decision_type", lambda values: ["3", *values[1:]]),
        ("leaf_value", lambda values: values[1:]),
        ("num_leaves", lambda values: ["1000000"]),
        ("max_feature_idx", lambda values: ["0"]),
        ("objective", lambda values: ["multiclass", "num_class:100000"]),
    ],
)
@pytest.mark.parametrize("disguise", ["{key}={values}", "{key}= {values}", "{key} ={values}", "{key}={values}\r"])
def test_lightgbm_trees_that_lead_nowhere_are_refused_however_they_are_written(lightgbm_text, key, change, disguise):
    lines = lightgbm_text.split("\n")
    place = next(number for number, line in enumerate(lines) if line.startswith(f"{key}="))
    values = change(lines[place].partition("=")[2].split(" "))
    lines[place] = disguise.format(key=key, values=" ".join(values))
    with pytest.raises(ArchiveError, match="LightGBM"):
        _lightgbm.checked_text("\n".join(lines))


def test_a_second_list_cannot_replace_the_first(lightgbm_text):
    first = lightgbm_text.index("left_child=")
    with pytest.raises(ArchiveError, match="damaged at 'left_child"):
        _lightgbm.checked_text(f"{lightgbm_text[:first]}left_child=0 0 0\n{lightgbm_text[first:]}")


def test_a_lightgbm_text_inside_a_model_is_checked_after_it_is_parsed():
    """JSON has many ways to write one text."""
    model, _, _ = zoo.fitted("lightgbm")
    members = hostile.unzip(model_to_bytes(model, allow_pickle=False)[1])
    schema = json.loads(members["schema.json"])
    [node] = [one for one in hostile.nodes(schema) if str(one.get("content", "")).startswith('"tree\\n')]
    text = json.loads(node["content"]).replace("split_feature=", "split_feature=9", 1)
    node["content"] = '"\\u0074ree' + json.dumps(text)[5:]
    members["schema.json"] = json.dumps(schema).encode()
    with pytest.raises(ArchiveError, match="LightGBM"):
        model_from_bytes("skops", hostile.zipped(members))
