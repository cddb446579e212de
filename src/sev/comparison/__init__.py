"""The smallest sets beside the answers of SHAP, LIME and DiCE, on the user's own model; and L2X."""

from typing import TYPE_CHECKING, Any

from sev.comparison._compare import compare_methods
from sev.comparison._registry import METHODS, register_method

if TYPE_CHECKING:
    from sev.comparison._l2x import L2X

__all__ = ["L2X", "METHODS", "compare_methods", "register_method"]


def __getattr__(name: str) -> Any:
    if name == "L2X":  # needs torch, which the rest does not
        from sev.comparison._l2x import L2X

        return L2X
    raise AttributeError(f"module 'sev.comparison' has no attribute {name!r}")
