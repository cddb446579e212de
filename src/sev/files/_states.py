"""Objects from their states: the states are checked before they are set, and objects before they are handed on."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from sev.exceptions import ArchiveError
from sev.files import _boosters, _estimators, _trees
from sev.files._trusted import find_class

_MANY_THREADS = 16
_THREADS = re.compile(r"_?(n_jobs|n_threads|nthreads?|num_threads|thread_count)_?")
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", flags=re.ASCII)
_LOSS_MODULES = ("sklearn._loss._loss.", "sklearn.linear_model._sgd_fast.")


def build(name: str, state: Any, arguments: tuple[Any, ...] = ()) -> Any:
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
    if name in _BUILDERS:
        return _BUILDERS[name](state, arguments)
    if name.startswith(_LOSS_MODULES):
        return _loss(name, state, arguments)
    kind = find_class(name)
    _check_attributes(kind, state)
    instance = kind.__new__(kind)
    if state is not None:
        if hasattr(instance, "__setstate__"):
            instance.__setstate__(state)
        else:
            instance.__dict__.update(state)
    _estimators.check(instance)
    return instance


def _check_attributes(kind: type, state: Any) -> None:
    """A state must be a mapping of attributes that hides no method; it gets no more threads than the machine has."""
    if state is None:
        return
    if not isinstance(state, dict):
        raise ArchiveError(f"The model holds a {kind.__name__} whose state is not a mapping.")
    for key, value in state.items():
        if not isinstance(key, str) or not _ATTRIBUTE.fullmatch(key) or key.startswith("__"):
            raise ArchiveError(f"The model holds a {kind.__name__} with an attribute called {str(key)[:40]!r}.")
        own = inspect.getattr_static(kind, key, None)
        if inspect.isroutine(own) or isinstance(own, (property, classmethod, staticmethod)):
            raise ArchiveError(f"The model holds a {kind.__name__} whose {key} is replaced.")
        if _THREADS.fullmatch(key) and value is not None:
            if not isinstance(value, (int, np.integer)):
                raise ArchiveError(f"The model holds a {kind.__name__} with {key}={str(value)[:20]}.")
            # a model from a larger machine is welcome, but one that starts a million threads is not
            if abs(int(value)) > max(_MANY_THREADS, os.cpu_count() or 1):
                state[key] = os.cpu_count() or 1


def _loss(name: str, state: Any, arguments: tuple[Any, ...]) -> Any:
    """One of scikit-learn's compiled losses: nothing but numbers goes in."""
    if state or not all(isinstance(value, (int, float)) for value in arguments):
        raise ArchiveError(f"The model holds a {name} whose parameters are not numbers.")
    return find_class(name)(*arguments)


_BUILDERS: dict[str, Callable[[Any, tuple[Any, ...]], Any]] = {
    "sklearn.tree._tree.Tree": _trees.tree,
    "sklearn.neighbors._kd_tree.KDTree": _trees.kd_tree,
    "sklearn.neighbors._ball_tree.BallTree": _trees.ball_tree,
    "sklearn.metrics._dist_metrics.EuclideanDistance64": _trees.euclidean_distance,
    "sklearn.metrics._dist_metrics.ManhattanDistance64": _trees.manhattan_distance,
    "sklearn.metrics._dist_metrics.MinkowskiDistance64": _trees.minkowski_distance,
    "lightgbm.basic.Booster": _boosters.lightgbm_booster,
    "xgboost.core.Booster": _boosters.xgboost_booster,
    "catboost.core.CatBoost": _boosters.catboost_model,
    "catboost.core.CatBoostClassifier": _boosters.catboost_classifier,
}
