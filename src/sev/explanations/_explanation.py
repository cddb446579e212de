"""One explanation."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from sev.explanations._json import plain_row, plain_value
from sev.explanations._status import Status
from sev.explanations._verification import verify_all
from sev.explanations._words import sentence
from sev.typing import Kind

if TYPE_CHECKING:
    from sev.explanations._source import Source

#: What a cell holds that a set leaves as it is.
UNCHANGED = "---"


@dataclass(frozen=True, kw_only=True, eq=False)
class Explanation:
    """The smallest set of reasons for one decision, and how sure it is.

    Attributes
    ----------
    kind : {"minus", "plus"}
        "minus": features of the query that, set to the reference's values, undo the decision. "plus": features of the
        reference that, set to the query's values, bring it about.
    status : Status
        How the search ended.
    size : int or None
        The sparse explanation value; None when no set was found.
    lower_bound : int
        No smaller set works: proven.
    features : tuple of str
        The first minimum set.
    sets : tuple of tuple of str
        All minimum sets, the one that takes the score furthest first.
    sets_complete : bool
        Whether ``sets`` is all of them.
    query, reference, result : Series
        The row as given, the reference, and the row with the change of the first set made (None when there is no set).
    score, result_score : float
        The model's own scores of query and result (None when there is no set).
    threshold : float
        Scores of at least this are predicted as the target.
    target : object
        The class being explained.
    restricted : tuple of str
        Features that no set may use.
    columns : mapping of str to tuple
        The columns of each feature.
    reason : str
        For status "error": what went wrong.
    """

    kind: Kind
    status: Status
    size: int | None
    lower_bound: int
    features: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...]
    sets_complete: bool
    query: pd.Series
    reference: pd.Series
    result: pd.Series | None
    score: float
    result_score: float | None
    threshold: float
    target: Any
    restricted: tuple[str, ...] = ()
    columns: Mapping[str, tuple[Any, ...]] = field(repr=False)
    reason: str = ""
    _source: Source | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        found = f"size={self.size}, features={self.features!r}" if self.size is not None else "no set"
        return f"<Explanation SEV{'-' if self.kind == 'minus' else '+'} {self.status}: {found}>"

    def verify(self, explainer: Any = None) -> None:
        """Ask the model again; raise :class:`~sev.exceptions.VerificationError` if a set does not do what it says.

        Parameters
        ----------
        explainer : Explainer, default=None
            Needed only for explanations that were read from a file, which do not carry the model.
        """
        verify_all([self], explainer)

    def to_frame(self) -> pd.DataFrame:
        """The paper's table: the query, the reference, and one line for each set that shows only what it changes."""
        label = "SEV-" if self.kind == "minus" else "SEV+"
        donor = self.reference if self.kind == "minus" else self.query
        rows = {"query": list(self.query), "reference": list(self.reference)}
        for number, names in enumerate(self.sets, start=1):
            changed = {column for name in names for column in self.columns[name]}
            rows[f"{label} {number}"] = [donor[c] if c in changed else UNCHANGED for c in self.query.index]
        return pd.DataFrame.from_dict(rows, orient="index", columns=list(self.query.index)).astype(object)

    def to_text(self) -> str:
        """One plain sentence or two."""
        return sentence(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values only, ready for JSON."""
        return {
            "kind": self.kind,
            "target": plain_value(self.target),
            "status": str(self.status),
            "size": self.size,
            "lower_bound": self.lower_bound,
            "features": list(self.features),
            "sets": [list(names) for names in self.sets],
            "sets_complete": self.sets_complete,
            "query": plain_row(self.query),
            "reference": plain_row(self.reference),
            "result": None if self.result is None else plain_row(self.result),
            "score": plain_value(self.score),
            "result_score": plain_value(self.result_score),
            "threshold": plain_value(self.threshold),
            "restricted": list(self.restricted),
            "reason": self.reason,
        }

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.to_text())}</p>{self.to_frame().to_html(escape=True)}"
