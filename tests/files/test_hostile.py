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

from sev.exceptions import ArchiveError, UntrustedTypeError
from sev.files import _trusted
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


@pytest.mark.skipif(os.name != "posix", reason="limits memory")
def test_changed_files_of_every_trusted_type_never_end_or_hang_the_process():
    """One pass over all models, which take longest to fit. A type on the list that no model holds fails here, too."""
    campaign = fuzz.Campaign(fuzz.every_name(), CASES).run()
    assert campaign.crashes == []
    assert campaign.ran >= CASES * 200
    # enough are refused, and enough get far enough to be used
    assert 0.1 * campaign.ran < campaign.loaded < 0.9 * campaign.ran
    attacked = campaign.types
    for data in further_files():
        model_from_bytes("skops", data)
        attacked |= hostile.names_in(data)
    trusted = set(_trusted.OBJECTS) | set(_trusted.FUNCTIONS) | set(zoo.estimator_names()) | {"sklearn.tree._tree.Tree"}
    missing = {name for name in trusted - attacked if exists(name)}
    assert missing == set()
    assert len(attacked & trusted) > 150


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
    with pytest.raises(ArchiveError, match="replaces its own method predict_proba"):
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
    with pytest.raises(ArchiveError, match="treats a numeric column as categories"):
        model_from_bytes("skops", changed_state(model))


@pytest.mark.parametrize("name", ["forest", "extra trees", "boosting", "tree"])
def test_trees_of_other_features_than_their_ensemble_are_refused(name):
    """The ensemble checks the rows, and hands them to trees that no longer do."""
    model, _, _ = zoo.fitted(name)
    with pytest.raises(ArchiveError, match="different number of features"):
        model_from_bytes("skops", changed_state(model, n_features_in_=2))


def test_boosting_whose_first_predictions_have_fewer_columns_is_refused():
    model, _, _ = zoo.fitted("boosting of three")
    model.init_.class_prior_ = model.init_.class_prior_[:1]
    with pytest.raises(ArchiveError, match="do not fit together"):
        model_from_bytes("skops", changed_state(model))
    model = GradientBoostingClassifier(n_estimators=2).fit(*zoo.numbers())
    model.estimators_[1, 0].tree_ = None
    with pytest.raises(ArchiveError, match="different number of features"):
        model_from_bytes("skops", changed_state(model))


def test_isolation_forests_with_other_features_are_refused():
    model = IsolationForest(n_estimators=3, max_features=2).fit(zoo.numbers()[0])
    model_from_bytes("skops", changed_state(model))
    with pytest.raises(ArchiveError, match="do not fit together"):
        model_from_bytes("skops", changed_state(model, _max_features=3))


def test_labels_out_of_range_are_refused():
    model, _, _ = zoo.fitted("brute neighbours")
    model._y[3] = 10**6
    with pytest.raises(ArchiveError, match="labels refer to classes that do not exist"):
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
    with pytest.raises(ArchiveError, match=r"columns do not fit|each have a column"):
        model_from_bytes("skops", changed_state(model))


def test_random_generators_inside_their_buffers_only():
    generator = np.random.RandomState(0)
    state = generator.get_state(legacy=False)
    from sev.files._random import random_state_from_state

    assert random_state_from_state(state).rand() == generator.rand()
    state["state"]["pos"] = 10**6
    with pytest.raises(ArchiveError, match="damaged"):
        random_state_from_state(state)
