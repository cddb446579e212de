"""The types that a saved model may hold, and in which kind of node of a skops file each may stand.

An estimator is trusted if it is a public one of scikit-learn or on the list below; functions, types and containers have
lists of their own. Being on a list allows a type to be built, not any state: :mod:`sev.files._states` checks what goes
into it. A test builds hostile files around every type on the lists.
"""

from __future__ import annotations

import inspect
import re
from collections import OrderedDict
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from sev._optional import require
from sev.exceptions import ArchiveError

#: Classes that are built from a state, beside scikit-learn's public estimators.
OBJECTS: frozenset[str] = frozenset(
    (
        # scikit-learn's inner parts
        "sklearn._loss.link.HalfLogitLink",
        "sklearn._loss.link.IdentityLink",
        "sklearn._loss.link.Interval",
        "sklearn._loss.link.LogLink",
        "sklearn._loss.link.LogitLink",
        "sklearn._loss.link.MultinomialLogit",
        "sklearn._loss.loss.AbsoluteError",
        "sklearn._loss.loss.ExponentialLoss",
        "sklearn._loss.loss.HalfBinomialLoss",
        "sklearn._loss.loss.HalfGammaLoss",
        "sklearn._loss.loss.HalfMultinomialLoss",
        "sklearn._loss.loss.HalfPoissonLoss",
        "sklearn._loss.loss.HalfSquaredError",
        "sklearn._loss.loss.HuberLoss",
        "sklearn._loss.loss.PinballLoss",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.calibration._TemperatureScaling",
        "sklearn.compose._column_transformer._RemainderColsList",
        "sklearn.compose._column_transformer.make_column_selector",
        "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
        "sklearn.gaussian_process.kernels.CompoundKernel",
        "sklearn.gaussian_process.kernels.ConstantKernel",
        "sklearn.gaussian_process.kernels.DotProduct",
        "sklearn.gaussian_process.kernels.Matern",
        "sklearn.gaussian_process.kernels.Product",
        "sklearn.gaussian_process.kernels.RBF",
        "sklearn.gaussian_process.kernels.RationalQuadratic",
        "sklearn.gaussian_process.kernels.Sum",
        "sklearn.gaussian_process.kernels.WhiteKernel",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.metrics._dist_metrics.ManhattanDistance64",
        "sklearn.metrics._dist_metrics.MinkowskiDistance64",
        "sklearn.metrics._scorer._CurveScorer",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.metrics._scorer._Scorer",
        "sklearn.multiclass._ConstantPredictor",
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.utils._metadata_requests.MetadataRequest",
        "sklearn.utils._metadata_requests.MethodMetadataRequest",
        # this package's own estimators
        "sev.training._boosting.SEVGradientBoostingClassifier",
        "sev.training._encoder.TableEncoder",
        "sev.training._logistic.SEVLogisticRegression",
        "sev.training._mlp.SEVMLPClassifier",
        # boosters: their state is their own model format
        "catboost.core.CatBoost",
        "catboost.core.CatBoostClassifier",
        "lightgbm.basic.Booster",
        "lightgbm.sklearn.LGBMClassifier",
        "xgboost.core.Booster",
        "xgboost.sklearn.XGBClassifier",
        "xgboost.sklearn.XGBRFClassifier",
        # explainable boosting machines
        "interpret.glassbox._ebm._ebm.ExplainableBoostingClassifier",
    )
)

#: Functions that a model may name. Most are metrics and scores that a fitted model no longer calls.
FUNCTIONS: frozenset[str] = frozenset(
    (
        "numpy.mean",
        "sklearn.feature_selection._mutual_info.mutual_info_classif",
        "sklearn.feature_selection._univariate_selection.chi2",
        "sklearn.feature_selection._univariate_selection.f_classif",
        "sklearn.metrics._classification.accuracy_score",
        "sklearn.metrics._classification.balanced_accuracy_score",
        "sklearn.metrics._classification.f1_score",
        "sklearn.metrics._ranking.roc_auc_score",
    )
)

_TREE = "sklearn.tree._tree.Tree"
_LOSS = re.compile(
    r"sklearn\._loss\._loss\.Cy[A-Za-z]{1,40}|sklearn\.linear_model\._sgd_fast\.[A-Z][A-Za-z]{1,40}", flags=re.ASCII
)
_MODULE = re.compile(r"sklearn(\.[a-z_][a-z0-9_]*)+", flags=re.ASCII)
#: skops does not write them, so that a file with one is not genuine.
_NEVER_SAVED = ("Birch",)
_NOT_MODELS = ("tests", "conftest", "datasets", "externals", "experimental")

