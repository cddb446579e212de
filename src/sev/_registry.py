"""Which function knows which model: one look-up for reading, scoring, training and files.

Each model library has a folder in ``sev.libraries``, whose :class:`Library` names its functions for each role. Models
are known by ``"package.Class"``, the first part of their class's module and its name; functions by
``"module:function"``, where ``".read:read_booster"`` is in the library's own folder. Nothing is imported before it is
used, and a library that is not installed is never missed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeAlias

from sev.exceptions import InputError

#: The model libraries, one folder of ``sev.libraries`` each.
LIBRARIES = ("sklearn", "xgboost", "lightgbm", "catboost", "interpret", "torch", "skorch", "treelite")

#: What a function does for models of a class; :class:`Library` says what each takes and returns.
Role: TypeAlias = Literal[
    "read",
    "score",
    "categories",
    "trained_columns",
    "stored_categories",
    "decide",
    "hand_on",
    "unwrap",
    "votes",
    "curves",
    "train",
    "reweight",
    "to_bytes",
]


@dataclass(frozen=True, kw_only=True)
class Library:
    """What is known about one model library.

    Parameters
    ----------
    package : str
        What is imported.
    distribution : str, default=None
        What is installed; None: the same name.
    extra : str, default=None
        The extra of this package that installs it.
    read : mapping
        ``read(model, response) -> Backend``: the exact form of a final estimator.
    read_by_tracing : frozenset
        Models that are read from what they do with a row, so that a subclass may override anything.
    score : mapping
        ``score(model)`` returns a function from rows to scores, for models without ``predict_proba`` and
        ``decision_function``.
    categories : mapping
        ``categories(model, n_columns)``: positions of the columns that it takes as categories.
    trained_columns : mapping
        ``trained_columns(model)``: names of its columns, for models without ``feature_names_in_``.
    stored_categories : mapping
        ``stored_categories(model, rows, what)``: the categories that it keeps of columns of rows read from text.
    decide : mapping
        ``decide(model) -> DecisionRule | None``: the threshold of its own by which ``predict`` decides.
    hand_on : mapping
        ``hand_on(wrapper)``: the model to which a wrapper's ``predict`` is handed on, or None.
    unwrap : mapping
        ``unwrap(found: Unwrapped)`` takes one wrapper off.
    votes : mapping
        ``votes(unwrapped)``: scores of a model of several classes that predicts by votes, or None.
    curves : mapping
        ``curves(step, columns)``: how the columns that a fitted step makes depend on raw numbers, or None.
    train : mapping
        The family whose training tunes such models: "linear", "network" or "trees".
    reweight : mapping
        ``reweight(model) -> Ensemble``, for the family "trees".
    to_bytes : mapping
        ``to_bytes(model) -> bytes`` in the library's own format, for models that are not scikit-learn estimators.
    from_bytes : str, default=None
        Reads a checked model from the library's own format; the name of the format is ``package``.
    endings : tuple of str
        Of files in that format.
    trusted, trusted_functions : frozenset of str
        Types and functions, by their full names, that may stand in a model file.
    builders : mapping
        ``build(state, arguments)`` for types, by their full names, whose state is not set as it is.
    """

    package: str
    distribution: str | None = None
    extra: str | None = None
    read: Mapping[str, str] = field(default_factory=dict)
    read_by_tracing: frozenset[str] = frozenset()
    score: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, str] = field(default_factory=dict)
    trained_columns: Mapping[str, str] = field(default_factory=dict)
    stored_categories: Mapping[str, str] = field(default_factory=dict)
    decide: Mapping[str, str] = field(default_factory=dict)
    hand_on: Mapping[str, str] = field(default_factory=dict)
    unwrap: Mapping[str, str] = field(default_factory=dict)
    votes: Mapping[str, str] = field(default_factory=dict)
    curves: Mapping[str, str] = field(default_factory=dict)
    train: Mapping[str, str] = field(default_factory=dict)
    reweight: Mapping[str, str] = field(default_factory=dict)
    to_bytes: Mapping[str, str] = field(default_factory=dict)
    from_bytes: str | None = None
    endings: tuple[str, ...] = ()
    trusted: frozenset[str] = frozenset()
    trusted_functions: frozenset[str] = frozenset()
    builders: Mapping[str, str] = field(default_factory=dict)

    def load(self, route: str) -> Callable[..., Any]:
        """The function that a route of this library names."""
        return load(self.absolute(route))

    def absolute(self, route: str) -> str:
        """A route with the folder of this library before it, where it is relative."""
        return f"sev.libraries.{self.package}{route}" if route.startswith(".") else route


class Match(NamedTuple):
    """What the registry knows about a model: through which key and class, and the route to the function."""

    key: str
    ancestor: type
    route: str


@cache
def libraries() -> dict[str, Library]:
    """Every library by its package."""
    return {name: import_module(f"sev.libraries.{name}").LIBRARY for name in LIBRARIES}


@cache
def _built_in(role: Role) -> dict[str, str]:
    return {
        key: library.absolute(route)
        for library in libraries().values()
        for key, route in getattr(library, role).items()
    }  # fmt: skip


_ADDED: dict[Role, dict[str, str]] = {}


def add_route(role: Role, model_key: str, route: str) -> None:
    """Send models called ``"package.Class"`` to ``"module:function"``, importing neither.

    Raises
    ------
    InputError
        When they go to another function already.
    """
    known = routes(role).get(model_key, route)
    if known != route:
        raise InputError(
            f"{model_key!r} is already registered for the role {role!r}, with {known!r}: register {route!r} under "
            "another name, or leave the first out."
        )
    _ADDED.setdefault(role, {})[model_key] = route


def routes(role: Role) -> dict[str, str]:
    """Every model key that has a function for a role, with the route to it."""
    return {**_built_in(role), **_ADDED.get(role, {})}


def find(model: object, role: Role) -> Match | None:
    """The route of a model's class or nearest registered ancestor, None when there is none."""
    known = routes(role)
    for cls in type(model).__mro__:
        key = key_of(cls)
        if key in known:
            return Match(key, cls, known[key])
    return None


def look_up(model: object, role: Role) -> Callable[..., Any] | None:
    """The function of a model's class or nearest registered ancestor, None when there is none."""
    match = find(model, role)
    return None if match is None else load(match.route)


def load(route: str) -> Callable[..., Any]:
    """The function that ``"module:function"`` names."""
    module, _, name = route.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def key_of(cls: type) -> str:
    """``"package.Class"``."""
    return f"{cls.__module__.partition('.')[0]}.{cls.__name__}"


def is_among(model: object, keys: Collection[str]) -> bool:
    """Whether the class of a model, or an ancestor of it, is one of ``"package.Class"``."""
    return any(key_of(cls) in keys for cls in type(model).__mro__)
