"""Tree ensembles of all libraries, in one flat form with an exact solver."""

from sev.backends.trees._backend import Link, TreeBackend
from sev.backends.trees._encoding import single_precision, to_codes, to_frame, to_numbers, with_wide_zero
from sev.backends.trees._forest import Forest, Tree, build_forest
from sev.backends.trees._rounding import HALF_ULP, sequential_rounding

__all__ = [
    "HALF_ULP",
    "Forest",
    "Link",
    "Tree",
    "TreeBackend",
    "build_forest",
    "sequential_rounding",
    "single_precision",
    "to_codes",
    "to_frame",
    "to_numbers",
    "with_wide_zero",
]
