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

if TYPE_CHECKING:
    from sev import (
        actions,
        app,
        backends,
        batch,
        comparison,
        core,
        credibility,
        datasets,
        exceptions,
        explainers,
        explanations,
        files,
        libraries,
        plots,
        references,
        reports,
        space,
        testing,
        text,
        training,
        typing,
    )
    from sev.actions import Actions, between, suggest_actions
    from sev.comparison import compare_methods
    from sev.core import Status, __version__
    from sev.explainers import Explainer, load
    from sev.explanations import Explanation, Explanations
    from sev.libraries.torch import torch_pipeline
    from sev.reports import reasons, report
    from sev.text import Labels
    from sev.training import (
        SEVGradientBoostingClassifier,
        SEVLogisticRegression,
        SEVMLPClassifier,
        compare,
        losses,
        optimize,
    )

__all__ = [
    "Actions",
    "Explainer",
    "Explanation",
    "Explanations",
    "Labels",
    "SEVGradientBoostingClassifier",
    "SEVLogisticRegression",
    "SEVMLPClassifier",
    "Status",
    "__version__",
    "actions",
    "app",
    "backends",
    "batch",
    "between",
    "compare",
    "compare_methods",
    "comparison",
    "core",
    "credibility",
    "datasets",
    "exceptions",
    "explainers",
    "explanations",
    "files",
    "libraries",
    "load",
    "losses",
    "optimize",
    "plots",
    "reasons",
    "references",
    "report",
    "reports",
    "space",
    "suggest_actions",
    "testing",
    "text",
    "torch_pipeline",
    "training",
    "typing",
]

#: Where a name comes from that is no subpackage. Like the subpackages, it is imported when it is first used, so that
#: ``import sev`` stays light.
_HOMES = {
    "Actions": "sev.actions",
    "Explainer": "sev.explainers",
    "Explanation": "sev.explanations",
    "Explanations": "sev.explanations",
    "Labels": "sev.text",
    "SEVGradientBoostingClassifier": "sev.training",
    "SEVLogisticRegression": "sev.training",
    "SEVMLPClassifier": "sev.training",
    "Status": "sev.core",
    "__version__": "sev.core",
    "between": "sev.actions",
    "compare": "sev.training",
    "compare_methods": "sev.comparison",
    "load": "sev.explainers",
    "losses": "sev.training.losses",
    "optimize": "sev.training",
    "reasons": "sev.reports",
    "report": "sev.reports",
    "suggest_actions": "sev.actions",
    "torch_pipeline": "sev.libraries.torch",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sev' has no attribute {name!r}")
    home = _HOMES.get(name, f"sev.{name}")
    module = import_module(home)
    found = module if home.endswith(f".{name}") else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
