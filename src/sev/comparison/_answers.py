"""What methods return, and how each answer is converted to a number of changed features that the model confirms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
import pandas as pd

from sev.comparison._case import Case
from sev.core import Status, python_value
from sev.explanations import Explanation
from sev.typing import BoolArray, Cell, ColumnLabel, FloatArray

Ordering = Literal["signed", "absolute"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a method ended on one query.

    Parameters
    ----------
    status : str
        "flipped": the changes undo the decision. "never_flips": not even all allowed features in the method's order do.
        "none_found": the method found no counterfactual. "not_confirmed": it gave one, but the model does not change
        its decision. "error", "not_applicable": see the reason. For "sev", its own status.
    features : tuple of str
        Features that are changed.
    changes : dict
        Columns that are changed, and what to.
    reason : str
        Why there are none, or what else there is to know.
    to_reference : bool
        Whether features are changed to the reference's values, so that the proven minimum is the method's minimum too.
    ordering : str
        What the answer adds to the name of the method.
    """

    status: str
    features: tuple[str, ...] = ()
    changes: dict[ColumnLabel, Cell] = field(default_factory=dict)
    reason: str = ""
    to_reference: bool = True
    ordering: str = ""

    @property
    def flips(self) -> float:
        """How many features are changed; NaN when the decision is not undone."""
        return float(len(self.features)) if self.features else np.nan


class Answer(Protocol):
    """What a method returns for one query."""

    def settle(self, case: Case, query: int, orderings: Sequence[Ordering]) -> Iterator[Outcome]:
        """Ask the model."""
        ...


@dataclass(frozen=True, eq=False)
class Smallest:
    """The smallest set."""

    explanation: Explanation

    def settle(self, case: Case, query: int, orderings: Sequence[Ordering]) -> Iterator[Outcome]:
        """The model has scored the set already, before it was returned."""
        one = self.explanation
        status = str(one.status)
        reason = one.reason
        if one.status == Status.UNEXPLAINABLE:
            reason = "no set of allowed features, set to the reference's values, changes the decision: proven"
        yield Outcome(
            status=status, features=one.features, changes=_find_changes(case, query, one.features), reason=reason
        )


@dataclass(frozen=True, eq=False)
class Importances:
    """A number for each feature: how much it speaks for the class being explained; and what there is to know of it."""

    values: FloatArray
    note: str = ""

    def settle(self, case: Case, query: int, orderings: Sequence[Ordering]) -> Iterator[Outcome]:
        """Set features to the reference, from the most important down, until the model changes its decision."""
        for ordering in orderings:
            values = self.values if ordering == "signed" else np.abs(self.values)
            # stable, so that ties are walked in the order of the columns
            order = np.argsort(-values, kind="stable")
            order = order[(case.differs[query] & case.allowed)[order]]
            added = ", absolute" if ordering == "absolute" and len(orderings) > 1 else ""
            changed = _find_shortest_flip(case, query, order)
            if changed:
                changes = _find_changes(case, query, changed)
                yield Outcome(status="flipped", features=changed, changes=changes, reason=self.note, ordering=added)
            else:
                reason = "the decision stays the same with all allowed features set to the reference's values"
                yield Outcome(status="never_flips", reason=reason, ordering=added)


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """Other rows that the method says are of the other class, the preferred one first; none: it found nothing."""

    rows: Sequence[pd.DataFrame]

    def settle(self, case: Case, query: int, orderings: Sequence[Ordering]) -> Iterator[Outcome]:
        """Take the first row that the model does put in the other class, and count what it changes."""
        for row in self.rows:
            if case.is_positive(case.scores(row))[0]:
                continue
            changed = changed_features(case, query, row)
            names = tuple(np.array(case.space.names, dtype=object)[changed])
            changes = {
                column: python_value(row[column].iloc[0])
                for column in case.space.columns
                if _is_other(case.queries[column].iloc[query], row[column].iloc[0])
            }
            yield Outcome(status="flipped", features=names, changes=changes, to_reference=False)
            return
        if self.rows:
            yield Outcome(status="not_confirmed", reason="the model does not change its decision", to_reference=False)
        else:
            yield Outcome(status="none_found", reason="no counterfactual was found", to_reference=False)


def changed_features(case: Case, query: int, row: pd.DataFrame) -> BoolArray:
    """Features whose columns are not all the same in a query and another row."""
    changed = np.zeros(len(case.space), dtype=np.bool_)
    for column, feature in zip(case.space.columns, case.space.column_feature.tolist(), strict=True):
        changed[feature] |= _is_other(case.queries[column].iloc[query], row[column].iloc[0])
    return changed


def _is_other(mine: object, other: object) -> bool:
    if pd.isna(mine) or pd.isna(other):
        return bool(pd.isna(mine) != pd.isna(other))
    return bool(mine != other)


def _find_changes(case: Case, query: int, features: Sequence[str]) -> dict[ColumnLabel, Cell]:
    """The columns that differ in a set of features, and the values that the reference has there."""
    chosen = case.space.select(features, what="features")
    reference = case.references.iloc[int(case.assigned[query])]
    return {
        column: python_value(reference[column])
        for column, feature in zip(case.space.columns, case.space.column_feature.tolist(), strict=True)
        if chosen[feature] and _is_other(case.queries[column].iloc[query], reference[column])
    }


def _find_shortest_flip(case: Case, query: int, order: np.ndarray) -> tuple[str, ...]:
    """The shortest beginning of the order that undoes the decision; empty when not even all of it does."""
    if not len(order):
        return ()
    steps = np.zeros((len(order), len(case.space)), dtype=np.bool_)
    for step, feature in enumerate(order.tolist()):
        steps[step:, feature] = True
    flipped = np.flatnonzero(~case.is_positive(case.mixed_scores(query, steps)))
    if not flipped.size:
        return ()
    return tuple(case.space.names[feature] for feature in order[: flipped[0] + 1].tolist())
