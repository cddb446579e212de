"""The types that a saved model may hold: a fixed list.

It stands beside what skops itself trusts (scikit-learn's public estimators, numpy and scipy arrays, Python's own
containers). Each entry was seen in a fitted model, holds data only, and builds nothing but itself. Content that could
still do harm, such as child numbers of trees, is checked in ``_content.py``.
"""

from __future__ import annotations

TRUSTED: tuple[str, ...] = (
    # Python and numpy
    "collections.OrderedDict",
    "collections.defaultdict",
    "numpy.dtype",
    "numpy.bool",
    "numpy.floating",
    "numpy.integer",
    "numpy.mean",
    "numpy.number",
    # scikit-learn's inner parts
    "sklearn._loss.loss.HalfMultinomialLoss",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.calibration._TemperatureScaling",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.feature_selection._mutual_info.mutual_info_classif",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.feature_selection._univariate_selection.f_classif",
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
    "sklearn.metrics._classification.accuracy_score",
    "sklearn.metrics._classification.balanced_accuracy_score",
    "sklearn.metrics._classification.f1_score",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.metrics._dist_metrics.ManhattanDistance64",
    "sklearn.metrics._dist_metrics.MinkowskiDistance64",
    "sklearn.metrics._ranking.roc_auc_score",
    "sklearn.metrics._scorer._CurveScorer",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    "sklearn.multiclass._ConstantPredictor",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
    # our own estimators, made of the above
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
    # estimators of this package
    "sev.training._boosting.SEVGradientBoostingClassifier",
    "sev.training._encoder.TableEncoder",
    "sev.training._logistic.SEVLogisticRegression",
    "sev.training._mlp.SEVMLPClassifier",
)
