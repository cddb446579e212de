"""Classes that descend from a known one but score rows in their own way."""

from __future__ import annotations

from typing import Any

from sev.backends._protocol import CannotReadError
from sev.typing import Response

#: Packages whose classes are read as they are, each by readers that know its own subclasses.
_KNOWN = ("sklearn", "xgboost", "lightgbm", "catboost", "skorch", "torch", "interpret", "sev", "imblearn")
#: What a class may define without a change to the scores of its fitted objects.
_HARMLESS = {
    "fit",
    "partial_fit",
    "fit_predict",
    "predict",
    "score",
    "get_params",
    "set_params",
    "get_metadata_routing",
    "set_fit_request",
    "set_score_request",
}


def refuse_overridden(model: Any, response: Response) -> None:
    """Refuse a model whose class, or which itself, replaces something that its library's class defines.

    A rule added to ``predict_proba`` may concern rows that no background row resembles: no comparison on real rows
    finds it.

    Raises
    ------
    CannotReadError
        When a method that may matter for scores is overridden.
    """
    if response == "call":
        return  # a booster or module: its scores are made by a scorer of ours, and a module is asked itself
    classes = type(model).__mro__
    known = [cls for cls in classes if cls.__module__.partition(".")[0] in _KNOWN]
    if not known:
        return
    own = [vars(cls) for cls in classes[: classes.index(known[0])]]
    changed = sorted(
        name
        for attributes in own
        for name, value in attributes.items()
        if callable(value) and _matters(name) and any(name in vars(cls) for cls in known)
    )
    if response in vars(model):
        changed.append(response)
    if changed:
        raise CannotReadError(f"{type(model).__name__} has its own {changed[0]}")


def _matters(name: str) -> bool:
    return name not in _HARMLESS and not (name.startswith("__") and name != "__getattribute__")
