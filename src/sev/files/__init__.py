"""Explainers and models in files that are safe to load."""

from sev.files._container import MOST_BYTES, naming, read_whole, refusing
from sev.files._explainers import pack_explainer, unpack_explainer
from sev.files._model_files import load_model, save_model
from sev.files._parts import ExplainerParts, TargetParts

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
