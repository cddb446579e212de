"""The parts of many explanations, column by column: what tables, sentences, plots, reports and files are made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Self, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sev.core import Answers, LazyList, Status, ragged_take, unpack
from sev.explanations._arguments import SharedArguments
from sev.explanations._changes import Efforts, EnoughValues
from sev.explanations._classes import ClassScores, class_scores_of
from sev.explanations._credibilities import find_credibilities
from sev.explanations._not_permitted import compare_with_unrestricted, explained_rows
from sev.explanations._source import Source
from sev.space import FeatureSpace
from sev.text import Labels, NotPermitted
from sev.typing import (
    ClassLabel,
    ColumnLabel,
    FloatArray,
    IntArray,
    Kind,
    MaskArray,
    Minimise,
    Order,
    Values,
    ValuesSearched,
)

_Number = TypeVar("_Number", bound=np.generic)
#: Rows whose sets are listed together where one is asked for after the other.
_MOST_APART = 4096


class ExplanationColumns:
    """What is known about many rows, in the order of the rows; not to be changed.

    :class:`Explanations` adds selection, tables, sentences, plots, checks and files. Sets that were not listed yet, the
    scores of classes and the comparison with unrestricted explanations are found when they are first needed, and kept.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> many = explainer.explain(X)
    """

    def __init__(
        self,
        *,
        answers: Answers,
        queries: pd.DataFrame,
        references: pd.DataFrame,
        features: Mapping[str, tuple[ColumnLabel, ...]],
        kind: Kind,
        targets: tuple[ClassLabel, ...],
        thresholds: tuple[float, ...],
        restricted: tuple[str, ...],
        source: Source | None = None,
        not_permitted: tuple[NotPermitted, ...] | None = None,
        labels: Labels | None = None,
        classes: tuple[ClassLabel, ...] = (),
        efforts: Efforts | None = None,
        has_actions: bool = False,
        actions_hash: str | None = None,
        limits: Mapping[str, tuple[float, float]] | None = None,
        values: Values = "reference",
        values_searched: tuple[ValuesSearched, ...] | None = None,
        minimise: Minimise = "features",
        set_references: IntArray | None = None,
        enough: Iterable[Mapping[str, EnoughValues]] | None = None,
        class_scores: ClassScores | None = None,
        order: Order = "margin",
        min_credibility: float = 0.0,
        credibilities: FloatArray | None = None,
        compared_with: tuple[str, ...] | None = None,
    ) -> None:
        self._answers = answers
        self._queries = queries
        self._references = references
        self._features = dict(features)
        self._targets = targets
        self._thresholds = thresholds
        self._source = source
        self._not_permitted = not_permitted
        self.labels = labels or Labels()
        self.classes = classes
        self.efforts: Efforts = dict(efforts or {})
        self.has_actions = has_actions
        self.actions_hash = actions_hash
        self.limits = dict(limits or {})
        self.values = values
        self.minimise = minimise
        one: ValuesSearched = "reference"
        self.values_searched = values_searched or (one,) * len(queries)
        # with values="typical" and "any": the changed row of each set, by its number among the references, and for
        # each of its features the values that do
        self._set_references = set_references
        self._enough = enough if enough is None or isinstance(enough, LazyList) else LazyList.of(enough)
        if class_scores is not None:
            self.class_scores = class_scores
        #: Which of the minimum sets comes first, and the least credibility of results; see :meth:`Explainer.explain`.
        self.order = order
        self.min_credibility = min_credibility
        #: The name of each row's reference row, where there are several with names; else empty.
        self.compared_with = compared_with or ("",) * len(answers)
        if credibilities is not None:
            self.credibilities = _read_only(credibilities)
        # rows whose sets were listed one at a time; put among the others once these are listed, not at every access,
        # which would copy all of them
        self._listed_alone: dict[int, Answers] = {}
        # the same for sets with values of their own: the explanations that hold a row, and its place there
        self._listed_apart: dict[int, tuple[Self, int]] = {}
        self._n_apart = 1
        self.kind: Kind = kind
        self.restricted = restricted

    # -- arrays --------------------------------------------------------------------------------------------------------

    @cached_property
    def sizes(self) -> FloatArray:
        """Number of features of each row's minimum sets; NaN where no set was found."""
        return _read_only(self._answers.sizes())

    @cached_property
    def statuses(self) -> NDArray[np.str_]:
        """Status of each row, as strings."""
        return _read_only(np.array([str(status) for status in Status])[self._answers.status])

    @cached_property
    def lower_bounds(self) -> IntArray:
        """No smaller set works: proven, for each row."""
        return _read_only(self._answers.lower_bound)

    @cached_property
    def scores(self) -> FloatArray:
        """The model's own score of each row."""
        return _read_only(self._answers.score)

    @cached_property
    def result_scores(self) -> FloatArray:
        """The model's own score after the change of the first set; NaN where there is none."""
        return _read_only(self._answers.result_score)

    @cached_property
    def credibilities(self) -> FloatArray:
        """For each row, the share of real rows of the other class that are less ordinary than the result of its first
        set; NaN where there is no set, for "plus", and where it is not known.
        """
        return _read_only(find_credibilities(self, self._answers, self._references))

    @cached_property
    def sizes_without_limit(self) -> FloatArray:
        """With ``min_credibility``, the size of each row's smallest set whether or not its result is credible, which is
        the price of the limit; else NaN.
        """
        return _read_only(self._answers.size_without_limit)

    @property
    def index(self) -> pd.Index:
        """Labels of the rows, as in the table that was explained."""
        return self._queries.index

    @property
    def feature_names(self) -> tuple[str, ...]:
        """All features, used or not."""
        return tuple(self._features)

    # -- parts ---------------------------------------------------------------------------------------------------------

    @property
    def answers(self) -> Answers:
        """What was found, column by column, with all minimum sets listed."""
        self._list_sets()
        return self._answers

    @property
    def queries(self) -> pd.DataFrame:
        """The rows that were explained."""
        return self._queries

    @property
    def references(self) -> pd.DataFrame:
        """The reference rows; ``answers.reference`` has the number of each row's own."""
        self._list_sets()
        return self._references

    @property
    def columns(self) -> Mapping[str, tuple[ColumnLabel, ...]]:
        """The columns of each feature."""
        return self._features

    @property
    def targets(self) -> tuple[ClassLabel, ...]:
        """The classes being explained; ``answers.target`` has the number of each row's own."""
        return self._targets

    @property
    def thresholds(self) -> tuple[float, ...]:
        """For each class, the score from which on a row is predicted as it."""
        return self._thresholds

    @property
    def source(self) -> Source | None:
        """The explainer that made these explanations, as far as they need it; None when they were read from a file."""
        return self._source

    @property
    def set_references(self) -> IntArray | None:
        """With ``values="typical"`` or "any", the number of the changed row of each set among the references."""
        self._list_sets()
        return self._set_references

    @property
    def enough(self) -> LazyList[Mapping[str, EnoughValues]] | None:
        """With ``values="typical"`` or "any", for each set and feature the values that do, found when first read."""
        self._list_sets()
        return self._enough

    # -- of one row or of each -----------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._answers)

    def sets_of(self, row: int) -> list[tuple[str, ...]]:
        """All minimum sets of one row, by the names of the features.

        Parameters
        ----------
        row : int
            Place of the row; the first is 0.

        Returns
        -------
        list of tuple of str
            Empty where there is none.

        Examples
        --------
        >>> many.sets_of(5)
        [('debt', 'late'), ('debt', 'age'), ('late', 'age')]
        """
        return self._name_sets(self.answers.sets_of(row))

    def first_sets(self) -> list[tuple[str, ...]]:
        """The first minimum set of each row.

        Returns
        -------
        list of tuple of str
            One for each row; empty where there is none.

        Examples
        --------
        >>> many.first_sets()[3:]
        [('late',), ('debt',), ('debt', 'late')]
        """
        first: list[tuple[str, ...]] = [()] * len(self)
        found = np.flatnonzero(self._answers.has_set)
        for row, names in zip(
            found.tolist(), self._name_sets(self._answers.masks[self._answers.offsets[found]]), strict=True
        ):
            first[row] = names
        return first

    def other_class(self, target: int) -> ClassLabel | None:
        """The class that is left when a row is no longer predicted as one of the classes being explained.

        Parameters
        ----------
        target : int
            Place of the class among :attr:`targets`.

        Returns
        -------
        object
            The other one of two classes; None where the model has more.

        Examples
        --------
        >>> many.other_class(0)
        0
        """
        others = [one for one in self.classes if one != self._targets[target]]
        return others[0] if len(others) == 1 else None

    @cached_property
    def class_scores(self) -> ClassScores | None:
        """For a model that predicts the class with the highest score, as those of more than two classes do: the scores
        of the class being explained, before and after the change, and what the rows become. None for other models.
        """
        return class_scores_of(self)

    def becomes(self, row: int) -> ClassLabel | None:
        """The class of a row after the change of its first set.

        Parameters
        ----------
        row : int
            Place of the row; the first is 0.

        Returns
        -------
        object
            A class of the model; None where there is no set, for "plus", and where the class is not known.

        Examples
        --------
        >>> many.becomes(5)
        0
        """
        if not self._answers.has_set[row] or self.kind == "plus":
            return None
        scores = self.class_scores
        if scores is None:
            return self.other_class(int(self._answers.target[row]))
        return self.classes[int(scores.becomes[row])]

    @property
    def not_permitted(self) -> tuple[NotPermitted, ...]:
        """For each row, whether features that may not be used would explain more.

        "smaller": with them there is a smaller set; "equal": with them there is another set of the same size; "only":
        there is a set only with them; "none": no such set is known. Computed at the first access, by explaining the
        rows once more without restriction.
        """
        if self._not_permitted is None:
            self._not_permitted = self._compare_with_unrestricted()
        return self._not_permitted

    # -- inside --------------------------------------------------------------------------------------------------------

    def _shared_arguments(self) -> SharedArguments:
        """Arguments of the constructor that are the same for other rows of the same call."""
        return {
            "features": self._features,
            "kind": self.kind,
            "targets": self._targets,
            "thresholds": self._thresholds,
            "restricted": self.restricted,
            "source": self._source,
            "labels": self.labels,
            "classes": self.classes,
            "efforts": self.efforts,
            "has_actions": self.has_actions,
            "order": self.order,
            "min_credibility": self.min_credibility,
            "actions_hash": self.actions_hash,
            "limits": self.limits,
            "minimise": self.minimise,
        }

    def _take_rows(self, rows: IntArray) -> Self:
        """The same for some of the rows, in the order given."""
        known = self._not_permitted
        _, items = ragged_take(self._answers.offsets, rows)
        scored: ClassScores | None = self.__dict__.get("class_scores")
        measured: FloatArray | None = self.__dict__.get("credibilities")
        return type(self)(
            **self._shared_arguments(),
            answers=self._answers.take(rows),
            queries=self._queries.iloc[rows],
            references=self._references,
            not_permitted=known if known is None else tuple(known[row] for row in rows.tolist()),
            values=self.values,
            values_searched=tuple(self.values_searched[row] for row in rows.tolist()),
            set_references=None if self._set_references is None else self._set_references[items],
            enough=None if self._enough is None else self._enough.take(items),
            class_scores=scored.take(rows) if scored is not None else None,
            credibilities=measured[rows] if measured is not None else None,
            compared_with=tuple(self.compared_with[row] for row in rows.tolist()),
        )

    def _list_sets(self) -> None:
        self._put_among_others()
        if self._source is None or self._answers.listed.all():
            return
        if self._set_references is None or self._enough is None:
            self._answers = self._source.list_sets(self._queries, self._answers)
            return
        results = self._references.iloc[self._set_references]
        placed = self._source.list_values(self._queries, self._answers, self.values_searched, results, self._enough)
        self._references, self._set_references = placed["references"], placed["set_references"]
        self._enough, self._answers = placed["enough"], placed["answers"]
        self._listed_apart = {}

    def _put_among_others(self) -> None:
        if self._listed_alone:
            rows = np.array(sorted(self._listed_alone), dtype=np.int64)
            alone = Answers.concatenate([self._listed_alone[row] for row in rows.tolist()])
            self._answers = self._answers.with_sets(alone, rows)
            self._listed_alone = {}

    def _with_listed_row(self, row: int) -> tuple[Self, int]:
        """Explanations in which all sets of a row with values of their own are listed, and the place of the row there.

        The rows after it are listed with it, the more of them the more often this is asked: to look at one row takes
        little time, and to look at one after the other not much more than all at once.
        """
        if self._source is None or self._set_references is None or self._answers.listed[row]:
            return self, row
        if row not in self._listed_apart:
            waiting = np.flatnonzero(~self._answers.listed)
            rows = [one for one in waiting[waiting >= row].tolist() if one not in self._listed_apart][: self._n_apart]
            part = self._take_rows(np.array(rows, dtype=np.int64))
            part._list_sets()
            self._listed_apart.update({one: (part, place) for place, one in enumerate(rows)})
            self._n_apart = min(4 * self._n_apart, _MOST_APART)
        return self._listed_apart[row]

    def _listed_row(self, row: int) -> tuple[Answers, int]:
        """Answers in which all sets of a row are listed, and the place of the row there."""
        if self._source is None or self._answers.listed[row]:
            return self._answers, row
        if row not in self._listed_alone:
            alone = self._answers.take(np.array([row], dtype=np.int64))
            self._listed_alone[row] = self._source.list_sets(self._queries.iloc[[row]], alone)
        return self._listed_alone[row], 0

    def _compare_with_unrestricted(self) -> tuple[NotPermitted, ...]:
        found: list[NotPermitted] = ["none"] * len(self)
        rows = explained_rows(self.answers)
        if not self.restricted or self._source is None or not rows.size:
            return tuple(found)
        free, queries = self._source.unrestricted(), self._queries.iloc[rows]
        restricted = np.isin(np.array(self.feature_names, dtype=object), list(self.restricted))
        listed = free.list_sets(queries, free.answer(queries))
        compared = compare_with_unrestricted(self.answers.take(rows), listed, restricted)
        for row, one in zip(rows.tolist(), compared, strict=True):
            found[row] = one
        return tuple(found)

    def _name_sets(self, masks: MaskArray) -> list[tuple[str, ...]]:
        names = np.array(self.feature_names, dtype=object)
        return [tuple(names[chosen]) for chosen in unpack(masks, len(names))]

    @cached_property
    def space(self) -> FeatureSpace:
        """Which columns belong to which feature."""
        return FeatureSpace.of_columns(self._features, self._queries.columns)


def _read_only(array: NDArray[_Number]) -> NDArray[_Number]:
    view = array.view()
    view.setflags(write=False)
    return view
