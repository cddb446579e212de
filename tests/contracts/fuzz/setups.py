"""What one random case is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from contracts.fuzz.mixing import columns_of, take


@dataclass(kw_only=True, eq=False)
class Setup:
    """A model, its rows, and what is known about it without the package.

    Parameters
    ----------
    model : object
        As handed to :class:`sev.Explainer`.
    background, queries : tables
        Of one library.
    score : callable
        Table to the model's own score of the explained class, written out for this model.
    y : array, default=None
        Labels of the background.
    threshold : float
        A row is explained when its score is at least this.
    predict : callable, default=None
        Table to booleans: the model's own ``predict`` names the explained class. None where it has no ``predict``.
    reference : table of one row, default=None
        Passed as ``reference=``; None leaves it to the package, and the row that it reports is mixed.
    options : dict
        Further arguments of the explainer.
    groups : dict of str to list of columns, default=None
        Passed as ``groups=``.
    blocks : dict of str to list of columns, default=None
        Groups that the package has to find by itself.
    rounding : float
        Rows with a vertex whose score is closer to the threshold than this are not compared: the score of one row
        depends on the rows scored with it. 0 for models whose scores do not.
    order_tolerance : float
        Sets whose scores are closer than this may come in any order: a backend works with margins, not with scores. 0
        where both are exact, so that the order of the sets follows from the scores alone.
    decisions_only : bool
        ``score`` stands for the decision: its values are not compared with the package's scores.
    may_fail : bool
        The model may raise or return NaN at some rows.
    may_give_up : bool
        An error is a right answer for every row.
    repeatable : bool
        Whether the model returns the same score for the same row.
    saves : bool
        Whether the explainer can be pickled.
    scored : callable, default=None
        Number of rows that the model has scored so far, for models that count.
    refuses : tuple of exception types
        Errors with which the explainer may refuse this model.
    may_raise : tuple of exception types
        Errors with which ``explain`` may refuse this model.
    explained : table, default=None
        The queries as handed to ``explain``, where that is another table than ``queries``.
    expects_backend : str, default=None
        The backend that such a model has to have.
    by_class : list of callables, default=None
        With ``target="predicted"``: the score of each class. A row is explained as the class with the highest one.
    n_enumerated : int
        Tables of more features are enumerated over those that differ between query and reference.
    """

    model: Any
    background: Any
    queries: Any
    score: Callable[[Any], np.ndarray]
    y: Any = None
    threshold: float = 0.5
    predict: Callable[[Any], np.ndarray] | None = None
    reference: Any = None
    options: dict[str, Any] = field(default_factory=dict)
    groups: dict[str, list[Any]] | None = None
    blocks: dict[str, list[Any]] | None = None
    rounding: float = 0.0
    order_tolerance: float = 1e-9
    decisions_only: bool = False
    may_fail: bool = False
    may_give_up: bool = False
    repeatable: bool = True
    saves: bool = True
    scored: Callable[[], int] | None = None
    refuses: tuple[type[BaseException], ...] = ()
    may_raise: tuple[type[BaseException], ...] = ()
    explained: Any = None
    expects_backend: str | None = None
    by_class: list[Callable[[Any], np.ndarray]] | None = None
    n_enumerated: int = 10

    def of_class(self, number: int, reference: Any) -> Setup:
        """The same for the rows of one class and its reference."""
        assert self.by_class is not None
        return replace(self, score=self.by_class[number], reference=take(reference, [number]))

    def feature_columns(self) -> list[list[int]]:
        """Positions of the columns of each feature, in the order of their first columns."""
        columns = columns_of(self.queries)
        groups = {**(self.groups or {}), **(self.blocks or {})}
        owner = {member: name for name, members in groups.items() for member in members}
        features: dict[Any, list[int]] = {}
        for place, column in enumerate(columns):
            features.setdefault(("group", owner[column]) if column in owner else ("column", place), []).append(place)
        return list(features.values())


@dataclass(frozen=True, kw_only=True)
class Call:
    """Settings of one call of ``explain``."""

    kind: str = "minus"
    restricted: tuple[int, ...] = ()
    max_size: int | None = None
    max_sets: int = 100
    time_limit: float | None = None
    max_predictions: int | None = 1_000_000
    style: str = "batch"

    def __str__(self) -> str:
        default = Call()
        given = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return "explain(" + ", ".join(f"{n}={v!r}" for n, v in given.items() if v != getattr(default, n)) + ")"

    @property
    def is_limited(self) -> bool:
        """Whether the search may end before its answer is proven."""
        return self.time_limit is not None or (self.max_predictions or 1_000_000) < 1000


class SkipSetup(Exception):
    """The random draw leads to nothing that can be explained."""
