"""Estimators of scikit-learn after they have been put together: what compiled code takes from them without a look.

Each check is for a base class and is run for all of its subclasses. Most of scikit-learn computes with numpy, which
checks for itself; the ones here hand numbers of their state to compiled code as positions in other arrays, or open
files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from sev.exceptions import ArchiveError
from sev.libraries.sklearn.files import check_children, check_split_features

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


_LARGEST_HASH = 1 << 24
_METRIC_OPTIONS = {"p", "w", "V", "VI"}
_MOST_REPEATS = 6


def check(model: object) -> None:
    """Refuse an object whose parts do not fit together."""
    names = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(model).__mro__}
    for name in names & set(_CHECKS):
        _CHECKS[name](model)


def _make_error(model: BaseEstimator, what: str) -> ArchiveError:
    return ArchiveError(f"The model holds a {type(model).__name__} {what}.")


def _read_attribute(model: BaseEstimator, name: str) -> Any:
    """An attribute that is in the state, None if it is not: properties and class attributes do not count."""
    return model.__dict__.get(name)


def _n_features(model: BaseEstimator) -> int:
    n_features = _read_attribute(model, "n_features_in_")
    if not isinstance(n_features, (int, np.integer)) or n_features < 1:
        raise _make_error(model, "that does not state its number of features")
    return int(n_features)


# -- trees and ensembles -----------------------------------------------------------------------------------------------


def _check_decision_tree(model: BaseEstimator) -> None:
    from sklearn.tree._tree import Tree

    inner = _read_attribute(model, "tree_")
    if inner is not None and (type(inner) is not Tree or inner.n_features != _n_features(model)):
        raise _make_error(model, "whose tree has a different number of features")


def _check_fitted_trees(model: BaseEstimator, estimators: Iterable[BaseEstimator], n_features: int) -> None:
    from sklearn.tree import BaseDecisionTree

    for one in estimators:
        inner = one.__dict__.get("tree_") if isinstance(one, BaseDecisionTree) else None
        if inner is None or inner.n_features != n_features:
            raise _make_error(model, "whose trees have a different number of features")


def _check_forest(model: BaseEstimator) -> None:
    estimators = _read_attribute(model, "estimators_")
    if estimators is None:
        return
    if not isinstance(estimators, list):
        raise _make_error(model, "whose trees are not a list")
    _check_fitted_trees(model, estimators, _n_features(model))


def _check_isolation_forest(model: BaseEstimator) -> None:
    estimators, chosen = _read_attribute(model, "estimators_"), _read_attribute(model, "estimators_features_")
    if estimators is None:
        return
    most = _read_attribute(model, "_max_features")
    lists = [np.asarray(features) for features in chosen or ()]
    if not isinstance(estimators, list) or len(lists) != len(estimators) or not isinstance(most, (int, np.integer)):
        raise _make_error(model, "whose trees and features do not fit together")
    if any(features.shape != (most,) or features.dtype.kind not in "iu" for features in lists):
        raise _make_error(model, "whose trees and features do not fit together")
    if most > _n_features(model):
        raise _make_error(model, "whose trees and features do not fit together")
    _check_fitted_trees(model, estimators, int(most))


def _check_gradient_boosting(model: BaseEstimator) -> None:
    estimators = _read_attribute(model, "estimators_")
    if estimators is None:
        return
    if not isinstance(estimators, np.ndarray) or estimators.dtype != object or estimators.ndim != 2:
        raise _make_error(model, "whose trees are not in a two-dimensional array")
    n_features = _n_features(model)
    _check_fitted_trees(model, estimators.ravel(), n_features)
    for one in estimators.ravel():
        if one.tree_.n_outputs != 1 or one.tree_.max_n_classes != 1:
            raise _make_error(model, "whose trees have more than one value")
    # compiled code adds column by column to what the first estimator predicts
    started = model._raw_predict_init(np.zeros((2, n_features), dtype=np.float32))
    if started.shape != (2, estimators.shape[1]) or started.dtype != np.float64:
        raise _make_error(model, "whose trees and first predictions do not fit together")


def _check_tree_predictor(model: BaseEstimator) -> None:
    nodes = _read_attribute(model, "nodes")
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE

    if not isinstance(nodes, np.ndarray) or nodes.ndim != 1 or nodes.dtype != PREDICTOR_RECORD_DTYPE:
        raise _make_error(model, "whose nodes cannot be read")
    leaf = nodes["is_leaf"].astype(bool)
    check_children(nodes["left"].astype(np.int64), nodes["right"].astype(np.int64), leaf)
    sets = [_read_attribute(model, name) for name in ("binned_left_cat_bitsets", "raw_left_cat_bitsets")]
    if any(not isinstance(one, np.ndarray) or one.ndim != 2 or one.shape[1] != 8 for one in sets):
        raise _make_error(model, "whose sets of categories cannot be read")
    chosen = nodes["is_categorical"].astype(bool) & ~leaf
    if (nodes["bitset_idx"][chosen] >= min(len(one) for one in sets)).any():
        raise _make_error(model, "that refers to a set of categories that does not exist")


def _check_histogram_boosting(model: BaseEstimator) -> None:
    rounds = _read_attribute(model, "_predictors")
    if rounds is None:
        return
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    n_features = _n_features(model)
    if _read_attribute(model, "_in_fit") or _read_attribute(model, "_preprocessor") is not None:
        raise _make_error(model, "that changes its columns before it predicts")
    mapper = _read_attribute(model, "_bin_mapper")
    categorical = np.asarray(mapper.__dict__.get("is_categorical_")) if mapper is not None else None
    if categorical is None or categorical.shape != (n_features,) or categorical.dtype.kind not in "bu":
        raise _make_error(model, "that does not state which of its features are categories")
    for predictor in (one for some in rounds for one in some):
        if type(predictor) is not TreePredictor:
            raise _make_error(model, "whose predictors are not trees")
        nodes = predictor.nodes
        inner = nodes[~nodes["is_leaf"].astype(bool)]
        check_split_features(inner["feature_idx"].astype(np.int64), n_features)
        asked = inner["feature_idx"][inner["is_categorical"].astype(bool)].astype(np.int64)
        if not categorical[asked].astype(bool).all():
            raise _make_error(model, "that treats a numeric column as categories")


# -- neighbours, clusters, support vectors -----------------------------------------------------------------------------


def _check_neighbours(model: BaseEstimator) -> None:
    points = _read_attribute(model, "_fit_X")
    if points is None:
        return
    n_features = _n_features(model)
    if not isinstance(points, np.ndarray) or points.ndim != 2 or points.dtype.kind not in "fiub":
        raise _make_error(model, "whose points are not numbers")
    if points.shape[1] != n_features or _read_attribute(model, "n_samples_fit_") != len(points):
        raise _make_error(model, "whose points have a different number of features")
    _check_search_tree(model, points)
    for name in ("effective_metric_params_", "metric_params"):
        _check_metric_options(model, _read_attribute(model, name), n_features)
    _check_neighbour_labels(model, len(points))


def _check_search_tree(model: BaseEstimator, points: np.ndarray) -> None:
    from sklearn.neighbors import BallTree, KDTree

    inner, method = _read_attribute(model, "_tree"), _read_attribute(model, "_fit_method")
    kinds = {"kd_tree": KDTree, "ball_tree": BallTree, "brute": type(None)}
    if method not in kinds or type(inner) is not kinds[method]:
        raise _make_error(model, "whose search tree is of another kind")
    if inner is not None and np.asarray(inner.data).shape != points.shape:
        raise _make_error(model, "whose search tree holds different points")


def _check_metric_options(model: BaseEstimator, options: object, n_features: int) -> None:
    if options is None:
        return
    if not isinstance(options, dict) or not set(options) <= _METRIC_OPTIONS:
        raise _make_error(model, "whose metric has unknown options")
    for value in (one for one in options.values() if one is not None):
        array = np.asarray(value)
        if array.dtype.kind not in "fiu" or array.shape not in ((), (n_features,), (n_features, n_features)):
            raise _make_error(model, "whose metric has options that are not numbers")


def _check_neighbour_labels(model: BaseEstimator, n_points: int) -> None:
    """Positions of classes, which compiled code counts with."""
    labels, classes = _read_attribute(model, "_y"), _read_attribute(model, "classes_")
    if labels is None or classes is None:
        return
    if not isinstance(labels, np.ndarray) or labels.dtype.kind not in "iu" or len(labels) != n_points:
        raise _make_error(model, "whose labels are not positions")
    lists = [classes] if labels.ndim == 1 else list(classes)
    columns = labels.reshape(n_points, -1)
    if columns.shape[1] != len(lists):
        raise _make_error(model, "whose labels and classes do not fit together")
    for column, known in zip(columns.T, lists, strict=True):
        if len(column) and (column.min() < 0 or column.max() >= len(known)):
            raise _make_error(model, "whose labels refer to classes that do not exist")


def _make_check_of_centres(name: str) -> Callable[[BaseEstimator], None]:
    def check_centres(model: BaseEstimator) -> None:
        centres = _read_attribute(model, name)
        if centres is None:
            return
        fits = isinstance(centres, np.ndarray) and centres.ndim == 2 and centres.dtype.kind == "f"
        if not fits or centres.shape[1] != _n_features(model) or not len(centres):
            raise _make_error(model, "whose centres have a different number of features")

    return check_centres


def _check_support_vectors(model: BaseEstimator) -> None:
    vectors = _read_attribute(model, "support_vectors_")
    if vectors is None:
        return
    counts, weights = _read_attribute(model, "_n_support"), _read_attribute(model, "_dual_coef_")
    intercept, support = _read_attribute(model, "_intercept_"), _read_attribute(model, "support_")
    arrays = (vectors, counts, weights, intercept, support)
    if _read_attribute(model, "_sparse") or not all(
        isinstance(one, np.ndarray) and one.dtype.kind in "fi" for one in arrays
    ):
        raise _make_error(model, "whose vectors cannot be read")
    if vectors.ndim != 2 or counts.ndim != 1 or weights.ndim != 2 or intercept.ndim != 1:
        raise _make_error(model, "whose vectors cannot be read")
    n_vectors, n_classes = len(vectors), len(counts)
    fits = _read_attribute(model, "kernel") == "precomputed" or vectors.shape[1] == _n_features(model)
    fits = fits and support.shape == (n_vectors,) and weights.shape == (n_classes - 1, n_vectors)
    fits = fits and n_classes >= 2 and len(intercept) == n_classes * (n_classes - 1) // 2
    if _is_vector_classifier(model):
        fits = fits and counts.min() >= 0 and int(counts.sum()) == n_vectors
        fits = fits and len(_read_attribute(model, "classes_")) == n_classes
    n_rows = int(_read_attribute(model, "shape_fit_")[0])
    fits = fits and support.min(initial=0) >= 0 and support.max(initial=0) < n_rows
    if _read_attribute(model, "kernel") == "precomputed":
        fits = fits and n_rows == _n_features(model)
    for name in ("_probA", "_probB"):
        pairs = _read_attribute(model, name)
        fits = fits and (pairs is None or (isinstance(pairs, np.ndarray) and len(pairs) in (0, len(intercept))))
    if not fits:
        raise _make_error(model, "whose vectors do not fit together")


def _is_vector_classifier(model: BaseEstimator) -> bool:
    from sklearn.svm._base import BaseSVC

    return isinstance(model, BaseSVC)


# -- positions in sparse tables, and files -----------------------------------------------------------------------------


def _check_one_hot(model: BaseEstimator) -> None:
    """Positions of categories become positions in a sparse table, which compiled code does not check."""
    categories = _read_attribute(model, "categories_")
    if categories is None:
        return
    if not isinstance(categories, list) or len(categories) != _n_features(model):
        raise _make_error(model, "whose categories do not belong to its columns")
    n_found = [len(one) for one in categories]
    mappings = (
        _read_attribute(model, "_default_to_infrequent_mappings")
        if _read_attribute(model, "_infrequent_enabled")
        else None
    )
    for number, mapping in enumerate(mappings or ()):
        if mapping is None:
            continue
        inside = isinstance(mapping, np.ndarray) and mapping.dtype.kind in "iu" and len(mapping) == n_found[number]
        if not inside or mapping.min(initial=0) < 0 or mapping.max(initial=0) > len(mapping):
            raise _make_error(model, "whose infrequent categories cannot be read")
        n_found[number] = int(mapping.max()) + 1
    dropped = _read_attribute(model, "_drop_idx_after_grouping")
    for number in range(len(categories)):
        place = None if dropped is None else dropped[number]
        if place is not None:
            if not isinstance(place, (int, np.integer)) or not 0 <= place < n_found[number]:
                raise _make_error(model, "that leaves out a category that does not exist")
            n_found[number] -= 1
    if [int(count) for count in _read_attribute(model, "_n_features_outs") or n_found] != n_found:
        raise _make_error(model, "whose categories and columns do not fit together")


def _check_vectorizer(model: BaseEstimator) -> None:
    if _read_attribute(model, "input") != "content":
        raise _make_error(model, "that opens files")
    pattern = _read_attribute(model, "token_pattern")
    if pattern is not None and (not isinstance(pattern, str) or _may_run_long(pattern)):
        raise _make_error(model, "whose token_pattern may never finish")
    hashed = _read_attribute(model, "n_features")
    if hashed is not None and not (isinstance(hashed, int) and 0 < hashed <= _LARGEST_HASH):
        raise _make_error(model, "with too many columns")
    _check_vocabulary(model)


def _may_run_long(pattern: str) -> bool:
    """Whether matching could take time that grows faster than a low power of the length of the text."""
    repeats = re.findall(r"(?<!\\)[*+{]", pattern)
    return bool(re.search(r"\)\s*[*+{]", pattern)) or len(repeats) > _MOST_REPEATS or "(?P=" in pattern


def _check_vocabulary(model: BaseEstimator) -> None:
    words = _read_attribute(model, "vocabulary_")
    if words is not None and (
        not isinstance(words, dict) or sorted(map(_read_position, words.values())) != list(range(len(words)))
    ):
        raise _make_error(model, "whose words do not each have a column")


def _read_position(value: object) -> int:
    return int(value) if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else -1


def _check_one_vs_rest(model: BaseEstimator) -> None:
    """Its predictions become rows of a sparse table, which compiled code does not check."""
    estimators, binarizer = _read_attribute(model, "estimators_"), _read_attribute(model, "label_binarizer_")
    if estimators is None or getattr(binarizer, "y_type_", None) == "multiclass":
        return
    from sklearn.multiclass import _predict_binary

    rows = np.zeros((2, _n_features(model)))
    for one in estimators:
        try:
            shape = np.shape(_predict_binary(one, rows))
        except Exception as error:
            raise _make_error(model, "whose estimators fail on a test row") from error
        if shape != (2,):
            raise _make_error(model, "whose estimators predict more than one value")


def _check_agglomeration(model: BaseEstimator) -> None:
    labels = _read_attribute(model, "labels_")
    if labels is None:
        return
    fits = isinstance(labels, np.ndarray) and labels.dtype.kind in "iu"
    if not fits or labels.min(initial=0) < 0 or labels.max(initial=0) >= max(len(labels), 1):
        raise _make_error(model, "that refers to clusters that do not exist")


def _check_label_binarizer(model: BaseEstimator) -> None:
    if _read_attribute(model, "_cached_dict") is not None:
        raise _make_error(model, "with a table of class positions, which scikit-learn does not save")


_CHECKS: dict[str, Callable[[BaseEstimator], None]] = {
    "sklearn.tree._classes.BaseDecisionTree": _check_decision_tree,
    "sklearn.ensemble._forest.BaseForest": _check_forest,
    "sklearn.ensemble._iforest.IsolationForest": _check_isolation_forest,
    "sklearn.ensemble._gb.BaseGradientBoosting": _check_gradient_boosting,
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": _check_tree_predictor,
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.BaseHistGradientBoosting": _check_histogram_boosting,
    "sklearn.neighbors._base.NeighborsBase": _check_neighbours,
    "sklearn.neighbors._nearest_centroid.NearestCentroid": _make_check_of_centres("centroids_"),
    "sklearn.cluster._kmeans._BaseKMeans": _make_check_of_centres("cluster_centers_"),
    "sklearn.cluster._mean_shift.MeanShift": _make_check_of_centres("cluster_centers_"),
    "sklearn.cluster._affinity_propagation.AffinityPropagation": _make_check_of_centres("cluster_centers_"),
    "sklearn.svm._base.BaseLibSVM": _check_support_vectors,
    "sklearn.preprocessing._encoders.OneHotEncoder": _check_one_hot,
    "sklearn.feature_extraction.text._VectorizerMixin": _check_vectorizer,
    "sklearn.feature_extraction._dict_vectorizer.DictVectorizer": _check_vocabulary,
    "sklearn.preprocessing._label.MultiLabelBinarizer": _check_label_binarizer,
    "sklearn.multiclass.OneVsRestClassifier": _check_one_vs_rest,
    "sklearn.cluster._agglomerative.FeatureAgglomeration": _check_agglomeration,
}
