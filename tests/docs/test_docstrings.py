"""Docstrings of public names: parameters, what is returned, what is raised, and an example that runs.

Examples run with the tests (``--doctest-modules``); those of a method go on from those of its class.
"""

import ast
import inspect
import re
import textwrap
from enum import Enum
from typing import is_typeddict

import pytest

import sev

#: Packages whose names users call: each of them has an example. The other packages are the seams that parts of the
#: library meet at; what they take, return and raise is stated, and `docs/extending.md` shows them at work.
CALLED_BY_USERS = {
    "sev", "batch", "comparison", "credibility", "datasets", "explanations", "losses", "plots", "references", "reports",
    "testing", "training",
}  # fmt: skip
#: Names in those packages that are seams: users do not make them.
SEAMS = {
    "sev.explanations.ExplainerLike", "sev.explanations.Source",
    *(f"sev.references.{name}" for name in (
        "Assignment", "Distance", "NearestRows", "NumberColumn", "Points", "as_numbers", "assignment_from_plain",
        "assignment_to_plain", "has_two_values", "holds_integers", "joint_values", "spread_evenly",
    )),
    *(f"sev.credibility.{name}" for name in (
        "Credibility", "FittedFunction", "FittedGaussianMixture", "FittedIsolationForest", "FittedMeasure",
        "FittedNearestNeighbours", "LazyCredibility", "MixedCredibility", "OtherRows", "as_measure",
        "credibility_from_plain", "credibility_to_plain",
    )),
    *(f"sev.losses.{name}" for name in ("Batch", "LossFormula", "LossParts", "neighbours", "weighted_mean")),
}  # fmt: skip


def public_objects():
    """Functions and classes by public name, each once, under the shortest of its names."""
    found = {f"sev.{name}": getattr(sev, name) for name in sev.__all__}
    packages = {name: module for name, module in found.items() if inspect.ismodule(module)}
    for package, module in packages.items():
        for name in getattr(module, "__all__", ()):
            if not any(getattr(module, name) is other for other in found.values()):
                found[f"{package}.{name}"] = getattr(module, name)
    return {
        name: one
        for name, one in found.items()
        if inspect.isfunction(one) or (inspect.isclass(one) and not issubclass(one, BaseException))
    }


def methods_of(name, cls):
    """Public methods that classes of this package define, inherited ones too, without scikit-learn's generated ones."""
    for key in dir(cls):
        one = inspect.getattr_static(cls, key)
        one = one.__func__ if isinstance(one, classmethod | staticmethod) else one
        if inspect.isfunction(one) and not key.startswith("_") and one.__module__.startswith("sev"):
            yield f"{name}.{key}", one


OBJECTS = public_objects()
CALLABLES = {name: one for name, one in OBJECTS.items() if inspect.isfunction(one)} | {
    name: one for cls_name, cls in OBJECTS.items() if inspect.isclass(cls) for name, one in methods_of(cls_name, cls)
}


def sections(one):
    """The numpydoc sections of a docstring, by name."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.cleandoc(one.__doc__ or ""), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented_parameters(one):
    body = sections(one).get("Parameters", "")
    lines = re.findall(r"^(\S.*?)(?: : .*)?$", body, re.M)
    return {name.strip().lstrip("*") for line in lines for name in line.split(",")}


def parameters(one):
    return {name for name in inspect.signature(one).parameters if name not in ("self", "cls") and name[0] != "_"}


def raises_itself(one):
    """Errors that the code of a function raises, inner functions and re-raised ones left out."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(one)))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc is not None]


def returns_something(one):
    return inspect.signature(one).return_annotation not in (None, "None", inspect.Signature.empty)


def is_checked_for_examples(name):
    package = name.split(".")[1] if name.count(".") > 1 and name.split(".")[1] in sev.__all__ else "sev"
    return package in CALLED_BY_USERS and name not in SEAMS


@pytest.mark.parametrize("name", CALLABLES)
def test_a_public_callable_states_parameters_results_and_errors(name):
    one = CALLABLES[name]
    found = sections(one)
    assert documented_parameters(one) == parameters(one)
    if returns_something(one):
        assert {"Returns", "Yields"} & set(found), "lacks what it returns"
    if raises_itself(one):
        assert "Raises" in found, "lacks what it raises"


@pytest.mark.parametrize("name", [name for name in OBJECTS if is_checked_for_examples(name)])
def test_a_name_that_users_call_has_an_example(name):
    assert ">>>" in sections(OBJECTS[name]).get("Examples", "")


@pytest.mark.parametrize("cls", [sev.Explainer, sev.Explanation, sev.Explanations, sev.Actions, sev.Labels])
def test_every_method_of_the_main_classes_has_an_example(cls):
    without = [name for name, one in methods_of(cls.__name__, cls) if ">>>" not in sections(one).get("Examples", "")]
    assert without == []


#: Classes that nobody makes by hand: explainers return them, and the attributes are documented one by one.
RETURNED = {"sev.Explanation", "sev.Explanations", "sev.core.Answers", "sev.datasets.Dataset", "sev.reports.Reasons",
            "sev.text.Statement"}  # fmt: skip


@pytest.mark.parametrize("name", [name for name, one in OBJECTS.items() if inspect.isclass(one)])
def test_a_public_class_states_its_parameters(name):
    cls = OBJECTS[name]
    if is_typeddict(cls):  # a mapping, which has no signature
        assert documented_parameters(cls) == set(cls.__annotations__)
    elif issubclass(cls, Enum) or getattr(cls, "_is_protocol", False) or name in RETURNED:
        assert documented_parameters(cls) <= parameters(cls)
    else:
        assert documented_parameters(cls) == parameters(cls)


def test_the_checks_find_what_is_missing():
    def complete(a, b=1, **options) -> int:
        """Add.

        Parameters
        ----------
        a, b : int
            Numbers.
        **options
            Not used.

        Returns
        -------
        int
            The sum.
        """
        raise ValueError(a)

    assert documented_parameters(complete) == parameters(complete) == {"a", "b", "options"}
    assert returns_something(complete)
    assert len(raises_itself(complete)) == 1
    assert set(sections(complete)) == {"Parameters", "Returns"}
    assert is_checked_for_examples("sev.plots.sizes")
    assert not is_checked_for_examples("sev.core.pack")
