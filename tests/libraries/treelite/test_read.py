"""treelite models against the definition by treelite's own predictor, and in files."""

import json
import pickle
import warnings

import numpy as np
import pytest
from cases import numbers
from sklearn import ensemble

import sev
from sev.exceptions import ArchiveError, FallbackWarning
from sev.files import load_model, save_model
from sev.libraries.treelite.files import model_from_bytes, model_to_bytes
from sev.testing import check_backend

treelite = pytest.importorskip("treelite", reason="treelite is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::sev.exceptions.ReferenceWarning")  # of models made by hand


def scores(model, rows):
    """The model's own scores, apart from the package."""
    return treelite.gtil.predict(model, np.asarray(rows, dtype=model.input_type), nthread=1)[:, 0, -1].astype(float)


def with_missing():
    X, y = numbers()
    X = X.copy()
    X[np.random.default_rng(5).random(X.shape) < 0.15] = np.nan
    return X, y


def with_categories():
    X, y = numbers()
    X = X.copy()
    X[:, :2] += 2  # codes from 0 to 4
    return X, np.where(X[:, 0] == 3, 1 - y, y)


def from_sklearn(make):
    def build():
        X, y = numbers()
        return treelite.sklearn.import_model(make().fit(X, y)), X, y

    return build


def from_xgboost():
    xgboost = pytest.importorskip("xgboost")
    X, y = with_missing()
    options = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1}
    return treelite.frontend.from_xgboost(xgboost.train(options, xgboost.DMatrix(X, y), 15)), X, y


def from_xgboost_with_categories():
    xgboost = pytest.importorskip("xgboost")
    X, y = with_categories()
    data = xgboost.DMatrix(X, y, feature_types=["c", "c", "q", "q", "q", "q"], enable_categorical=True)
    options = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1, "max_cat_to_onehot": 1}
    return treelite.frontend.from_xgboost(xgboost.train(options, data, 15)), X, y


def from_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = with_categories()
    X[np.random.default_rng(5).random(X.shape) < 0.1] = np.nan
    options = {"objective": "binary", "num_threads": 1, "verbose": -1, "min_data_per_group": 1, "cat_smooth": 0}
    booster = lightgbm.train(options, lightgbm.Dataset(X, y, categorical_feature=[0, 1]), 15)
    return treelite.frontend.from_lightgbm(booster), X, y


def from_hist_boosting():
    X, y = with_missing()
    return treelite.sklearn.import_model(ensemble.HistGradientBoostingClassifier(max_iter=12).fit(X, y)), X, y


def by_hand(comparisons=("<", "<=", ">", ">="), leaves=(-1.0, 1.5), averaged=False):
    """One stump for each comparison at a value that rows have, and stumps of categories on both sides."""
    builders = treelite.model_builder
    n_trees = len(comparisons) + 2
    builder = builders.ModelBuilder(
        threshold_type="float32",
        leaf_output_type="float32",
        metadata=builders.Metadata(6, "kBinaryClf", averaged, 1, [1], (1, 1)),
        tree_annotation=builders.TreeAnnotation(n_trees, [0] * n_trees, [0] * n_trees),
        postprocessor=builders.PostProcessorFunc("sigmoid", sigmoid_alpha=0.7),
        base_scores=[-2.5 / (n_trees if averaged else 1)],
    )
    for number in range(n_trees):
        builder.start_tree()
        builder.start_node(0)
        common = {"default_left": number % 2 == 0, "left_child_key": 1, "right_child_key": 2}
        if number < len(comparisons):
            builder.numerical_test(feature_id=2 + number, threshold=1.0, opname=comparisons[number], **common)
        else:
            right = number == n_trees - 1
            builder.categorical_test(
                feature_id=number - len(comparisons), category_list=[0, 3], category_list_right_child=right, **common
            )
        builder.end_node()
        for key, value in enumerate(leaves, start=1):
            builder.start_node(key)
            builder.leaf(value * (1.0 + 0.3 * number))
            builder.end_node()
        builder.end_tree()
    X, _ = with_categories()
    X[np.random.default_rng(6).random(X.shape) < 0.1] = np.nan
    X[::17, 0] = -0.5  # below zero is no category
    model = builder.commit()
    return model, X, scores(model, X) >= 0.5


CASES = {
    "random forest": from_sklearn(lambda: ensemble.RandomForestClassifier(10, max_depth=4, random_state=0)),
    "extra trees": from_sklearn(lambda: ensemble.ExtraTreesClassifier(10, max_depth=4, random_state=0)),
    "boosting": from_sklearn(lambda: ensemble.GradientBoostingClassifier(n_estimators=12, random_state=0)),
    "hist boosting": from_hist_boosting,
    "xgboost": from_xgboost,
    "xgboost, categories": from_xgboost_with_categories,
    "lightgbm": from_lightgbm,
    "by hand": by_hand,
    "by hand, averaged": lambda: by_hand(averaged=True),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]()


