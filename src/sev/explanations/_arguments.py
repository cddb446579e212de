"""What explanations are made from, by name: arguments of their constructor as other parts hand them on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NotRequired, TypedDict

import pandas as pd

from sev.core import Answers, LazyList
from sev.typing import ClassLabel, ColumnLabel, FloatArray, IntArray, Kind, Minimise, Order, Values, ValuesSearched

if TYPE_CHECKING:
    from sev.explanations._changes import Efforts, EnoughValues
    from sev.explanations._classes import ClassScores
    from sev.explanations._source import Source
    from sev.text import Labels, NotPermitted


class FoundArguments(TypedDict):
    """What a search found: its answers, and the rows that features are changed to.

    Parameters
    ----------
    answers : Answers
        One for each row.
    references : DataFrame
        Rows that features are changed to.
    values, values_searched, set_references, enough
        Where values were chosen: which, how far they were searched, the changed row of each set by its number among
        the references, and the values of its features that do.

    Examples
    --------
    >>> from sev.explanations import FoundArguments
    >>> list(FoundArguments.__annotations__)[:2]
    ['answers', 'references']
    """

    answers: Answers
    references: pd.DataFrame
    values: NotRequired[Values]
    values_searched: NotRequired[tuple[ValuesSearched, ...]]
    set_references: NotRequired[IntArray]
    enough: NotRequired[LazyList[Mapping[str, EnoughValues]]]


class SharedArguments(TypedDict):
    """What is the same for all rows of a call."""

    features: Mapping[str, tuple[ColumnLabel, ...]]
    kind: Kind
    targets: tuple[ClassLabel, ...]
    thresholds: tuple[float, ...]
    restricted: tuple[str, ...]
    source: NotRequired[Source | None]
    labels: Labels | None
    classes: tuple[ClassLabel, ...]
    efforts: Efforts
    has_actions: bool
    order: Order
    min_credibility: float
    actions_hash: str | None
    limits: Mapping[str, tuple[float, float]]
    minimise: Minimise


class DocumentArguments(SharedArguments):
    """What a JSON document of explanations holds."""

    answers: Answers
    queries: pd.DataFrame
    references: pd.DataFrame
    values: Values
    values_searched: tuple[ValuesSearched, ...] | None
    set_references: IntArray | None
    enough: tuple[Mapping[str, EnoughValues], ...] | None
    compared_with: tuple[str, ...] | None
    credibilities: FloatArray
    not_permitted: tuple[NotPermitted, ...] | None
    class_scores: ClassScores | None
