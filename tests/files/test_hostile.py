"""Hostile model files: each trusted type is attacked, and what compiled code would trust blindly is refused."""

import importlib
import io
import json
import os

import numpy as np
import pytest
from files import fuzz, hostile, zoo
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from sev.exceptions import ArchiveError, SevError, UntrustedTypeError
from sev.files import _lightgbm, _trusted, _ubjson, _xgboost
from sev.files._models import model_from_bytes, model_to_bytes

#: Files for each model that is attacked; more when asked.
CASES = int(os.environ.get("SEV_HOSTILE_CASES", "3"))


def held(*values):
    """A file of a model that holds some values beside its own."""
    import skops.io

    model = LogisticRegression()
    model.extra_ = list(values)
    return skops.io.dumps(model)


def further_files():
    """Files with trusted types that fitted models of the zoo do not happen to hold."""
    from sklearn import metrics
    from sklearn._loss import link, loss
    from sklearn.gaussian_process.kernels import RBF, CompoundKernel
    from sklearn.metrics._scorer import _PassthroughScorer

    losses = [loss.AbsoluteError(), loss.ExponentialLoss(), loss.HalfGammaLoss(), loss.HalfPoissonLoss()]
    losses += [loss.HalfSquaredError(), loss.HuberLoss(), loss.PinballLoss()]
    links = [link.HalfLogitLink(), link.IdentityLink(), link.LogLink()]
    yield held(*losses, *links)
    yield held(CompoundKernel([RBF()]), _PassthroughScorer(LogisticRegression()))
    yield held(np.mean, metrics.roc_auc_score, metrics.accuracy_score, metrics.balanced_accuracy_score)
    yield held(np.bool_(True), {1.5: 1, 2: 3}, {"a"}, slice(1), np.dtype("f4"), np.number)


def exists(name):
    module, _, kind = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), kind)
    except ImportError:
        return False


def test_every_trusted_type_is_attacked():
    """A type that is put on the list without a model that holds it fails here."""
    attacked = set()
    for name in fuzz.every_name():
        if not name.startswith("raw "):
            attacked |= hostile.names_in(fuzz.target(name)[1])
    for data in further_files():
        model_from_bytes("skops", data)
        attacked |= hostile.names_in(data)
    trusted = set(_trusted.OBJECTS) | set(_trusted.FUNCTIONS) | set(zoo.estimator_names()) | {"sklearn.tree._tree.Tree"}
    missing = {name for name in trusted - attacked if exists(name)}
    assert missing == set()
    assert len(attacked & trusted) > 150


@pytest.mark.skipif(os.name != "posix", reason="limits memory")
def test_changed_files_never_end_or_hang_the_process():
    campaign = fuzz.Campaign(fuzz.every_name(), CASES).run()
    assert campaign.crashes == []
    assert campaign.ran >= CASES * 200
    # enough are refused, and enough get far enough to be used
    assert 0.1 * campaign.ran < campaign.loaded < 0.9 * campaign.ran


# -- kinds of nodes ----------------------------------------------------------------------------------------------------


def with_node(**node):
    """A file of a model one of whose values is a given node."""
    data = held("here")
    members = hostile.unzip(data)
    schema = json.loads(members["schema.json"])
    [target] = [one for one in hostile.nodes(schema) if one.get("content") == '"here"']
    target.clear()
    target.update(node)
    members["schema.json"] = json.dumps(schema).encode()
    return hostile.zipped(members)


