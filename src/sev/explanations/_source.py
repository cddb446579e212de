"""What results need of the explainer that made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Unpack

import pandas as pd

from sev.core import Answers, LazyList
from sev.space import FeatureSpace
from sev.typing import BoolArray, ClassLabel, FloatArray, IntArray, Kind, Parsed, Values, ValuesSearched

if TYPE_CHECKING:
    from sev.explanations._arguments import FoundArguments
    from sev.explanations._changes import EnoughValues
    from sev.explanations._explanations import Explanations
    from sev.typing import WorkOptions


class ScoredVertices(Protocol):
    """Rows between queries and references, mixed and scored as the explainer does it."""

    #: Rows on which the model failed, and what happened.
    failures: dict[int, str]

    def scores(self, rows: IntArray, sets: BoolArray) -> FloatArray:
        """The model's own scores of sets that are changed in rows; NaN for a row on which it fails."""
        ...

    def class_outputs(self, rows: IntArray, sets: BoolArray) -> FloatArray:
        """The model's own scores of all classes, of shape (n_vertices, n_classes)."""
        ...


class ExplainerLike(Protocol):
    """What results need of an explainer that is passed to them: :class:`sev.Explainer` in another package."""

    @property
    def restricted(self) -> tuple[str, ...]:
        """Features that no explanation may use."""
        ...

    @property
    def frozen(self) -> tuple[str, ...]:
        """Features that the actions freeze."""
        ...

    @property
    def space(self) -> FeatureSpace:
        """Which columns belong to which feature."""
        ...

    @property
    def tasks(self) -> Sequence[ExplainedClass]:
        """The classes being explained."""
        ...

    @property
    def source(self) -> Source:
        """The model, as far as results need it."""
        ...

    def explain(self, X: pd.DataFrame, **options: Unpack[WorkOptions]) -> Explanations:
        """Explain rows.

        Parameters
        ----------
        X : DataFrame
            The rows.
        **options
            As for :meth:`sev.Explainer.explain`.

        Returns
        -------
        Explanations
            One for each row.
        """
        ...

    def explain_unrestricted(self, X: pd.DataFrame, *, kind: Kind, values: Values) -> Explanations:
        """Explain rows with every feature allowed.

        Parameters
        ----------
        X : DataFrame
            The rows.
        kind : {"minus", "plus"}
            "minus" or "plus".
        values : {"reference", "typical", "any"}
            What features may become.

        Returns
        -------
        Explanations
            One for each row.
        """
        ...


class ExplainedClass(Protocol):
    """One class that an explainer explains."""

    @property
    def scorer(self) -> ClassScorer:
        """The model's own score of it."""
        ...


class ClassScorer(Protocol):
    """The score of a class, and from which value on a row is predicted as it."""

    @property
    def target(self) -> ClassLabel:
        """The class."""
        ...

    @property
    def threshold(self) -> float:
        """Scores of at least this are predicted as the class."""
        ...


class Source(Protocol):
    """The part of an explainer that results keep while they are in memory: it lists further sets and scores rows."""

    def vertices(
        self, queries: pd.DataFrame, references: pd.DataFrame, assigned: IntArray, kind: Kind, target: ClassLabel
    ) -> ScoredVertices:
        """Rows between queries and references, for one class.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.
        references : DataFrame
            Reference rows.
        assigned : ndarray of int64
            The place of each query's reference row.
        kind : {"minus", "plus"}
            "minus" or "plus".
        target : object
            The class.

        Returns
        -------
        ScoredVertices
            Scores of vertices, when they are asked for.
        """
        ...

    def score_tolerances(self, queries: pd.DataFrame, target: ClassLabel) -> FloatArray:
        """How far two scores of each row may be apart by rounding, in units of the score or of 1 if that is larger.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.
        target : object
            The class.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).
        """
        ...

    @property
    def decides_by_lead(self) -> bool:
        """Whether the class with the highest score is predicted, instead of a score compared with a threshold."""
        ...

    def list_sets(self, queries: pd.DataFrame, answers: Answers) -> Answers:
        """The same answers with all minimum sets listed and checked.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.
        answers : Answers
            What is known of them.

        Returns
        -------
        Answers
            The same rows, with all their sets.
        """
        ...

    def list_values(
        self,
        queries: pd.DataFrame,
        answers: Answers,
        searched: tuple[ValuesSearched, ...],
        results: pd.DataFrame,
        enough: LazyList[Mapping[str, EnoughValues]],
    ) -> FoundArguments:
        """The same answers over free values with all minimum sets listed and checked.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.
        answers : Answers
            What is known of them.
        searched : tuple of str
            For each row, which of the permitted values were searched.
        results : DataFrame
            The changed row of each set.
        enough : LazyList of dict
            For each set and feature, values that do.

        Returns
        -------
        FoundArguments
            Arguments of ``Explanations``.
        """
        ...

    def unrestricted(self) -> Source:
        """The same with every feature allowed.

        Returns
        -------
        Source
            A new source.
        """
        ...

    def answer(self, queries: pd.DataFrame) -> Answers:
        """Explain rows: the answers alone; their reference rows are those of the explainer.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.

        Returns
        -------
        Answers
            One for each row.
        """
        ...

    def explain(self, queries: pd.DataFrame) -> FoundArguments:
        """Explain rows: the answers and what they are shown with, as arguments of ``Explanations``.

        Sets with values of their own are all listed; others can be listed later.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.

        Returns
        -------
        FoundArguments
            Arguments of ``Explanations``.
        """
        ...

    def sample(self) -> pd.DataFrame:
        """Some rows of the background.

        Returns
        -------
        DataFrame
            Up to 1,024 rows.
        """
        ...

    def alone(self, queries: pd.DataFrame, number: IntArray, usable: BoolArray) -> pd.DataFrame | None:
        """What features of rows could do alone, with any permitted value; None where that is not known.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.
        number : ndarray of int64
            Place of the class of each row.
        usable : ndarray of bool
            Of shape (n_rows, n_features).

        Returns
        -------
        DataFrame or None
            One line for each row and feature.
        """
        ...

    def credibilities(self, results: pd.DataFrame, target: ClassLabel) -> FloatArray:
        """The share of real rows of the other class that are less ordinary than each row; NaN where it is not known.

        Parameters
        ----------
        results : DataFrame
            Changed rows.
        target : object
            The class.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).
        """
        ...

    def about(self) -> dict[str, Parsed]:
        """Names, hashes and settings, as plain values.

        Returns
        -------
        dict of str to object
            Ready for JSON.
        """
        ...
