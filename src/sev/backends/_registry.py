"""Readers and scorers of models, from this package and from outside.

A subclass goes to the reader of its nearest registered ancestor, unless it overrides how that one scores rows, and
must prove itself like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sev._registry import add_route, find, libraries, load, look_up, routes
from sev.backends._overrides import refuse_overrides
from sev.backends._protocol import Backend
from sev.typing import FittedModel, ModelOutput, NativeTable

#: Reads a fitted model, by the name of its response, into a form that has an exact solver.
Reader: TypeAlias = Callable[[FittedModel, str], Backend]
#: Takes a fitted model; returns what scores rows.
ScorerFactory: TypeAlias = Callable[[FittedModel], Callable[[NativeTable], ModelOutput]]


def register(model_key: str, reader: str) -> None:
    """Send models called ``"package.Class"`` to the reader ``"module:function"``, importing neither.

    Parameters
    ----------
    model_key : str
        ``"package.Class"`` of the models.
    reader : str
        ``"module:function"`` of the reader.

    Raises
    ------
    InputError
        If the class has another reader already.

    Examples
    --------
    >>> import sev
    >>> sev.backends.register("mypackage.Scorecard", "mypackage.readers:read_scorecard")  # doctest: +SKIP
    """
    add_route("read", model_key, reader)


def register_scorer(model_key: str, scorer: str) -> None:
    """Name the function that scores rows for models without ``predict_proba`` and ``decision_function``.

    ``"module:function"`` takes the model and returns a callable from rows to scores: one column, the score of the
    positive class, or one column a class.

    Parameters
    ----------
    model_key : str
        ``"package.Class"`` of the models.
    scorer : str
        ``"module:function"`` of the scorer.

    Raises
    ------
    InputError
        If the class has another scorer already.

    Examples
    --------
    >>> import sev
    >>> sev.backends.register_scorer("mypackage.Model", "mypackage.scores:score")  # doctest: +SKIP
    """
    add_route("score", model_key, scorer)


def reader_for(model: object) -> Reader | None:
    """The reader of a model's class or nearest ancestor, None when there is none.

    Parameters
    ----------
    model : object
        A fitted model.

    Returns
    -------
    callable or None
        Takes the model and the name of its response, returns the backend.

    Raises
    ------
    CannotReadError
        When the model's class overrides how that ancestor scores rows.
    """
    match = find(model, "read")
    if match is None:
        return None
    if not any(match.key in library.read_by_tracing for library in libraries().values()):
        refuse_overrides(model, match.ancestor)
    return load(match.route)


def scorer_for(model: object) -> ScorerFactory | None:
    """The scorer of a model's class or nearest ancestor, None when there is none.

    Parameters
    ----------
    model : object
        A fitted model.

    Returns
    -------
    callable or None
        Takes the model, returns a function from rows to scores.
    """
    return look_up(model, "score")


def registered_models() -> tuple[str, ...]:
    """All model keys that have a reader.

    Returns
    -------
    tuple of str
        ``"package.Class"`` of each.

    Examples
    --------
    >>> import sev
    >>> "sklearn.LogisticRegression" in sev.backends.registered_models()
    True
    """
    return tuple(routes("read"))
