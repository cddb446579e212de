"""How the examples in docstrings run: those of a method go on from those of its class.

Examples of modules that need torch are left out, with a line that says so, where it is not installed.
"""

import contextlib
import doctest
import io
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

_NEEDS_TORCH = [
    "sev/comparison/_l2x.py",
    "sev/libraries/torch/classifier.py",
    "sev/training/losses",
    *(f"sev/training/_{name}.py" for name in ("loop", "penalty", "linear", "network", "trees", "growing")),
]
_TRAINS = [f"sev/training/_{name}.py" for name in ("logistic", "mlp", "boosting", "optimize")]

collect_ignore = [] if find_spec("torch") else [*_NEEDS_TORCH, *_TRAINS]


def pytest_report_header() -> str | None:
    """Say what is left out."""
    return "torch is not installed: the examples of sev.training and L2X are skipped" if collect_ignore else None


def _names_of_class_example(test: doctest.DocTest) -> dict[str, Any]:
    """What the example of a method's class defines; nothing for a function or a class itself."""
    found: Any = test.globs
    for name in test.name.removeprefix(f"{test.globs.get('__name__', '')}.").split(".")[:-1]:
        found = found.get(name) if isinstance(found, dict) else vars(found).get(name)
        if not isinstance(found, type):
            return {}
    names: dict[str, Any] = {"__name__": "__main__"}
    if isinstance(found, type):
        for example in doctest.DocTestParser().get_examples(found.__doc__ or ""):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(example.source, test.name, "single"), names)
    return names


@pytest.fixture(autouse=True)
def _run_example(request: pytest.FixtureRequest) -> Iterator[None]:
    """Define the names of the class's example first; close the figures afterwards."""
    test = getattr(request.node, "dtest", None)
    if test is None:
        yield
        return
    if "plot" in (test.docstring or "") and find_spec("matplotlib") is None:
        pytest.skip("matplotlib is not installed")
    test.globs.update(_names_of_class_example(test))
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
