"""The types of scikit-learn that a saved model may hold: public estimators, and the inner parts listed here."""

from __future__ import annotations

import inspect
import re
from functools import lru_cache
from importlib import import_module

#: Inner parts that are built from a state.
OBJECTS: frozenset[str] = frozenset(
    (
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
    )
)

#: Functions that a model may name: metrics and scores that a fitted model no longer calls.
FUNCTIONS: frozenset[str] = frozenset(
    (
        "sklearn.feature_selection._mutual_info.mutual_info_classif",
        "sklearn.feature_selection._univariate_selection.chi2",
        "sklearn.feature_selection._univariate_selection.f_classif",
        "sklearn.metrics._classification.accuracy_score",
        "sklearn.metrics._classification.balanced_accuracy_score",
        "sklearn.metrics._classification.f1_score",
        "sklearn.metrics._ranking.roc_auc_score",
    )
)

_LOSS = re.compile(
    r"sklearn\._loss\._loss\.Cy[A-Za-z]{1,40}|sklearn\.linear_model\._sgd_fast\.[A-Z][A-Za-z]{1,40}", flags=re.ASCII
)
_MODULE = re.compile(r"sklearn(\.[a-z_][a-z0-9_]*)+", flags=re.ASCII)
#: skops does not write them, so that a file with one is not genuine.
_NEVER_SAVED = ("Birch",)
_NOT_MODELS = ("tests", "conftest", "datasets", "externals", "experimental")


def is_loss(name: str) -> bool:
    """Whether a name is that of one of scikit-learn's compiled losses."""
    return bool(_LOSS.fullmatch(name))


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
