"""How a fitted model is read, one folder per family."""

from sev.backends._protocol import Backend, CannotReadError
from sev.backends._registry import reader_for, register, register_scorer, registered_models

__all__ = ["Backend", "CannotReadError", "reader_for", "register", "register_scorer", "registered_models"]
