"""How a fitted model is read, one folder per family."""

from sev.backends._protocol import Backend, CannotReadError
from sev.backends._registry import register, register_scorer, registered_models

__all__ = ["Backend", "CannotReadError", "register", "register_scorer", "registered_models"]