def test_answers_equal_the_definition(case):
    model, X, y = case
    assert sev.Explainer(model, X, y).backend == "trees"
    assert check_backend(model, X, y) > 30


def test_scores_are_those_of_the_predictor(case):
    model, X, y = case
    many = sev.Explainer(model, X, y).explain(X)
    np.testing.assert_array_equal(many.scores, scores(model, X))


def test_a_file_holds_the_same_model(case, tmp_path):
    model, X, y = case
    explainer = sev.Explainer(model, X, y)
    explainer.save(tmp_path / "model.sev")
    loaded = sev.load(tmp_path / "model.sev")
    assert loaded.backend == "trees"
    np.testing.assert_array_equal(scores(loaded.model, X), scores(model, X))
    assert model_to_bytes(model_from_bytes(model_to_bytes(loaded.model))) == model_to_bytes(loaded.model)
    save_model(model, tmp_path / "model.treelite")
    np.testing.assert_array_equal(scores(load_model(tmp_path / "model.treelite"), X), scores(model, X))
    np.testing.assert_array_equal(scores(pickle.loads(pickle.dumps(explainer)).model, X), scores(model, X))


def test_what_is_not_a_sum_of_one_score_is_a_black_box():
    model, X, y = by_hand(comparisons=("==", "<"))
    with pytest.warns(FallbackWarning, match="equality"):
        explainer = sev.Explainer(model, X, y)
    assert explainer.backend == "black box"
    many = explainer.explain(X[:40])
    np.testing.assert_array_equal(many.scores, scores(model, X[:40]))


def test_three_classes_are_a_black_box():
    X, y = numbers()
    forest = ensemble.RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y + (X[:, 0] > 1))
    with pytest.warns(FallbackWarning, match="3 classes"):
        explainer = sev.Explainer(treelite.sklearn.import_model(forest), X, y, target=1)
    assert explainer.backend == "black box"


def changed(path, value):
    document = json.loads(model_to_bytes(by_hand()[0]))
    *before, last = path
    place = document
    for step in before:
        place = place[step]
    place[last] = value
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("num_feature",), [1]),
        (("num_feature",), [1 << 40]),
        (("num_feature",), ["6"]),
        (("num_class",), [2]),
        (("num_target",), [2]),
        (("task_type",), [9]),
        (("class_id",), [0] * 5),
        (("class_id",), [0, 0, 0, 0, 0, 7]),
        (("target_id",), [0, 0, 0, 0, 0, -1]),
        (("leaf_vector_shape",), [1, 9]),
        (("base_scores",), [0.0, 1.0]),
        (("base_scores",), [float("nan")]),
        (("type",), "int8"),
        (("postprocessor",), "system"),
        (("trees", 0, "node_type"), []),
        (("trees", 0, "node_type", 0), 3),
        (("trees", 0, "node_type", 0), 0),
        (("trees", 0, "cleft", 0), 0),
        (("trees", 0, "cleft", 0), 2),
        (("trees", 0, "cright", 0), 99),
        (("trees", 0, "cright", 1), 1),
        (("trees", 0, "split_index", 0), -1),
        (("trees", 0, "split_index", 0), 6),
        (("trees", 0, "threshold", 0), float("nan")),
        (("trees", 0, "cmp", 0), 6),
        (("trees", 0, "leaf_value", 1), float("inf")),
        (("trees", 0, "leaf_value", 1), "x"),
        (("trees", 4, "category_list"), [-1, 2]),
        (("trees", 4, "category_list"), [1]),
        (("trees", 4, "category_list_begin", 0), 7),
    ],
)
def test_damaged_files_are_refused(path, value):
    with pytest.raises(ArchiveError, match="treelite model"):
        model_from_bytes(changed(path, value))


def test_the_binary_format_is_refused():
    with pytest.raises(ArchiveError, match="treelite model"):
        model_from_bytes(by_hand()[0].serialize_bytes())


def test_files_changed_at_random_are_refused_or_predict():
    X = by_hand()[1]
    data = model_to_bytes(by_hand()[0])
    generator = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        damaged = bytearray(data)
        for place in generator.integers(0, len(data), 2):
            damaged[place] = int(generator.choice(list(b'0123456789-.,[]{}"e')))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numbers that overflow in float32
            try:
                model = model_from_bytes(bytes(damaged))
            except ArchiveError:
                refused += 1
                continue
            scores(model, X[:, : model.num_feature] if model.num_feature < 6 else X)
    assert 20 < refused < 300
