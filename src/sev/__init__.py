"""The smallest set of reasons for every decision of a tabular classifier: exact, proven minimal, checked by the model.

>>> import sev
>>> from sklearn.linear_model import LogisticRegression
>>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0], [4.0, 1.0]]
>>> model = LogisticRegression().fit(X, [0, 0, 0, 1, 1, 1])
>>> sev.Explainer(model, X, [0, 0, 0, 1, 1, 1]).explain([[5.0, 0.0], [0.0, 0.0]]).to_frame()["status"].tolist()
['optimal', 'not_target']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sev import datasets, references
from sev.core import Status, __version__
from sev.explainers import Explainer
from sev.explanations import Explanation, Explanations
from sev.text import Labels

if TYPE_CHECKING:
    from sev import plots, reports
    from sev.backends.networks import torch_pipeline
    from sev.comparison import compare_methods
    from sev.files import load
    from sev.reports import reasons, report
    from sev.training import (
        SEVGradientBoostingClassifier,
        SEVLogisticRegression,
        SEVMLPClassifier,
        compare,
        losses,
        optimize,
    )

__all__ = [
    "Explainer",
    "Explanation",
    "Explanations",
    "Labels",
    "SEVGradientBoostingClassifier",
    "SEVLogisticRegression",
    "SEVMLPClassifier",
    "Status",
    "__version__",
    "compare",
    "compare_methods",
    "datasets",
    "load",
    "losses",
    "optimize",
    "plots",
    "reasons",
    "references",
    "report",
    "reports",
    "torch_pipeline",
]

#: Names that are imported when they are first asked for, so that ``import sev`` stays light.
_LATER = {
    "load": "sev.files",
    "SEVGradientBoostingClassifier": "sev.training",
    "SEVLogisticRegression": "sev.training",
    "SEVMLPClassifier": "sev.training",
    "compare": "sev.training",
    "compare_methods": "sev.comparison",
    "losses": "sev.training.losses",
    "optimize": "sev.training",
    "plots": "sev.plots",
    "reasons": "sev.reports",
    "report": "sev.reports",
    "reports": "sev.reports",
    "torch_pipeline": "sev.backends.networks",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'sev' has no attribute {name!r}")
    module = import_module(_LATER[name])
    found = module if _LATER[name].endswith(f".{name}") else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
