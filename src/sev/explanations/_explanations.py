"""Many explanations: selection, tables, sentences, plots, checks and files.

What they are made of, column by column, is in `_columns.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack, overload

import numpy as np
import pandas as pd

from sev._io import write_file
from sev.core import dump, kind_label
from sev.exceptions import InputError
from sev.explanations._columns import ExplanationColumns
from sev.explanations._document import from_document, to_document
from sev.explanations._explanation import Explanation
from sev.explanations._groups import Groups, summary_by
from sev.explanations._indexing import ByLabel, place_of, places_of
from sev.explanations._notebook_view import many_as_html
from sev.explanations._one_of_many import explanation_of
from sev.explanations._source import ExplainerLike
from sev.explanations._statements import statements_of
from sev.explanations._summaries import feature_pairs, feature_shares, mean_size, rows_as_frame, summary_of
from sev.explanations._verification import Claims, check_explainer, verify
from sev.text import Speaker, Statement, Words

if TYPE_CHECKING:
    from typing import TypedDict

    from matplotlib.axes import Axes

    from sev.explanations._arguments import SharedArguments
    from sev.text import Language
    from sev.typing import VerifyOptions

    class _PlotOptions(TypedDict, total=False):
        language: str | Path | Language | None

    class _SizesOptions(_PlotOptions, total=False):
        share: bool

    class _TogetherOptions(_PlotOptions, total=False):
        max_features: int

    class _SharesOptions(_TogetherOptions, total=False):
        sets: Literal["first", "any"]


class Explanations(ExplanationColumns):
    """Explanations of many rows, in the order of the rows.

    An index returns one :class:`Explanation`; a slice, a list of places or a boolean mask returns ``Explanations``.
    Nothing is computed twice and no Python object is made for a row until it is asked for.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> many = explainer.explain(X)
    >>> len(many), many[5].features
    (6, ('debt', 'late'))
    >>> many.summary()[["target", "optimal", "mean_size"]].to_dict()
    {'target': 3, 'optimal': 3, 'mean_size': 1.3333333333333333}
    >>> many[many.sizes == 2].index.tolist()
    [5]
    """

    # -- one by one ----------------------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, key: int) -> Explanation: ...
    @overload
    def __getitem__(self, key: slice | Sequence[bool] | Sequence[int] | np.ndarray | pd.Series) -> Explanations: ...
    def __getitem__(self, key: object) -> Explanation | Explanations:
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            return explanation_of(self, place_of(int(key), len(self)))
        self._put_among_others()
        return self._take_rows(places_of(key, self.index))

    @property
    def loc(self) -> ByLabel:
        """Rows by their labels: ``many.loc["A17"]`` is one, ``many.loc[["A17", "B2"]]`` and ``many.loc["A":"C"]``
        are several.
        """
        return ByLabel(self)

    def __iter__(self) -> Iterator[Explanation]:
        self._list_sets()
        self.class_scores  # noqa: B018  for all rows at once, not for each
        return (explanation_of(self, row) for row in range(len(self)))

    def __repr__(self) -> str:
        counts = pd.Series(self.statuses).value_counts()
        found = ", ".join(f"{count} {status}" for status, count in counts.items())
        return f"<Explanations {kind_label(self.kind)} of {len(self)} rows{': ' if found else ''}{found}>"

    # -- tables --------------------------------------------------------------------------------------------------------

    def to_frame(self) -> pd.DataFrame:
        """One line for each row, with its index: status, size, lower_bound, features, n_sets, score, result_score,
        credibility; with ``min_credibility`` also size_without_limit.

        For a model that predicts the class with the highest score, ``score`` is the lead of the class over the best
        other class. ``probability`` and ``result_probability`` are then the model's own scores of the class
        (``class_score`` and ``result_class_score`` if they are not probabilities), and ``becomes`` is the class of the
        changed row.

        Returns
        -------
        DataFrame
            One line for each row.

        Examples
        --------
        >>> explainer.explain(X[4:]).to_frame()[["status", "size", "lower_bound", "n_sets"]]
            status  size  lower_bound  n_sets
        4  optimal   1.0            1       1
        5  optimal   2.0            2       3
        """
        return rows_as_frame(self)

    def mean_size(self, unexplainable: Literal["drop", "all_features"] = "drop") -> float:
        """Mean size of the minimum sets, over the rows that have one.

        Parameters
        ----------
        unexplainable : {"drop", "all_features"}
            Leave unexplainable rows out, or count each as the number of features, as the paper does for restricted
            explanations. Rows that are not of the target, undecided ones and errors are always left out.

        Returns
        -------
        float
            NaN if no row has a size.

        Raises
        ------
        InputError
            If ``unexplainable`` is neither of the two.

        Examples
        --------
        >>> round(many.mean_size(), 2)
        1.33
        """
        return mean_size(self, unexplainable)

    @overload
    def summary(self, by: None = None) -> pd.Series: ...
    @overload
    def summary(self, by: Groups) -> pd.DataFrame: ...
    def summary(self, by: Groups | None = None) -> pd.Series | pd.DataFrame:
        """Counts and sizes of all rows, in a dozen numbers, or of each group of rows.

        Parameters
        ----------
        by : column, or array-like of shape (n_rows,), default=None
            Groups to tell apart: a column of the rows, or one value for each row, such as a column that the model does
            not take.

        Returns
        -------
        Series or DataFrame
            Numbers of rows, of rows of the class being explained (``target``) and of each status; the share of the
            explained decisions that no permitted change undoes (``share_unexplainable``); sizes. With ``by``, one line
            for each group.

        Raises
        ------
        InputError
            If ``by`` is not a column, or does not have one value per row.

        Examples
        --------
        >>> many.summary()[["rows", "target", "optimal", "unexplainable"]].to_dict()
        {'rows': 6, 'target': 3, 'optimal': 3, 'unexplainable': 0}
        >>> many.summary(by=["n", "n", "s", "s", "n", "s"])[["target", "mean_size"]]
           target  mean_size
        n       1        1.0
        s       2        1.5
        """
        return summary_of(self) if by is None else summary_by(self, by)

    def feature_shares(self, sets: Literal["first", "any"] = "first") -> pd.Series:
        """Share of explained rows whose explanation uses each feature, most used first.

        Parameters
        ----------
        sets : {"first", "any"}
            Look at the first minimum set of a row, or at all of them.

        Returns
        -------
        Series
            Indexed by feature, shares between 0 and 1.

        Raises
        ------
        InputError
            If ``sets`` is neither of the two.

        Examples
        --------
        >>> many.feature_shares("any").round(2)
        feature
        debt    0.67
        late    0.67
        age     0.33
        Name: share, dtype: float64
        """
        return feature_shares(self, sets)

    def feature_pairs(self) -> pd.DataFrame:
        """Share of explained rows whose first minimum set uses both of two features; on the diagonal, a single feature.

        Rows and columns are all features, in column order.

        Returns
        -------
        DataFrame
            Shares between 0 and 1.

        Examples
        --------
        >>> many.feature_pairs().round(2)
        feature  debt  late  age
        feature
        debt     0.67  0.33  0.0
        late     0.33  0.67  0.0
        age      0.00  0.00  0.0
        """
        return feature_pairs(self)

    # -- words and pictures --------------------------------------------------------------------------------------------

    def to_text(
        self,
        *,
        wording: str | Path | Words | None = None,
        language: str | Path | Words | None = None,
    ) -> list[str]:
        """One plain sentence or two for each row; see :meth:`Explanation.to_text`.

        Parameters
        ----------
        wording, language : path or mapping, default=None
            As for :meth:`Explanation.to_text`.

        Returns
        -------
        list of str
            One text for each row.

        Examples
        --------
        >>> explainer.explain(X[:1]).to_text()
        ['Not predicted 1 (score 0.0254, below 0.5): there is nothing to explain.']
        """
        speaker = Speaker(self._features, wording, language, self.labels)
        return [speaker.sentence(statement) for statement in self.statements()]

    def statements(self) -> Iterator[Statement]:
        """What a sentence about each row states.

        Yields
        ------
        Statement
            In the order of the rows.

        Examples
        --------
        >>> [statement.features for statement in explainer.explain(X[4:]).statements()]
        [('debt',), ('debt', 'late')]
        """
        return statements_of(self)

    def plot_sizes(self, *, ax: Axes | None = None, **options: Unpack[_SizesOptions]) -> Axes:
        """Draw how many rows have each size; see :func:`sev.plots.sizes`.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; None makes a new figure.
        **options
            For that function.

        Returns
        -------
        Axes
            What was drawn on.

        Examples
        --------
        >>> ax = many.plot_sizes()
        """
        from sev.plots import sizes

        return sizes(self, ax=ax, **options)

    def plot_features(self, *, ax: Axes | None = None, **options: Unpack[_SharesOptions]) -> Axes:
        """Draw how often each feature is used; see :func:`sev.plots.feature_shares`.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; None makes a new figure.
        **options
            For that function.

        Returns
        -------
        Axes
            What was drawn on.

        Examples
        --------
        >>> ax = many.plot_features()
        """
        from sev.plots import feature_shares

        return feature_shares(self, ax=ax, **options)

    def plot_together(self, *, ax: Axes | None = None, **options: Unpack[_TogetherOptions]) -> Axes:
        """Draw which features are used together; see :func:`sev.plots.together`.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; None makes a new figure.
        **options
            For that function.

        Returns
        -------
        Axes
            What was drawn on.

        Examples
        --------
        >>> ax = many.plot_together()
        """
        from sev.plots import together

        return together(self, ax=ax, **options)

    # -- checks and files ----------------------------------------------------------------------------------------------

    def verify(self, explainer: ExplainerLike | None = None, **options: Unpack[VerifyOptions]) -> None:
        """Check every row; see :meth:`Explanation.verify`.

        Parameters
        ----------
        explainer : Explainer, default=None
            Needed for explanations that were read from a file, which do not carry the model.
        **options
            As for :meth:`Explanation.verify`.

        Raises
        ------
        VerificationError
            If a row is not confirmed; the message names the row and what differs.

        Examples
        --------
        >>> many.verify()
        """
        verify(Claims.of_many(self), self._source, explainer, **options)

    def to_json(self, path: str | Path | None = None) -> str:
        """Write everything but the model as JSON (schema ``sev.explanations``, version 2).

        Cells and dtypes are kept exactly: None, NaN and NA stay apart, as do 3, 3.0 and "3". A cell of a type that the
        format does not know (a tuple, a class of your own) is written as text, and :meth:`verify` then refuses
        explanations of its row that were read from the file.

        Parameters
        ----------
        path : path-like, default=None
            File to write; the text is returned either way.

        Returns
        -------
        str
            The text of the file.

        Examples
        --------
        >>> many.to_json()[:30]
        '{"schema":"sev.explanations","'
        """
        self._list_sets()
        text = dump(to_document(self))
        if path is not None:
            write_file(path, text.encode("utf-8"))
        return text

    @classmethod
    def from_json(cls, path: str | Path) -> Explanations:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        path : path-like
            A file, or the text itself if it starts with ``{``.

        Returns
        -------
        Explanations
            The same answers without the model: pass the explainer to methods that need it, such as :meth:`verify`.

        Raises
        ------
        InputError
            If the text is not a JSON file of explanations, or was written by a newer version.

        Examples
        --------
        >>> read = sev.Explanations.from_json(many.to_json())
        >>> read[5].features
        ('debt', 'late')
        >>> read.verify(explainer)
        """
        text = path if isinstance(path, str) and path.lstrip().startswith("{") else Path(path).read_text("utf-8")
        try:
            document = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"This is not a JSON file of explanations: {error}.") from error
        return cls(**from_document(document))

    def __getstate__(self) -> dict[str, object]:
        # the model stays behind, so everything that needs it is done first
        self._list_sets()
        self.class_scores  # noqa: B018  found now and kept
        self.credibilities  # noqa: B018
        return {**self.__dict__, "_source": None, "_not_permitted": self.not_permitted}

    def _repr_html_(self) -> str:
        return many_as_html(self)

    def unrestricted(self, explainer: ExplainerLike | None = None) -> Explanations:
        """The same rows explained again, with every feature allowed.

        Parameters
        ----------
        explainer : Explainer, default=None
            Needed only for explanations that were read from a file, which do not carry the model.

        Returns
        -------
        Explanations
            One for each row, in the same order.

        Raises
        ------
        InputError
            If the explanations were read from a file and no explainer is passed.

        Examples
        --------
        >>> many = explainer.explain(X, restricted=["late", "age"])
        >>> many.mean_size(), many.unrestricted().mean_size()
        (1.0, 1.3333333333333333)
        """
        if explainer is not None:
            check_explainer(explainer, "unrestricted")
            return explainer.explain_unrestricted(self._queries, kind=self.kind, values=self.values)
        if self._source is None:
            raise InputError("These explanations carry no model: call unrestricted(explainer).")
        free = self._source.unrestricted()
        shared: SharedArguments = {**self._shared_arguments(), "restricted": (), "source": free}
        return Explanations(**shared, **free.explain(self._queries), queries=self._queries)
