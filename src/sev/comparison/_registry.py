"""The methods by name: one line each, no import until one is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sev._optional import require
from sev._registry import load as load_route
from sev.comparison._quiet import quietly
from sev.core import suggest_name, tuple_of_names
from sev.exceptions import InputError

if TYPE_CHECKING:
    from sev.comparison._answers import Answer
    from sev.comparison._case import Case

    #: Gets ready for a case and returns a function from the number of a query to an answer.
    Prepare = Callable[[Case, dict[str, object]], Callable[[int], Answer]]


@dataclass(frozen=True)
class Method:
    """Where a method lives.

    Parameters
    ----------
    prepare : str
        ``"module:function"``. The function takes a case and the user's options for the method, gets ready (that time is
        set-up), and returns a function from the number of a query to an answer (that time is counted).
    package : str or None
        What it imports; None: nothing beyond this package.
    """

    prepare: str
    package: str | None = None


METHODS: dict[str, Method] = {
    "sev": Method("sev.comparison._smallest:prepare"),
    "shap-tree": Method("sev.comparison._shap_tree:prepare", "shap"),
    "shap-kernel": Method("sev.comparison._shap_kernel:prepare", "shap"),
    "lime": Method("sev.comparison._lime:prepare", "lime"),
    "dice": Method("sev.comparison._dice:prepare", "dice_ml"),
}


def register_method(name: str, prepare: str, package: str | None = None) -> None:
    """Register a method of your own for :func:`sev.compare_methods`.

    Parameters
    ----------
    name : str
        Name of the method.
    prepare : str
        ``"module:function"``, as in :class:`Method`.
    package : str, default=None
        A package that it needs and that may be absent.

    Raises
    ------
    InputError
        If the name is taken.

    Examples
    --------
    >>> import sev
    >>> sev.comparison.register_method("mine", "mypackage.methods:prepare")  # doctest: +SKIP
    """
    method = Method(prepare, package)
    if METHODS.setdefault(name, method) != method:
        raise InputError(
            f"The method {name!r} is already registered, as {METHODS[name].prepare!r}: choose another name."
        )


def checked_names(methods: Iterable[str]) -> list[str]:
    """Names of known methods, each once, all of whose packages can be imported."""
    names = list(dict.fromkeys(tuple_of_names(methods, "methods")))
    if not names:
        raise InputError(f"There is no method to compare: choose among {list(METHODS)}.")
    for name in names:
        if name not in METHODS:
            meant = suggest_name(name, METHODS)
            raise InputError(f"methods names {name!r}, which is not known{meant} Choose among {list(METHODS)}.")
    return names


def load(name: str) -> Prepare:
    """The function that gets a method ready; its package is imported first, so that a missing one is named."""
    method = METHODS[name]
    if method.package is not None:
        with quietly():
            require(method.package, extra="compare", feature=f'compare_methods(methods=[..., "{name}"])')
    prepare: Prepare = load_route(method.prepare)
    return prepare
