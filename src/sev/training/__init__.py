"""Training models whose decisions need few reasons: losses, estimators, and the tuning of fitted models."""

from sev.training._boosting import SEVGradientBoostingClassifier
from sev.training._encoder import TableEncoder
from sev.training._logistic import SEVLogisticRegression
from sev.training._mlp import SEVMLPClassifier

__all__ = [
    "SEVGradientBoostingClassifier",
    "SEVLogisticRegression",
    "SEVMLPClassifier",
    "TableEncoder",
]
