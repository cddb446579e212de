"""The smallest set of reasons for every decision of a tabular classifier: exact, proven minimal, checked by the model.

>>> import sev
>>> from sklearn.linear_model import LogisticRegression
>>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0], [4.0, 1.0]]
>>> model = LogisticRegression().fit(X, [0, 0, 0, 1, 1, 1])
>>> sev.Explainer(model, X, [0, 0, 0, 1, 1, 1]).explain([[5.0, 0.0], [0.0, 0.0]]).to_frame()["status"].tolist()
['optimal', 'not_target']
"""

from importlib import import_module
from typing import Any

from sev import datasets, references
from sev.explainers import Explainer
from sev.explanations import Explanation, Explanations, Status

__version__ = "0.1.0"

#: Names that are imported when first asked for, and the module that has them; a module stands for itself.
_LAZY: dict[str, str] = {
    "SEVGradientBoostingClassifier": "sev.training",
    "SEVLogisticRegression": "sev.training",
    "SEVMLPClassifier": "sev.training",
    "compare": "sev.training",
    "losses": "sev.training.losses",
    "optimize": "sev.training",
}

__all__ = ["Explainer", "Explanation", "Explanations", "Status", "__version__", "datasets", "references", *_LAZY]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'sev' has no attribute {name!r}")
    module = import_module(_LAZY[name])
    return module if _LAZY[name].endswith(f".{name}") else getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
