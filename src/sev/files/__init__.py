"""Explainers in files that are safe to load."""

from sev.files._explainers import from_bytes, load, save, to_bytes
from sev.files._model_files import load_model, save_model

__all__ = ["from_bytes", "load", "load_model", "save", "save_model", "to_bytes"]
