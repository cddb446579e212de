"""Objects from their states: the states are checked before they are set, and objects before they are handed on."""

from __future__ import annotations

import inspect
import os
import re
from typing import Any

import numpy as np

from sev._registry import libraries
from sev.exceptions import ArchiveError
from sev.files._trusted import find_class
from sev.libraries.sklearn.estimators import check
from sev.typing import Parsed

_MANY_THREADS = 16
_THREADS = re.compile(r"_?(n_jobs|n_threads|nthreads?|num_threads|thread_count)_?")
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", flags=re.ASCII)
_LOSS_MODULES = ("sklearn._loss._loss.", "sklearn.linear_model._sgd_fast.")


def build(name: str, state: Parsed, arguments: tuple[object, ...] = ()) -> object:
    """An object of a trusted type.

    Parameters
    ----------
    name : str
        Its type; trusted.
    state : object
        What its ``__getstate__`` returned when it was saved, None if nothing.
    arguments : tuple
        Of its constructor, for types that are saved so.

    Raises
    ------
    ArchiveError
        When the state is not one that the type itself could have had.
    """
    for library in libraries().values():
        if name in library.builders:
            return library.load(library.builders[name])(state, arguments)
    if name.startswith(_LOSS_MODULES):
        return _build_loss(name, state, arguments)
    kind: Any = find_class(name)
    _check_attributes(kind, state)
    instance = kind.__new__(kind)
    if state is not None:
        if hasattr(instance, "__setstate__"):
            instance.__setstate__(state)
        else:
            instance.__dict__.update(state)
    check(instance)
    return instance


def _check_attributes(kind: type, state: Parsed) -> None:
    """A state must be a mapping of attributes that hides no method; it gets no more threads than the machine has."""
    if state is None:
        return
    if not isinstance(state, dict):
        raise ArchiveError(f"The model holds a {kind.__name__} whose state is not a mapping.")
    for key, value in state.items():
        if not isinstance(key, str) or not _ATTRIBUTE.fullmatch(key) or key.startswith("__"):
            raise ArchiveError(
                f"The model holds a {kind.__name__} with an attribute whose name is not allowed: {str(key)[:40]!r}."
            )
        own = inspect.getattr_static(kind, key, None)
        if inspect.isroutine(own) or isinstance(own, (property, classmethod, staticmethod)):
            raise ArchiveError(f"The model holds a {kind.__name__} that replaces its own method {key}.")
        if _THREADS.fullmatch(key) and value is not None:
            if not isinstance(value, (int, np.integer)):
                raise ArchiveError(
                    f"The model holds a {kind.__name__} with {key}={str(value)[:20]}, which is not an integer."
                )
            # a model from a larger machine is welcome, but one that starts a million threads is not
            if abs(int(value)) > max(_MANY_THREADS, os.cpu_count() or 1):
                state[key] = os.cpu_count() or 1


def _build_loss(name: str, state: Parsed, arguments: tuple[object, ...]) -> object:
    """One of scikit-learn's compiled losses: nothing but numbers goes in."""
    if state or not all(isinstance(value, (int, float)) for value in arguments):
        raise ArchiveError(f"The model holds a {name} whose parameters are not numbers.")
    return find_class(name)(*arguments)
