"""Whether a class still scores rows as the class that it descends from.

A model is read by what its library's class does with the fitted parameters. A subclass, or an object, with methods of
its own may do anything else, on rows that no background shows: it is scored instead.
"""

from __future__ import annotations

from sev._registry import LIBRARIES
from sev.backends._protocol import CannotReadError

#: Libraries whose subclasses of each other's classes are known to score rows as their ancestors do.
_KNOWN_LIBRARIES = frozenset({"imblearn", "sev", *LIBRARIES})

#: Methods that train, describe, store or compare a model, and change no score of a fitted one.
_HARMLESS = frozenset(
    {
        "__init__", "__new__", "__init_subclass__", "__repr__", "__str__", "__eq__", "__ne__", "__hash__", "__dir__",
        "__getstate__", "__setstate__", "__reduce__", "__reduce_ex__", "__sklearn_tags__", "__sklearn_clone__",
        "__sklearn_is_fitted__", "__abstractmethods__", "_more_tags", "_repr_html_", "_repr_mimebundle_",
        "get_params", "get_loss", "predict", "predict_log_proba", "score", "validation_step",
    }
)  # fmt: skip
_HARMLESS_BEGINNINGS = ("fit", "_fit", "partial_fit", "train", "initialize", "_initialize", "on_", "set_", "_abc_")


def refuse_overrides(model: object, ancestor: type) -> None:
    """Refuse a model that replaces methods of the class through which it would be read.

    Parameters
    ----------
    model : object
        The model.
    ancestor : type
        Its class, or the one that its class descends from.

    Raises
    ------
    CannotReadError
        When a method that may change scores is not the library's own.
    """
    name = type(model).__name__
    for cls in type(model).__mro__[: type(model).__mro__.index(ancestor)]:
        if cls.__module__.partition(".")[0] in _KNOWN_LIBRARIES:
            continue
        for method, value in vars(cls).items():
            if _changes_scores(method, value, ancestor):
                raise CannotReadError(f"{name} overrides `{method}` of {ancestor.__name__}")
    for method, value in getattr(model, "__dict__", {}).items():
        if callable(value) and callable(vars(type(model)).get(method, getattr(ancestor, method, None))):
            raise CannotReadError(f"this {name} has a `{method}` of its own, which replaces that of its class")


def _changes_scores(method: str, value: object, ancestor: type) -> bool:
    if method in _HARMLESS or method.startswith(_HARMLESS_BEGINNINGS):
        return False
    return (callable(value) or hasattr(value, "__get__")) and hasattr(ancestor, method)
