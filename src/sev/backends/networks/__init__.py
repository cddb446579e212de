"""Neural networks: scikit-learn's MLPClassifier, torch modules and skorch classifiers."""

from sev.backends.networks._from_sklearn import from_sklearn
from sev.backends.networks._from_torch import from_skorch, from_torch, from_torch_classifier
from sev.backends.networks._pipeline import TorchClassifier, torch_pipeline, torch_scorer

__all__ = [
    "TorchClassifier",
    "from_sklearn",
    "from_skorch",
    "from_torch",
    "from_torch_classifier",
    "torch_pipeline",
    "torch_scorer",
]
