"""The class that users meet first."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sev._io import write_file
from sev.backends import (
    CannotReadError,
    ModelScores,
    Reading,
    Scorer,
    category_columns,
    check_decisions,
    check_probabilities,
    is_function,
    model_scores,
    read_model,
    representative_rows,
)
from sev.core import Answers, Limits
from sev.exceptions import FallbackWarning, InputError, InterruptedExplanation
from sev.explainers._batches import answer_all
from sev.explainers._checks import check_same_scores, checked_labels, reference_scores, threshold_for
from sev.explainers._hashing import table_hash
from sev.explainers._html import explainer_as_html
from sev.explainers._origin import Origin
from sev.explainers._source import ExplainerSource
from sev.explainers._task import Task
from sev.explainers._work import Settings
from sev.explanations import Explanation, Explanations
from sev.files import ExplainerParts, TargetParts, pack_explainer, refusing, unpack_explainer
from sev.references import Background, FittedReference, Reference, as_reference
from sev.space import FeatureSpace, TableForm
from sev.text import Labels
from sev.typing import BoolArray, Kind, NativeTable

#: Vertices that a black box is asked about for one row before the search ends with what it knows.
DEFAULT_MAX_PREDICTIONS = 1_000_000


class Explainer:
    """Finds the smallest sets of reasons for the decisions of a fitted classifier.

    Parameters
    ----------
    model : object
        Fitted classifier, Pipeline on raw rows, booster, torch module, or a callable from rows to scores.
    X_train : DataFrame, polars or pyarrow table, or array of shape (n_rows, n_columns)
        Background rows, in the form that the model takes.
    y_train : array-like of shape (n_rows,), default=None
        Their labels. Without labels the model's own predictions say which rows are of the other class.
    target : object, default=None
        The class being explained; None is ``classes_[1]``, "predicted" is each row's own predicted class.
    reference : {"auto", "mean", "median"}, row or object of :mod:`sev.references`, default="auto"
        What features are changed to. "mean" is the mean of numbers and the most common value of everything else
        over the background rows of the other class. "auto" is the same, but columns of integers take the value that
        occurs nearest to their mean; it goes on to the median, then to a real row, if the model calls that row
        positive or does not take it.
    groups : mapping of str to list of columns, default=None
        Columns that move as one. One-hot blocks are found by themselves.
    restricted : iterable of str, default=()
        Features that no explanation may use.
    threshold : float, default=None
        On the score of the target; a row is positive when its score is at least this. None is 0.5 of
        ``predict_proba``, else 0 of ``decision_function``, or the model's own where it has one.
    allow_positive_reference : bool, default=False
        Go on with a reference that is itself positive.
    labels : Labels, mapping or path, default=None
        Names of features, units, values and decisions for people, used by sentences, plots and reports; a path is a
        YAML file. Saved with the explainer.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> import sev
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0], [4.0, 1.0]]
    >>> model = LogisticRegression().fit(X, [0, 0, 0, 1, 1, 1])
    >>> sev.Explainer(model, X, [0, 0, 0, 1, 1, 1]).explain_one([5.0, 0.0]).features
    ('x0',)
    """

    #: Number and hash of the background rows; None for an explainer that was not made from them.
    _n_background: int | None = None
    _background_hash: str | None = None
    #: Names for people.
    labels: Labels = Labels()

    def __init__(
        self,
        model: Any,
        X_train: NativeTable,
        y_train: Any = None,
        *,
        target: Any = None,
        reference: str | Reference | Any = "auto",
        groups: Mapping[str, Sequence[Any]] | None = None,
        restricted: Iterable[str] = (),
        threshold: float | None = None,
        allow_positive_reference: bool = False,
        labels: Labels | Mapping[str, Any] | str | Path | None = None,
    ) -> None:
        self.model = model
        self.labels = Labels.of(labels)
        self._form = TableForm.of(X_train)
        background = self._form.to_frame(X_train, what="X_train")
        self._space = FeatureSpace.of(background, groups)
        self._restricted = self._space.select(restricted)
        self.labels.wording(dict.fromkeys(self._space.names))  # names of unknown features are an error now
        self._sample = background.iloc[representative_rows(background)].reset_index(drop=True)
        scores = model_scores(model, self._form.to_native(self._sample), y_train, target)
        classes = scores.classes if _is(target, "predicted") else (scores.for_target(target, threshold).target,)
        if len(classes) > 1 and threshold is not None and len(scores.classes) > 2:
            raise InputError('target="predicted" with more than two classes takes no threshold.')
        known = checked_labels(y_train, len(background), scores.classes)
        self.classes_ = scores.classes
        self.backend_reason = ""
        reading = self._read(scores)
        self._tasks: list[Task] = []
        for one in classes:
            scorer = scores.for_target(one, threshold_for(one, scores, threshold, len(classes)))
            self._add_task(scorer, reading, background, known, reference, threshold, allow_positive_reference)
        if threshold is None:
            check_decisions(model, scores, [task.scorer for task in self._tasks], self._form.to_native(self._sample))
        self._n_background, self._background_hash = len(background), table_hash(background)

    # -- what users ask ------------------------------------------------------------------------------------------------

    def explain(
        self,
        X: NativeTable,
        *,
        kind: Kind = "minus",
        restricted: Iterable[str] | None = None,
        max_size: int | None = None,
        max_sets: int = 100,
        time_limit: float | None = None,
        max_predictions: int | None = DEFAULT_MAX_PREDICTIONS,
        n_jobs: int = 1,
        progress: bool = False,
    ) -> Explanations:
        """Explain every row that is predicted as the target.

        Parameters
        ----------
        X : table or array of shape (n_rows, n_columns)
            Rows to explain; named columns may come in any order.
        kind : {"minus", "plus"}, default="minus"
            "minus": the fewest features of the row which, set to the reference's values, undo the decision. "plus": the
            fewest features of the reference which, set to the row's values, bring it about.
        restricted : iterable of str, default=None
            Features that no explanation may use; None takes those of the explainer.
        max_size : int, default=None
            Look no further than this size.
        max_sets : int, default=100
            How many minimum sets to list for a row.
        time_limit : float, default=None
            Seconds for one row; the answer is then a proven lower bound and the best set found.
        max_predictions : int, default=1_000_000
            Rows that a black box may be asked to score for one row; None is no limit. Exact backends do not need it.
        n_jobs : int, default=1
            Rows are shared out over this many workers of the active joblib backend (threads unless chosen otherwise).
        progress : bool, default=False
            Show a progress bar.

        Returns
        -------
        Explanations
            One for each row, in order.
        """
        return self.explain_rows(
            self._form.to_frame(X),
            self.settings_for(kind, restricted, max_size, max_sets, time_limit, max_predictions),
            n_jobs=n_jobs,
            progress=progress,
        )

    def explain_one(self, row: Any, **options: Any) -> Explanation:
        """Explain a single row.

        Parameters
        ----------
        row : Series, mapping, 1-D array, sequence, or table of one row
            The row.
        **options
            As for :meth:`explain`.
        """
        return self.explain(self._form.one_row(row), **options)[0]

    def save(self, path: str | Path, *, allow_pickle: bool = False) -> None:
        """Write this explainer to one file that :func:`sev.load` reads without running code from it.

        The file holds the model, the reference, the features, and up to 1,024 background rows on which the reading of
        the model is proven again when it is loaded.

        Parameters
        ----------
        path : path-like
            File to write; an older one is replaced only when the new one is complete.
        allow_pickle : bool, default=False
            Pickle a model that has no safe form. Whoever loads such a file runs whatever code it holds, and has to
            agree to that with ``sev.load(path, trust_pickle=True)``.
        """
        write_file(path, self.to_bytes(allow_pickle=allow_pickle))

    def to_bytes(self, *, allow_pickle: bool = False) -> bytes:
        """The bytes that :meth:`save` writes."""
        data = pack_explainer(self.parts(), allow_pickle=allow_pickle)
        again = type(self).from_bytes(data, trust_pickle=True)
        check_same_scores(self.model, self._tasks, again.tasks, self._form.to_native(self._sample))
        return data

    @classmethod
    def from_bytes(cls, data: bytes, *, trust_pickle: bool = False) -> Explainer:
        """Inverse of :meth:`to_bytes`; see :func:`sev.load`."""
        parts = unpack_explainer(data, trust_pickle=trust_pickle)
        with refusing("its parts do not fit together"):
            return cls.from_parts(parts)

    # -- what it is made of --------------------------------------------------------------------------------------------

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in column order."""
        return self._space.names

    @property
    def restricted(self) -> tuple[str, ...]:
        """Features that no explanation may use."""
        return tuple(np.array(self._space.names, dtype=object)[self._restricted])

    @property
    def target(self) -> Any:
        """The class being explained, or "predicted"."""
        return self._tasks[0].scorer.target if len(self._tasks) == 1 else "predicted"

    @property
    def threshold(self) -> float:
        """Scores of at least this are predicted as the target."""
        return self._tasks[0].scorer.threshold

    @property
    def reference(self) -> pd.DataFrame:
        """The reference rows, one for each class being explained or each group of queries."""
        if len(self._tasks) == 1:
            return self._tasks[0].reference.rows.copy()
        return pd.concat([task.reference.rows for task in self._tasks], ignore_index=True)

    @property
    def form(self) -> TableForm:
        """What rows look like."""
        return self._form

    @property
    def space(self) -> FeatureSpace:
        """Which columns belong to which feature."""
        return self._space

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The classes being explained, each with its score, reference and reading."""
        return tuple(self._tasks)

    @property
    def sample(self) -> pd.DataFrame:
        """Background rows on which the reading of the model is proven."""
        return self._sample

    @property
    def reference_name(self) -> str:
        """What kind of reference it is, in a few words."""
        return self._tasks[0].reference.name

    @property
    def backend(self) -> str:
        """How the model is read: "linear", "additive", "trees", "networks" or "black box"."""
        reading = self._tasks[0].reading
        return "black box" if reading is None else reading.backend.family

    def __repr__(self) -> str:
        return (
            f"<sev.Explainer of {type(self.model).__name__}: {self.backend} backend, {len(self._space)} features, "
            f"target {self.target!r}, reference {self.reference_name}>"
        )

    def _repr_html_(self) -> str:
        return explainer_as_html(self)

    # -- inside --------------------------------------------------------------------------------------------------------

    @property
    def _origin(self) -> Origin:
        """Where explanations say that they come from."""
        return Origin(
            model=self.model,
            backend=self.backend,
            n_background=self._n_background,
            background_hash=self._background_hash,
        )

    @property
    def source(self) -> ExplainerSource:
        """What results ask of this explainer: scores, further sets, where they come from."""
        settings = self.settings_for("minus", None, None, 100, None, None)
        return ExplainerSource(self._form, self._tasks, settings, self._origin)

    def parts(self) -> ExplainerParts:
        """What this explainer is made of, without what can be worked out again."""
        return ExplainerParts(
            model=self.model,
            form=self._form,
            space=self._space,
            restricted=self.restricted,
            sample=self._sample,
            targets=tuple(
                TargetParts(task.scorer.target, task.scorer.threshold, task.scorer.leads, task.reference)
                for task in self._tasks
            ),
            backend=self.backend,
            backend_reason=self.backend_reason,
            n_background=self._n_background,
            background_hash=self._background_hash,
            labels=self.labels,
        )

    @classmethod
    def from_parts(cls, parts: ExplainerParts) -> Explainer:
        """Build an explainer whose reference is known already; the model is read and proven again."""
        self = cls.__new__(cls)
        self.model = parts.model
        self.labels = parts.labels
        self._form, self._space, self._sample = parts.form, parts.space, parts.sample
        self._restricted = self._space.select(parts.restricted)
        self._n_background, self._background_hash = parts.n_background, parts.background_hash
        scores = model_scores(self.model, self._form.to_native(self._sample), target=parts.targets[0].target)
        self.classes_ = scores.classes
        self.backend_reason = ""
        # a fallback that was known before is no news
        reading = self._read(scores, expected_reason=parts.backend_reason)
        self._tasks = []
        for one in parts.targets:
            scorer = scores.for_target(one.target, None if one.leads else one.threshold)
            self._append_task(scorer, reading, one.reference, allow_positive=True)
        return self

    def __reduce__(self) -> Any:
        # readings hold locks and closures: another process makes its own, and proves it
        return type(self).from_parts, (self.parts(),)

    def _read(self, scores: ModelScores, expected_reason: str | None = None) -> Reading | None:
        try:
            return read_model(self.model, scores, self._form, self._space, self._sample)
        except CannotReadError as error:
            self.backend_reason = str(error)
        except Exception as error:  # a reader met something that it does not know: slower, never wrong
            self.backend_reason = f"{type(error).__name__}: {error}"
        if self.backend_reason == expected_reason or is_function(self.model):
            return None
        warnings.warn(
            f"{type(self.model).__name__} is explained as a black box, exact within a budget of predictions: "
            f"{self.backend_reason}.",
            FallbackWarning,
            stacklevel=3,
        )
        return None

    def _add_task(
        self,
        scorer: Scorer,
        reading: Reading | None,
        background: pd.DataFrame,
        labels: np.ndarray | None,
        reference: Any,
        threshold: float | None,
        allow_positive: bool,
    ) -> None:
        def is_positive(rows: pd.DataFrame) -> BoolArray:
            return scorer.is_positive(scorer.scores(self._form.to_native(rows)))

        if labels is None:
            scores = scorer.scores(self._form.to_native(background))
            check_probabilities(scorer, scores, threshold)
            negatives = scorer.is_negative(scores)
        else:
            check_probabilities(scorer, scorer.scores(self._form.to_native(background.iloc[:1000])), threshold)
            negatives = labels != scorer.target
        if not negatives.any():
            how = "is predicted as" if labels is None else "has the label of"
            raise InputError(
                f"Every background row {how} the class being explained, {scorer.target!r}: "
                "a reference needs rows of the other class."
            )
        categories = category_columns(self.model, self._form.columns)
        known = Background(background, negatives, self._form, self._space, is_positive, categories)
        fitted = as_reference(reference).fit(known)
        self._append_task(scorer, reading, fitted, allow_positive)

    def _append_task(
        self, scorer: Scorer, reading: Reading | None, fitted: FittedReference, allow_positive: bool
    ) -> None:
        self._tasks.append(
            Task(
                number=len(self._tasks),
                scorer=scorer,
                reference=fitted,
                reference_scores=reference_scores(fitted, scorer, self._form, allow_positive),
                reading=reading,
                form=self._form,
                space=self._space,
                sample=self._sample,
                first_reference=sum(len(task.reference.rows) for task in self._tasks),
            )
        )

    def settings_for(
        self,
        kind: Kind,
        restricted: Iterable[str] | None,
        max_size: int | None,
        max_sets: int,
        time_limit: float | None,
        max_predictions: int | None,
    ) -> Settings:
        """The options of one call, checked; see :meth:`explain`."""
        if kind not in ("minus", "plus"):
            raise InputError(f'kind={kind!r} is not known: use "minus" or "plus".')
        for name, value in {"max_size": max_size, "max_sets": max_sets, "max_predictions": max_predictions}.items():
            if value is not None and (not isinstance(value, (int, np.integer)) or value < 1):
                raise InputError(f"{name}={value!r} must be an integer of at least 1.")
        if time_limit is not None and not time_limit > 0:
            raise InputError(f"time_limit={time_limit!r} must be a positive number of seconds.")
        chosen = self._restricted if restricted is None else self._space.select(restricted)
        limits = Limits(max_size=max_size, max_sets=max_sets, time_limit=time_limit, max_predictions=max_predictions)
        return Settings(kind=kind, allowed=~chosen, limits=limits)

    def explain_rows(
        self, queries: pd.DataFrame, settings: Settings, *, n_jobs: int = 1, progress: bool = False
    ) -> Explanations:
        """Explain rows that are in the model's form already."""
        source = ExplainerSource(self._form, self._tasks, settings, self._origin)
        try:
            answers = answer_all(self._tasks, queries, settings, n_jobs=n_jobs, progress=progress)
        except InterruptedExplanation as stop:
            stop.explanations = self._explanations(queries, stop.answers, settings, source)
            raise
        return self._explanations(queries, answers, settings, source)

    def _explanations(
        self, queries: pd.DataFrame, answers: Answers, settings: Settings, source: ExplainerSource
    ) -> Explanations:
        return Explanations(
            answers=answers,
            queries=queries,
            references=self.reference,
            features={feature.name: feature.columns for feature in self._space.features},
            kind=settings.kind,
            targets=tuple(task.scorer.target for task in self._tasks),
            thresholds=tuple(task.scorer.threshold for task in self._tasks),
            restricted=tuple(np.array(self._space.names, dtype=object)[~settings.allowed]),
            source=source,
            labels=self.labels,
            classes=self.classes_,
        )


def _is(value: Any, word: str) -> bool:
    return isinstance(value, str) and value == word
