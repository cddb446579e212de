"""Doctests of modules that need torch are left out, with a line that says so, where it is not installed."""

from importlib.util import find_spec

_NEEDS_TORCH = [
    "sev/comparison/_l2x.py",
    "sev/training/losses",
    *(f"sev/training/_{name}.py" for name in ("loop", "penalty", "linear", "network", "trees", "growing")),
]
_TRAINS = [f"sev/training/_{name}.py" for name in ("logistic", "mlp", "boosting", "optimize")]

collect_ignore = [] if find_spec("torch") else [*_NEEDS_TORCH, *_TRAINS]


def pytest_report_header() -> str | None:
    """Say what is left out."""
    return "torch is not installed: the examples of sev.training and L2X are skipped" if collect_ignore else None
