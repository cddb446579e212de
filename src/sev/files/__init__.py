"""Explainers and models in files that are safe to load."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sev.files._container import MOST_BYTES, naming, read_whole, refusing
from sev.files._parts import ExplainerParts, TargetParts

if TYPE_CHECKING:
    from sev.files._explainers import pack_explainer, unpack_explainer
    from sev.files._model_files import load_model, save_model

__all__ = [
    "MOST_BYTES",
    "ExplainerParts",
    "TargetParts",
    "load_model",
    "naming",
    "pack_explainer",
    "read_whole",
    "refusing",
    "save_model",
    "unpack_explainer",
]

#: Where the names come from that are imported when they are first used: most explainers are never saved.
_HOMES = {
    "load_model": "sev.files._model_files",
    "pack_explainer": "sev.files._explainers",
    "save_model": "sev.files._model_files",
    "unpack_explainer": "sev.files._explainers",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sev.files' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
