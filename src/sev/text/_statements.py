"""What a sentence about an explanation states, before it is put into words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from sev.core import Status
from sev.typing import Cell, ClassLabel, Kind, Minimise, Row, Values, ValuesSearched

#: What features that may not be used could do: nothing that is known, a smaller set, another set of the same size, or
#: the only sets that there are.
NotPermitted: TypeAlias = Literal["none", "smaller", "equal", "only"]


class EnoughRange(NamedTuple):
    """A range of numbers that are enough, both ends included.

    Parameters
    ----------
    low, high : float
        The ends.
    low_is_limit, high_is_limit : bool, default=False
        Whether an end is only where the permitted values end.
    """

    low: float
    high: float
    low_is_limit: bool = False
    high_is_limit: bool = False


class AnyOther(list[Cell]):
    """All categories that are known but the row's own: each of them does."""


#: Values of a feature that do: a range of numbers, or a list of categories.
Enough: TypeAlias = EnoughRange | list[Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The facts that a sentence states; small enough to be made for every row of a large batch."""

    kind: Kind
    status: Status
    target: ClassLabel
    score: float
    threshold: float
    features: tuple[str, ...]
    n_sets: int
    sets_complete: bool
    lower_bound: int
    restricted: tuple[str, ...]
    reason: str
    query: Row
    reference: Row
    not_permitted: NotPermitted = "none"
    other: ClassLabel | None = None
    #: What ``score`` is where the class with the highest one is predicted; None where a threshold decides.
    highest: Literal["probability", "score"] | None = None
    #: What features were permitted to become, and which of these values were searched.
    values: Values = "reference"
    searched: ValuesSearched = "reference"
    #: Whether actions limit what features may become.
    has_actions: bool = False
    #: Whether the fewest features were looked for, or the least cost.
    minimise: Minimise = "features"
    #: For features of the first set, all values that do, where that is known.
    enough: Mapping[str, Enough] = field(default_factory=dict)
    #: The reference row that the row was compared with, by name; empty where there is but one.
    compared_with: str = ""
    #: The least credibility that results had to have, and the size of the smallest set without that limit.
    min_credibility: float = 0.0
    size_without_limit: int | None = None
    #: For numbers, the smallest and the largest value that there are: a range that reaches one needs no end there.
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def scope(self) -> ProofScope:
        """Over what the answer is proven."""
        return proof_scope(self.restricted, self.values, self.searched, has_actions=self.has_actions)


#: Over what an answer is proven: all sets of features, those of the permitted ones, the permitted changes, or only the
#: values that were tried.
ProofScope = Literal["all", "permitted", "changes", "tried"]


def proof_scope(
    restricted: Sequence[str], values: Values, searched: ValuesSearched, *, has_actions: bool
) -> ProofScope:
    """Over what an answer is proven, from what features were permitted to become.

    Parameters
    ----------
    restricted : sequence of str
        Features that no explanation may use.
    values : str
        What features were permitted to become.
    searched : str
        Which values were searched.
    has_actions : bool
        Whether actions limited them.

    Returns
    -------
    ProofScope
        "all", "permitted", "changes" or "tried".
    """
    if searched == "candidates":
        return "tried"
    if has_actions or values != "reference":
        return "changes"
    return "permitted" if restricted else "all"
