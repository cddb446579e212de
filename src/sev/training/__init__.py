"""Training models whose decisions need few reasons: losses, estimators, and the tuning of fitted models."""

from sev.training._boosting import SEVGradientBoostingClassifier
from sev.training._compare import compare
from sev.training._encoder import TableEncoder
from sev.training._logistic import SEVLogisticRegression
from sev.training._mlp import SEVMLPClassifier
from sev.training._optimize import optimize
from sev.training._record import OptimizationRecord

__all__ = [
    "OptimizationRecord",
    "SEVGradientBoostingClassifier",
    "SEVLogisticRegression",
    "SEVMLPClassifier",
    "TableEncoder",
    "compare",
    "optimize",
]
