"""What is known about one explanation: the fields of its record, and what follows from them without the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from sev.core import Status
from sev.explanations._changes import Change, Efforts, EnoughValues, changes_between, cost_of
from sev.explanations._classes import ClassScores
from sev.explanations._credibilities import ChangeDistance, distance_of
from sev.explanations._pair import Pair
from sev.space import row_as_series
from sev.text import Labels, NotPermitted, ProofScope, proof_scope
from sev.typing import ClassLabel, ColumnLabel, Kind, Minimise, Order, Values, ValuesSearched

if TYPE_CHECKING:
    from sev.explanations._source import Source


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ExplanationRecord:
    """The parts of one explanation; :class:`sev.Explanation` documents the fields, and adds checks, tables, sentences
    and plots.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> one = explainer.explain_one(X.iloc[5])
    >>> one.changes["debt"].new
    1
    """

    kind: Kind
    status: Status
    size: int | None
    lower_bound: int
    features: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...]
    sets_complete: bool
    score: float
    result_score: float | None
    threshold: float
    target: ClassLabel
    restricted: tuple[str, ...] = ()
    columns: Mapping[str, tuple[ColumnLabel, ...]] = field(repr=False)
    reason: str = ""
    labels: Labels = field(default_factory=Labels, repr=False)
    other: ClassLabel | None = None
    values: Values = "reference"
    values_searched: ValuesSearched = "reference"
    efforts: Efforts = field(default_factory=dict, repr=False)
    has_actions: bool = False
    compared_with: str = ""
    order: Order = "margin"
    first_of_all: bool = True
    min_credibility: float = 0.0
    size_without_limit: int | None = None
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    minimise: Minimise = "features"
    _pair: Pair = field(repr=False)
    #: The row with the change of the first set made, where it is known already.
    _changed: pd.Series | None = field(default=None, repr=False)
    #: The changed row of each set, where every set has values of its own, and the values that do.
    _moved: pd.DataFrame | None = field(default=None, repr=False)
    _enough: Sequence[Mapping[str, EnoughValues]] = field(default=(), repr=False)
    _source: Source | None = field(default=None, repr=False)
    _compare: Callable[[], NotPermitted] | None = field(default=None, repr=False)
    _classes: Callable[[], tuple[ClassScores | None, ClassLabel | None]] | None = field(default=None, repr=False)
    _credibility: Callable[[], float | None] | None = field(default=None, repr=False)

    @property
    def query(self) -> pd.Series:
        """The row as given, each cell of the type that it has in its column."""
        return self._pair.query

    @property
    def reference(self) -> pd.Series:
        """What the row is compared with."""
        return self._pair.reference

    @cached_property
    def result(self) -> pd.Series | None:
        """The row with the change of the first set made; None when there is no set."""
        if self._changed is not None:
            return self._changed
        return self._pair.changed(self.sets[0]) if self.sets else None

    @cached_property
    def changes(self) -> dict[str, Change]:
        """What the first set changes: for each of its features the old value, the new one, and what is enough."""
        if self.result is None:
            return {}
        return self.changes_of(0)

    def changes_of(self, number: int) -> dict[str, Change]:
        """What one of the sets changes, by its place in :attr:`sets`.

        Parameters
        ----------
        number : int
            Place of the set in :attr:`sets`; the first is 0.

        Returns
        -------
        dict of str to Change
            For each feature of the set its value before and after.

        Examples
        --------
        >>> {name: change.new for name, change in one.changes_of(1).items()}
        {'debt': 1, 'age': 40}
        """
        before = self.query if self.kind == "minus" else self.reference
        return changes_between(before, self.donor_of(number), self.sets[number], self.columns, self.enough_of(number))

    def enough_of(self, number: int) -> Mapping[str, EnoughValues]:
        """For each feature of one of the sets, the values that are enough, where they are proven.

        Parameters
        ----------
        number : int
            Place of the set in :attr:`sets`; the first is 0.

        Returns
        -------
        mapping of str to Interval or tuple
            Empty where nothing is proven about ranges, as with ``values="reference"``.

        Examples
        --------
        >>> explainer.explain_one(X.iloc[4], values="any").enough_of(0)["debt"].high
        3.0
        """
        return self._enough[number] if self._enough else {}

    def _plain_changes(self) -> dict[str, Change]:
        """What the first set changes, without the ranges, which may have to be found first."""
        before = self.query if self.kind == "minus" else self.reference
        return changes_between(before, self.donor_of(0), self.sets[0], self.columns, {})

    def donor_of(self, number: int) -> pd.Series:
        """The row that one of the sets takes its new values from, by its place in :attr:`sets`.

        Parameters
        ----------
        number : int
            Place of the set in :attr:`sets`; the first is 0.

        Returns
        -------
        Series
            The reference; with ``values="typical"`` or "any", a row that holds the new values of this set.

        Examples
        --------
        >>> one.donor_of(0).to_dict()
        {'debt': 1, 'late': 0, 'age': 40}
        """
        if self._moved is not None:
            return self._result_of(number)
        return self.reference if self.kind == "minus" else self.query

    @cached_property
    def results(self) -> tuple[pd.Series, ...]:
        """The changed row of each set, where every set has values of its own: ``values="typical"`` or "any"."""
        return () if self._moved is None else tuple(map(self._result_of, range(len(self._moved))))

    def _result_of(self, number: int) -> pd.Series:
        """One of the changed rows."""
        assert self._moved is not None
        return row_as_series(self._moved, number).rename("result")

    @property
    def enough(self) -> dict[str, EnoughValues]:
        """For each feature of the first set, the values that are proven to be enough; see :class:`Change`."""
        return {name: change.enough for name, change in self.changes.items() if change.enough is not None}

    @cached_property
    def cost(self) -> float | None:
        """Total cost of the changes of the first set, in standard deviations of the background times the weights of the
        actions; a change of a category costs its weight. None when there is no set.
        """
        return None if self.result is None else cost_of(self._plain_changes(), self.efforts)

    @cached_property
    def distance(self) -> ChangeDistance | None:
        """How far the first set takes the row: largest and total change of numbers in standard deviations of the
        background, and the number of other changes. None when there is no set, or the background is not known.
        """
        return None if self.result is None or not self.efforts else distance_of(self.changes, self.efforts)

    @cached_property
    def credibility(self) -> float | None:
        """The share of real rows of the other class that are less ordinary than the result; None when there is no set,
        for "plus", and where it is not known.
        """
        return None if self._credibility is None else self._credibility()

    @property
    def price_of_credibility(self) -> int | None:
        """How many more features are needed because the result must be credible; None without ``min_credibility``, or
        where one of the two sizes is not known.
        """
        if self.size is None or self.size_without_limit is None:
            return None
        return self.size - self.size_without_limit

    @property
    def proof_scope(self) -> ProofScope:
        """What the proof covers: "all" sets of features, sets of the "permitted" features, the permitted "changes",
        or only the values that were "tried".
        """
        return proof_scope(self.restricted, self.values, self.values_searched, has_actions=self.has_actions)

    @cached_property
    def not_permitted(self) -> NotPermitted:
        """Whether features that may not be used would explain more: "smaller", "equal", "only" or "none"; see
        :attr:`sev.Explanations.not_permitted`.
        """
        return "none" if self._compare is None else self._compare()

    @cached_property
    def _class_scores_and_becomes(self) -> tuple[ClassScores | None, ClassLabel | None]:
        return (None, None) if self._classes is None else self._classes()

    @property
    def class_scores(self) -> ClassScores | None:
        """For a model that predicts the class with the highest score: the scores of the explained class before and
        after the change, as arrays with one entry. None for other models.
        """
        return self._class_scores_and_becomes[0]

    @property
    def becomes(self) -> ClassLabel | None:
        """The class that the row becomes with the change; None where there is no change, or for "plus"."""
        return self._class_scores_and_becomes[1]

    @property
    def differing_features(self) -> tuple[str, ...]:
        """Features in which query and reference are not the same."""
        return self._pair.differing
