"""One explanation: checks, tables, sentences and plots of it.

What it is made of is in `_record.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

import pandas as pd

from sev.core import Status, kind_label, plain_row, plain_value
from sev.exceptions import InputError, VerificationError
from sev.explanations._alternatives import Alternative, alternatives_of
from sev.explanations._notebook_view import one_as_html
from sev.explanations._record import ExplanationRecord
from sev.explanations._statements import statement_of
from sev.explanations._verification import Claims, verify
from sev.explanations._vertices import checked_names, main_features, path_scores, source_of, vertex_scores
from sev.text import Speaker, Statement, Words
from sev.typing import JSONObject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sev.explanations._source import ExplainerLike
    from sev.typing import VerifyOptions

#: What a cell holds that a set leaves as it is.
UNCHANGED = "---"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Explanation(ExplanationRecord):
    """The smallest set of reasons for one decision, and how sure it is.

    Attributes
    ----------
    kind : {"minus", "plus"}
        "minus": features of the query that, set to the reference's values, undo the decision. "plus": features of the
        reference that, set to the query's values, bring it about.
    status : Status
        How the search ended.
    size : int or None
        Number of features of the minimum sets (the sparse explanation value); None when no set was found.
    lower_bound : int
        Proven: no set with fewer features works.
    features : tuple of str
        The first minimum set.
    sets : tuple of tuple of str
        The minimum sets, at most ``max_sets``, in the order that ``order`` names.
    sets_complete : bool
        Whether ``sets`` holds every minimum set.
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
        The other one of two classes; None where the model has more: see :attr:`becomes`.
    values : {"reference", "typical", "any"}
        What features were permitted to become.
    values_searched : {"reference", "all", "candidates"}
        Which of the permitted values were searched: one for each feature, all of them, or a list of candidates. With
        "candidates", the statuses "optimal" and "unexplainable" hold for these values only.
    efforts : mapping of str to tuple
        For each feature the weight of its change and, for a number, the size of change that costs this weight.
    has_actions : bool
        Whether actions limited what features were permitted to become.
    compared_with : str
        The name of the reference row, where the reference has several with names: a group, or a value of a column.
    order : {"margin", "closest", "credible"}
        Which of the minimum sets comes first.
    first_of_all : bool
        Whether the first set was chosen among all minimum sets, even if ``sets`` does not hold all of them.
    min_credibility : float
        The least credibility that the result had to have; 0: no limit.
    size_without_limit : int or None
        With a least credibility, the size of the smallest set whether or not its result is credible.
    limits : mapping of str to tuple
        The smallest and the largest value of each number in the background.
    minimise : {"features", "cost"}
        What "optimal" means: that no smaller set works, or that no permitted change costs less. With "cost", ``sets``
        holds one set and ``sets_complete`` is False: others may cost as little.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> one = explainer.explain_one(X.iloc[5])
    >>> one.size, one.features, one.lower_bound
    (2, ('debt', 'late'), 2)
    >>> one.changes["debt"].old, one.changes["debt"].new
    (5, 1)
    >>> one.verify()  # silent: the model confirms every set
    """

    def __repr__(self) -> str:
        found = f"size={self.size}, features={self.features!r}" if self.size is not None else "no set"
        return f"<Explanation {kind_label(self.kind)} {self.status}: {found}>"

    def background(self) -> pd.DataFrame | None:
        """A sample of the background rows; None for explanations that were read from a file.

        Returns
        -------
        DataFrame or None
            Up to 1,024 rows, with the columns of the query.

        Examples
        --------
        >>> one.background().shape
        (6, 3)
        """
        return None if self._source is None else self._source.sample()

    def verify(self, explainer: ExplainerLike | None = None, **options: Unpack[VerifyOptions]) -> None:
        """Check this explanation; raise :class:`~sev.exceptions.VerificationError` if it does not hold.

        Without an explainer, the model scores the row and the change of each set again. With one, nothing in this
        explanation is believed: the explainer's own reference, threshold, class and restricted features are used, the
        row is explained again, and the error says what differs.

        Parameters
        ----------
        explainer : Explainer, default=None
            Needed for explanations that were read from a file, which do not carry the model.
        **options
            As for :meth:`sev.Explainer.explain`, for explaining again: such as ``restricted``, where the explanation
            had other restricted features than the explainer, or higher limits.

        Raises
        ------
        VerificationError
            If the model does not confirm the explanation; the message names what differs. Also if there is nothing to
            verify (the status is "error"), or no model to verify with (an explanation from a file, without explainer).

        Examples
        --------
        >>> one.verify()
        >>> one.verify(explainer)  # explains the row again, and compares
        """
        if self.status is Status.ERROR and explainer is None:
            raise VerificationError(f"There is nothing to verify: {self.reason}.")
        verify(Claims.of_one(self), self._source, explainer, **options)

    def to_frame(self) -> pd.DataFrame:
        """The paper's table: the query, the reference, and one line for each set that shows only what it changes.

        Returns
        -------
        DataFrame
            The columns of the query; lines "query", "reference", "SEV- 1", "SEV- 2" and so on.

        Examples
        --------
        >>> one.to_frame()
                  debt late  age
        query        5    4   20
        reference    1    0   40
        SEV- 1       1    0  ---
        SEV- 2       1  ---   40
        SEV- 3     ---    0   40
        """
        label = kind_label(self.kind)
        rows = {"query": list(self.query), "reference": list(self.reference)}
        for number, names in enumerate(self.sets):
            changed = {column for name in names for column in self.columns[name]}
            made = self.donor_of(number)
            rows[f"{label} {number + 1}"] = [made[c] if c in changed else UNCHANGED for c in self.query.index]
        return pd.DataFrame.from_dict(rows, orient="index", columns=list(self.query.index)).astype(object)

    def to_text(
        self,
        *,
        wording: str | Path | Words | None = None,
        language: str | Path | Words | None = None,
    ) -> str:
        """One plain sentence or two.

        Parameters
        ----------
        wording : path or mapping, default=None
            How sentences name each feature: its name for people, or a mapping with any of ``label``, ``unit``,
            ``digits``, ``values`` (a word for each value), ``is`` and ``been`` (a phrase with ``{label}`` and
            ``{value}``, or a phrase for each value). A path is a YAML file of the same content.
        language : str, path or mapping, default=None
            "en", "de" or "es"; or sentences of your own, whole or in part, such as
            ``{"predicted": "Refused", "otherwise": "the application would have passed"}``, or a YAML file of them: the
            names are those of ``sev/text/languages/en.yaml``. None is the language of the labels.

        Returns
        -------
        str
            The sentences.

        Raises
        ------
        InputError
            If ``wording`` or ``language`` has an unknown entry.

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

    def main_features(self, at_most: int) -> tuple[str, ...]:
        """The features of the first set, then those of other sets, then others that differ from the reference.

        Parameters
        ----------
        at_most : int
            How many.

        Returns
        -------
        tuple of str
            At most this many names.

        Examples
        --------
        >>> explainer.explain_one(X.iloc[4]).main_features(2)
        ('debt', 'late')
        """
        return main_features(self, at_most)

    def statement(self) -> Statement:
        """What a sentence about this explanation states.

        Returns
        -------
        Statement
            The facts of a sentence, without its words; :class:`sev.text.Speaker` turns them into one.

        Examples
        --------
        >>> one.statement().features
        ('debt', 'late')
        """
        return statement_of(self)

    def vertices(
        self, features: Iterable[str] | None = None, *, explainer: ExplainerLike | None = None
    ) -> pd.DataFrame:
        """Scores of all combinations of changing or keeping a few features: the vertices of a cube.

        Parameters
        ----------
        features : iterable of str, default=None
            At most ten; None is up to four: those that the sets use, then others in which row and reference differ.
        explainer : Explainer, default=None
            Needed only for explanations that were read from a file, which do not carry the model.

        Returns
        -------
        DataFrame
            One row for each vertex: ``changed`` (a tuple of the features that are changed), ``n_changed``, ``score``,
            ``positive``. The other features stay as in the row that the change starts from.

        Raises
        ------
        InputError
            If there are more than ten features.
        VerificationError
            If the explanation was read from a file and no explainer is passed.

        Examples
        --------
        >>> one.vertices(["debt", "late"]).round(2)
                changed  n_changed  score  positive
        0            ()          0   0.99      True
        1       (debt,)          1   0.86      True
        2       (late,)          1   0.86      True
        3  (debt, late)          2   0.26     False
        """
        names = main_features(self, 4) if features is None else checked_names(self, features)
        return vertex_scores(self, names, source_of(self, explainer))

    def path_scores(
        self, features: Iterable[str] | None = None, *, explainer: ExplainerLike | None = None
    ) -> pd.DataFrame:
        """Scores as features are changed one by one, at each step the feature that takes the score furthest.

        Parameters
        ----------
        features : iterable of str, default=None
            Features to change; None is the first minimum set.
        explainer : Explainer, default=None
            Needed only for explanations that were read from a file, which do not carry the model.

        Returns
        -------
        DataFrame
            One row for each step, with the start: ``feature``, ``score``, ``positive``.

        Raises
        ------
        VerificationError
            If the explanation was read from a file and no explainer is passed.

        Examples
        --------
        >>> one.path_scores().round(2)
          feature  score  positive
        0           0.99      True
        1    debt   0.86      True
        2    late   0.26     False
        """
        names = self.features if features is None else checked_names(self, features)
        return path_scores(self, names, source_of(self, explainer))

    def alternatives(self, at_most: int = 10, *, explainer: ExplainerLike | None = None) -> tuple[Alternative, ...]:
        """The smallest sets, each as an explanation of its own, with the scores on the way to it.

        Parameters
        ----------
        at_most : int, default=10
            How many of the sets.
        explainer : Explainer, default=None
            Needed only for explanations that were read from a file, which do not carry the model.

        Returns
        -------
        tuple of Alternative
            In the order of :attr:`sets`. The model is called once for all of them.

        Raises
        ------
        VerificationError
            If the explanation was read from a file and no explainer is passed.

        Examples
        --------
        >>> for other in one.alternatives(at_most=2):
        ...     print(other.explanation.features, other.path["score"].round(2).tolist())
        ('debt', 'late') [0.99, 0.86, 0.26]
        ('debt', 'age') [0.99, 0.86, 0.49]
        """
        return alternatives_of(self, at_most, explainer)

    def plot(
        self,
        what: Literal["changes", "ranges", "hypercube", "path"] = "changes",
        *,
        ax: Axes | None = None,
        **options: object,
    ) -> Axes:
        """Draw the explanation; returns the Axes.

        Parameters
        ----------
        what : {"changes", "ranges", "hypercube", "path"}, default="changes"
            The picture: :func:`sev.plots.changes`, :func:`sev.plots.ranges`, :func:`sev.plots.hypercube` or
            :func:`sev.plots.score_path`.
        ax : Axes, default=None
            Where to draw; None makes a new figure.
        **options
            For that function.

        Returns
        -------
        Axes
            What was drawn on.

        Raises
        ------
        InputError
            If ``what`` is not one of the four pictures.

        Examples
        --------
        >>> ax = one.plot("path")
        """
        from sev.plots import changes, hypercube, ranges, score_path

        pictures: dict[str, Callable[..., Axes]] = {
            "changes": changes,
            "ranges": ranges,
            "hypercube": hypercube,
            "path": score_path,
        }
        if what not in pictures:
            raise InputError(f"what={what!r} is not a plot: use one of {list(pictures)}.")
        return pictures[what](self, ax=ax, **options)

    def to_dict(self) -> JSONObject:
        """Plain Python values only, ready for JSON.

        Returns
        -------
        dict
            Strings, numbers, booleans, lists, mappings and None.

        Examples
        --------
        >>> explainer.explain_one(X.iloc[4]).to_dict()["changes"]
        {'debt': {'old': 6, 'new': 1, 'enough': None}}
        """
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
            "becomes": plain_value(self.becomes),
            "values": self.values,
            "values_searched": self.values_searched,
            "minimise": self.minimise,
            "proof_scope": self.proof_scope,
            "changes": {name: change.to_dict() for name, change in self.changes.items()},
            "cost": plain_value(self.cost),
            "compared_with": self.compared_with,
            "distance": None if self.distance is None else self.distance.to_dict(),
            "credibility": self.credibility,
            "min_credibility": self.min_credibility,
            "size_without_limit": self.size_without_limit,
            "order": self.order,
            "first_of_all": self.first_of_all,
            "restricted": list(self.restricted),
            "not_permitted": self.not_permitted,
            "reason": self.reason,
        }

    def _repr_html_(self) -> str:
        return one_as_html(self)