_NUMPY_SCALARS = {kind for kind in np.sctypeDict.values() if kind is not np.object_}
#: numpy's scalars by their names, of this version of numpy and of older ones.
SCALARS: dict[str, type] = {
    **{f"numpy.{kind.__name__}": kind for kind in _NUMPY_SCALARS},
    "numpy.bool_": np.bool_,
    "numpy.bool": np.bool_,
    "numpy.str_": np.str_,
}
#: Types that stand for themselves, such as the dtype that an encoder is asked for.
TYPES: dict[str, type] = {
    **{f"builtins.{kind.__name__}": kind for kind in (str, int, float, bool, list, tuple, set, dict, type(None))},
    "collections.OrderedDict": OrderedDict,
    **SCALARS,
    **{f"numpy.{kind.__name__}": kind for kind in (np.floating, np.integer, np.number, np.generic)},
}
#: Types of the keys of mappings.
KEY_TYPES: frozenset[type] = frozenset(
    (str, int, float, bool, type(None), np.str_, *(kind for kind in _NUMPY_SCALARS if issubclass(kind, np.number)))
)

_BY_LOADER: dict[str, frozenset[str]] = {
    "JsonNode": frozenset(f"builtins.{name}" for name in ("str", "int", "float", "bool", "NoneType")),
    "ListNode": frozenset(("builtins.list",)),
    "TupleNode": frozenset(("builtins.tuple",)),
    "SetNode": frozenset(("builtins.set",)),
    "DictNode": frozenset(("builtins.dict", "collections.OrderedDict", "sklearn.utils._bunch.Bunch")),
    "DefaultDictNode": frozenset(("collections.defaultdict",)),
    "BytesNode": frozenset(("builtins.bytes",)),
    "BytearrayNode": frozenset(("builtins.bytearray",)),
    "SliceNode": frozenset(("builtins.slice",)),
    "TypeNode": frozenset(TYPES),
    "NdArrayNode": frozenset(("numpy.ndarray", *SCALARS)),
    "MaskedArrayNode": frozenset(("numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray")),
    "DTypeNode": frozenset(("numpy.dtype",)),
    "RandomStateNode": frozenset(("numpy.random.mtrand.RandomState",)),
    "RandomGeneratorNode": frozenset(("numpy.random._generator.Generator",)),
    "TreeNode": frozenset((_TREE,)),
}


def is_trusted(loader: str, name: str) -> bool:
    """Whether a type may stand in a kind of node."""
    if loader == "ObjectNode":
        return name in OBJECTS or is_public_estimator(name)
    if loader == "LossNode":
        return bool(_LOSS.fullmatch(name))
    if loader == "FunctionNode":
        return name in FUNCTIONS or _ufunc(name) is not None
    return name in _BY_LOADER.get(loader, ())


@lru_cache(maxsize=1024)
def is_public_estimator(name: str) -> bool:
    """Whether a name is that of one of scikit-learn's public estimators."""
    module, _, kind = name.rpartition(".")
    if not _MODULE.fullmatch(module) or kind.startswith("_") or set(module.split(".")) & set(_NOT_MODELS):
        return False
    if kind in _NEVER_SAVED:
        return False
    try:
        found = getattr(import_module(module), kind, None)
    except ImportError:
        return False
    from sklearn.base import BaseEstimator

    if not inspect.isclass(found) or not issubclass(found, BaseEstimator):
        return False
    return found.__module__ == module and not inspect.isabstract(found)


def find_class(name: str) -> Any:
    """A class by its name, which is trusted; its package is imported."""
    module, _, kind = name.rpartition(".")
    package = module.partition(".")[0]
    if package in ("xgboost", "lightgbm", "catboost"):
        require(package, extra="boosters", feature="This model")
    elif package == "interpret":
        require(package, extra=None, feature="This model")
    found = getattr(import_module(module), kind, None)
    if not inspect.isclass(found):
        raise ArchiveError(f"The model holds a {name}, which the installed {package} does not have.")
    return found


def find_function(name: str) -> Any:
    """A function by its name, which is trusted."""
    if name in FUNCTIONS:
        module, _, kind = name.rpartition(".")
        return getattr(import_module(module), kind)
    return _ufunc(name)


def _ufunc(name: str) -> Any:
    """A function of numpy or scipy that works on arrays element by element, None if a name is not one."""
    module, _, kind = name.rpartition(".")
    if module in ("numpy", "numpy._core._multiarray_umath", "numpy.core._multiarray_umath"):
        found = getattr(np, kind, None)
    elif module.startswith("scipy.special"):
        found = getattr(import_module("scipy.special"), kind, None)
    else:
        return None
    return found if isinstance(found, np.ufunc) else None
