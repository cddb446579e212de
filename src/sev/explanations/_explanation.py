"""One explanation."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from sev.core import Status, kind_label, plain_row, plain_value
from sev.exceptions import InputError, VerificationError
from sev.explanations._statements import statement_of
from sev.explanations._verification import Claims, verify
from sev.explanations._vertices import checked_names, differing, main_features, path_scores, source_of, vertex_scores
from sev.text import Labels, NotPermitted, Speaker, Statement
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
    labels : Labels
        Names for people.
    other : object
        The class that the row becomes with the change; None where the model has more than two.
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
    labels: Labels = field(default_factory=Labels, repr=False)
    other: Any = None
    _source: Source | None = field(default=None, repr=False)
    _compare: Callable[[], NotPermitted] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        found = f"size={self.size}, features={self.features!r}" if self.size is not None else "no set"
        return f"<Explanation {kind_label(self.kind)} {self.status}: {found}>"

    @cached_property
    def not_permitted(self) -> NotPermitted:
        """What the features that may not be used could do: "smaller", "equal", "only" or "none"; see
        :attr:`sev.Explanations.not_permitted`.
        """
        return "none" if self._compare is None else self._compare()

    def verify(self, explainer: Any = None, **options: Any) -> None:
        """Check this explanation; raise :class:`~sev.exceptions.VerificationError` if it does not hold.

        Without an explainer, the model scores the row and the change of each set again. With one, nothing in this
        explanation is believed: the explainer's own reference, threshold, class and restricted features are used, the
        row is explained again, and the error says what differs.

        Parameters
        ----------
        explainer : Explainer, default=None
            Needed for explanations that were read from a file, which do not carry the model.
        **options
            As for :meth:`sev.Explainer.explain`, for explaining again: ``restricted`` if the explanation was asked for
            with other restricted features than the explainer's own, or higher limits.
        """
        if self.status is Status.ERROR and explainer is None:
            raise VerificationError(f"There is nothing to verify: {self.reason}.")
        verify(Claims.of_one(self), self._source, explainer, **options)

    def to_frame(self) -> pd.DataFrame:
        """The paper's table: the query, the reference, and one line for each set that shows only what it changes."""
        label = kind_label(self.kind)
        donor = self.reference if self.kind == "minus" else self.query
        rows = {"query": list(self.query), "reference": list(self.reference)}
        for number, names in enumerate(self.sets, start=1):
            changed = {column for name in names for column in self.columns[name]}
            rows[f"{label} {number}"] = [donor[c] if c in changed else UNCHANGED for c in self.query.index]
        return pd.DataFrame.from_dict(rows, orient="index", columns=list(self.query.index)).astype(object)

    def to_text(
        self,
        *,
        wording: str | Path | Mapping[str, Any] | None = None,
        language: str | Path | Mapping[str, Any] | None = None,
    ) -> str:
        """One plain sentence or two.

        Parameters
        ----------
        wording : path or mapping, default=None
            What to say of each feature: its name for people, or a map with any of ``label``, ``unit``, ``digits``,
            ``values`` (a word for each value), ``is`` and ``been`` (a phrase with ``{label}`` and ``{value}``, or a
            phrase for each value). A path is a YAML file of the same content.
        language : path or mapping, default=None
            The sentences themselves, as in ``sev/text/languages/en.yaml``, whole or in part, such as
            ``{"predicted": "Refused", "otherwise": "the application would have passed"}``.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> import sev
        >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0], [4.0, 1.0]]
        >>> model = LogisticRegression().fit(X, [0, 0, 0, 1, 1, 1])
        >>> one = sev.Explainer(model, X, [0, 0, 0, 1, 1, 1]).explain_one([5.0, 0.0])
        >>> one.to_text(
        ...     wording={"x0": {"label": "the debt", "unit": "thousand"}},
        ...     language={"predicted": "Refused", "otherwise": "the application would have passed"},
        ... )
        'Refused because the debt is 5 thousand. Had the debt been 0 thousand, with all else equal, the application
        would have passed.'
        """
        return Speaker(self.columns, wording, language, self.labels).sentence(self.statement())

    @property
    def differing_features(self) -> tuple[str, ...]:
        """Features in which query and reference are not the same."""
        return differing(self)

    def main_features(self, at_most: int) -> tuple[str, ...]:
        """The features of the sets, the first set's first, then others that differ from the reference.

        Parameters
        ----------
        at_most : int
            How many.
        """
        return main_features(self, at_most)

    def statement(self) -> Statement:
        """What a sentence about this explanation states."""
        return statement_of(self)

    def vertices(self, features: Iterable[str] | None = None, *, explainer: Any = None) -> pd.DataFrame:
        """Scores of all vertices of the cube that a few features span.

        Parameters
        ----------
        features : iterable of str, default=None
            At most ten; None is up to four of those that the sets use, filled up with others that differ.
        explainer : Explainer, default=None
            Needed only for explanations that were read from a file, which do not carry the model.

        Returns
        -------
        DataFrame
            One row a vertex: ``changed`` (the features that are changed, a tuple), ``n_changed``, ``score``,
            ``positive``. The other features stay as in the row that the change starts from.
        """
        names = main_features(self, 4) if features is None else checked_names(self, features)
        return vertex_scores(self, names, source_of(self, explainer))

    def path_scores(self, features: Iterable[str] | None = None, *, explainer: Any = None) -> pd.DataFrame:
        """Scores on the way, as features are changed one by one, at each step the one that takes the score furthest.

        Parameters
        ----------
        features : iterable of str, default=None
            Features to change; None is the first minimum set.
        explainer : Explainer, default=None
            Needed only for explanations that were read from a file, which do not carry the model.

        Returns
        -------
        DataFrame
            One row a step, the start included: ``feature``, ``score``, ``positive``.
        """
        names = self.features if features is None else checked_names(self, features)
        return path_scores(self, names, source_of(self, explainer))

    def plot(self, what: Literal["changes", "hypercube", "path"] = "changes", *, ax: Any = None, **options: Any) -> Any:
        """Draw the explanation; returns the Axes.

        Parameters
        ----------
        what : {"changes", "hypercube", "path"}, default="changes"
            The picture: :func:`sev.plots.changes`, :func:`sev.plots.hypercube` or :func:`sev.plots.score_path`.
        ax : Axes, default=None
            Where to draw; None makes a new figure.
        **options
            For that function.
        """
        from sev.plots import changes, hypercube, score_path

        pictures: dict[str, Any] = {"changes": changes, "hypercube": hypercube, "path": score_path}
        if what not in pictures:
            raise InputError(f"what={what!r} is not a picture: use one of {list(pictures)}.")
        return pictures[what](self, ax=ax, **options)

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
            "not_permitted": self.not_permitted,
            "reason": self.reason,
        }

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.to_text())}</p>{self.to_frame().to_html(escape=True)}"