def plain(value):
    return {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": json.dumps(value)}


def listed(*values, kind="list"):
    loader = {"list": "ListNode", "tuple": "TupleNode"}[kind]
    return {
        "__class__": kind,
        "__module__": "builtins",
        "__loader__": loader,
        "content": [plain(one) for one in values],
    }


@pytest.mark.parametrize(
    "name",
    [
        "lightgbm.basic.Booster",
        "xgboost.core.Booster",
        "catboost.core.CatBoost",
        "sklearn.tree._tree.Tree",
        "numpy.mean",
    ],
)
@pytest.mark.parametrize("loader", ["ConstructorFromReduceNode", "ListNode", "SetNode", "NdArrayNode", "TypeNode"])
def test_a_trusted_name_in_another_kind_of_node_is_refused(name, loader, tmp_path):
    """Its constructor would be called with whatever the file says, such as the name of a file to open."""
    module, _, kind = name.rpartition(".")
    content = listed(None, None, str(tmp_path / "pipe"), kind="tuple")
    data = with_node(__class__=kind, __module__=module, __loader__=loader, content=content)
    with pytest.raises(UntrustedTypeError, match=kind):
        model_from_bytes("skops", data)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_no_state_makes_a_booster_open_a_file(tmp_path):
    """A pipe that nobody writes to would hang the load."""
    os.mkfifo(tmp_path / "pipe")
    for package, kind in (("lightgbm.basic", "Booster"), ("xgboost.core", "Booster"), ("catboost.core", "CatBoost")):
        for key in ("model_file", "_handle", "handle", "__model", "params"):
            state = {
                "__class__": "dict",
                "__module__": "builtins",
                "__loader__": "DictNode",
                "content": {key: plain(str(tmp_path / "pipe"))},
                "key_types": {
                    **listed(),
                    "content": [{"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}],
                },
            }
            data = with_node(__class__=kind, __module__=package, __loader__="ObjectNode", content=state)
            with pytest.raises(ArchiveError, match=r"cannot be read|cut off"):
                model_from_bytes("skops", data)


def changed_state(model, **attributes):
    """The file of a model with some of its attributes changed."""
    for name, value in attributes.items():
        setattr(model, name, value)
    import skops.io

    return skops.io.dumps(model)


@pytest.mark.parametrize("name", ["words", "weighted words"])
def test_vectorizers_that_open_files_are_refused(name):
    model, _, _ = zoo.fitted(name)
    inner = model[0].named_transformers_["w"]
    for what in ("filename", "file"):
        inner.input = what
        with pytest.raises(ArchiveError, match="that opens files"):
            model_from_bytes("skops", changed_state(model))
    inner.input, inner.token_pattern = "content", "(a+)+b"
    with pytest.raises(ArchiveError, match="token_pattern"):
        model_from_bytes("skops", changed_state(model))


def test_methods_cannot_be_replaced():
    model = LogisticRegression().fit(*zoo.numbers())
    with pytest.raises(ArchiveError, match="predict_proba is replaced"):
        model_from_bytes("skops", changed_state(model, predict_proba=np.abs))


@pytest.mark.parametrize(("asked", "given"), [(10**6, os.cpu_count()), (-1, -1), (2, 2), (None, None)])
def test_models_get_no_more_threads_than_there_are(asked, given):
    model = LogisticRegression().fit(*zoo.numbers())
    assert model_from_bytes("skops", changed_state(model, n_jobs=asked)).n_jobs == given
    with pytest.raises(ArchiveError, match="n_jobs=many"):
        model_from_bytes("skops", changed_state(model, n_jobs="many"))


def test_one_vs_rest_whose_parts_predict_more_than_one_value_is_refused():
    """It would write their predictions beyond the end of a sparse table."""
    model = OneVsRestClassifier(LogisticRegression()).fit(*zoo.numbers())
    model_from_bytes("skops", changed_state(model))
    model.estimators_[0].coef_ = np.ones((2, 3))
    with pytest.raises(ArchiveError, match="more than one value"):
        model_from_bytes("skops", changed_state(model))


# -- scikit-learn ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kd tree", "kd tree, manhattan", "ball tree"])
def test_search_trees_are_grown_again(name):
    """Numbers in their nodes do not matter: they are not read."""
    model, rows, _ = zoo.fitted(name)
    data = model_to_bytes(model, allow_pickle=False)[1]
    members = hostile.unzip(data)
    for file, content in members.items():
        if file.endswith(".npy"):
            array = np.load(io.BytesIO(content))
            if array.dtype.names or (array.dtype == np.int64 and array.size > 120 - 1 and array.max() == 119):
                wild = array.copy()
                wild[wild.dtype.names[0] if wild.dtype.names else slice(None)] = 2**40
                buffer = io.BytesIO()
                np.save(buffer, wild)
                members[file] = buffer.getvalue()
    read = model_from_bytes("skops", hostile.zipped(members))
    np.testing.assert_array_equal(read.predict_proba(rows), model.predict_proba(rows))


def test_histogram_trees_with_features_out_of_range_are_refused():
    model = HistGradientBoostingClassifier(max_iter=2).fit(*zoo.numbers())
    inner = np.flatnonzero(~model._predictors[1][0].nodes["is_leaf"].astype(bool))
    model._predictors[1][0].nodes["feature_idx"][inner[0]] = 10**6
    with pytest.raises(ArchiveError, match="a feature that does not exist"):
        model_from_bytes("skops", changed_state(model))


def test_histogram_trees_that_take_numbers_for_categories_are_refused():
    model = HistGradientBoostingClassifier(max_iter=2).fit(*zoo.numbers())
    predictor = model._predictors[1][0]
    predictor.nodes["is_categorical"][0] = 1
    predictor.raw_left_cat_bitsets = predictor.binned_left_cat_bitsets = np.zeros((1, 8), dtype=np.uint32)
    with pytest.raises(ArchiveError, match="a number for a category"):
        model_from_bytes("skops", changed_state(model))


@pytest.mark.parametrize("name", ["forest", "extra trees", "boosting", "tree"])
def test_trees_of_other_features_than_their_ensemble_are_refused(name):
    """The ensemble checks the rows, and hands them to trees that no longer do."""
    model, _, _ = zoo.fitted(name)
    with pytest.raises(ArchiveError, match="other features"):
        model_from_bytes("skops", changed_state(model, n_features_in_=2))


def test_boosting_whose_first_predictions_have_fewer_columns_is_refused():
    model, _, _ = zoo.fitted("boosting of three")
    model.init_.class_prior_ = model.init_.class_prior_[:1]
    with pytest.raises(ArchiveError, match="do not fit together"):
        model_from_bytes("skops", changed_state(model))
    model = GradientBoostingClassifier(n_estimators=2).fit(*zoo.numbers())
    model.estimators_[1, 0].tree_ = None
    with pytest.raises(ArchiveError, match="other features"):
        model_from_bytes("skops", changed_state(model))


def test_isolation_forests_with_other_features_are_refused():
    model = IsolationForest(n_estimators=3, max_features=2).fit(zoo.numbers()[0])
    model_from_bytes("skops", changed_state(model))
    with pytest.raises(ArchiveError, match="do not fit together"):
        model_from_bytes("skops", changed_state(model, _max_features=3))


def test_labels_out_of_range_are_refused():
    model, _, _ = zoo.fitted("brute neighbours")
    model._y[3] = 10**6
    with pytest.raises(ArchiveError, match="labels that are not classes"):
        model_from_bytes("skops", changed_state(model))


def test_support_vectors_of_another_number_are_refused():
    model, _, _ = zoo.fitted("vectors of three")
    with pytest.raises(ArchiveError, match="do not fit together"):
        model_from_bytes("skops", changed_state(model, _n_support=model._n_support * 1000))


@pytest.mark.parametrize(
    ("name", "attribute", "change"),
    [
        ("linear", "_n_features_outs", lambda value: [1]),
        ("words", "vocabulary_", lambda value: {word: place * 10**6 for word, place in value.items()}),
    ],
)
def test_positions_in_sparse_tables_are_checked(name, attribute, change):
    model, _, _ = zoo.fitted(name)
    inner = model[0].named_transformers_["w" if name == "words" else "onehotencoder"]
    setattr(inner, attribute, change(getattr(inner, attribute)))
    with pytest.raises(ArchiveError, match=r"columns do not fit|a column each"):
        model_from_bytes("skops", changed_state(model))


def test_random_generators_inside_their_buffers_only():
    generator = np.random.RandomState(0)
    state = generator.get_state(legacy=False)
    from sev.files._random import random_state_from_state

    assert random_state_from_state(state).rand() == generator.rand()
    state["state"]["pos"] = 10**6
    with pytest.raises(ArchiveError, match="damaged"):
        random_state_from_state(state)


# -- LightGBM ----------------------------------------------------------------------------------------------------------


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


# -- XGBoost -----------------------------------------------------------------------------------------------------------


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
        ("left_children", [0, -1, -1], "circle|nowhere"),
        ("left_children", [10**6, -1, -1], "nowhere"),
        ("right_children", [-5, -1, -1], "nowhere"),
        ("right_children", [1, -1, -1], "circle|parent"),
        ("split_indices", [10**6, 0, 0], "a feature that does not exist"),
        ("split_type", [1, 0, 0], "categories"),
        ("parents", [2**31 - 1, 2, 0], "parent"),
        ("default_left", [7, 0, 0], "side"),
        ("sum_hessian", [1.0], "another length"),
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
        (("gradient_booster", "model", "trees", 2, "id"), 10**9, "other numbers"),
        (("learner_model_param", "num_feature"), "2", "does not exist|other features"),
        (("learner_model_param", "num_class"), "-1", "where a number is expected"),
        (("objective", "name"), "multi:softprob", "many classes"),
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


# -- CatBoost ----------------------------------------------------------------------------------------------------------


def test_catboost_splits_that_do_not_exist_are_refused():
    model, rows, _ = zoo.fitted("catboost")
    data = model._serialize_model()
    read = model_from_bytes("catboost", data)
    np.testing.assert_array_equal(read.predict_proba(rows), model.predict_proba(rows))
    from sev.files import _catboost, _flatbuffer

    core = data[8:]
    trees = _flatbuffer.Table.root(core).table(_catboost._CORE_TREES)
    start, count = trees._vector(_catboost._SPLITS, 4)
    assert count == 8
    refused = 0
    for place in range(start, start + 4 * count, 4):
        for value in (10**6, -1):
            changed = bytearray(data)
            changed[8 + place : 12 + place] = value.to_bytes(4, "little", signed=True)
            with pytest.raises(ArchiveError, match="a split that does not exist"):
                model_from_bytes("catboost", bytes(changed))
            refused += 1
    assert refused == 16


def test_catboost_statistics_of_categories_are_checked():
    """Tables of hashes follow the trees: a wrong place in one reads foreign memory, a full one is searched for ever."""
    model, rows, _ = zoo.fitted("catboost with categories")
    data = model._serialize_model()
    assert b"static_provider_v1" in data
    read = model_from_bytes("catboost", data)
    np.testing.assert_array_equal(read.predict_proba(rows), model.predict_proba(rows))
    end = 8 + int.from_bytes(data[4:8], "little")
    bucket = data.index(b"\xff" * 8, end)  # an empty bucket of the first table
    wild = bytearray(data)
    wild[bucket : bucket + 12] = (7).to_bytes(8, "little") + (10**6).to_bytes(4, "little")
    full = data[:end] + data[end:].replace(b"\xff" * 8, b"\x01" * 8)
    for changed in (bytes(wild), full):
        with pytest.raises(ArchiveError, match="a table of hashes that leads nowhere"):
            model_from_bytes("catboost", changed)
    with pytest.raises(ArchiveError, match=r"cut off|after its end|damaged|leads outside"):
        model_from_bytes("catboost", data[:-5])


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
