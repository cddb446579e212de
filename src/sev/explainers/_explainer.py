"""The class that users meet first: the questions that it answers, each with its documentation.

What an explainer is made of is in `_setup.py`, the options of a call in `_options.py`, the way from rows to results in
`_results.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

import numpy as np
import pandas as pd

from sev._io import write_file
from sev._registry import load as load_route
from sev.actions import Actions
from sev.backends import check_decisions, model_scores, representative_rows
from sev.credibility import CredibilityLike
from sev.exceptions import InputError
from sev.explainers._alone import find_alone
from sev.explainers._checks import (
    check_same_scores,
    checked_labels,
    threshold_for,
    warn_if_all_decided_alike,
    warn_if_nothing_may_change,
)
from sev.explainers._hashing import table_hash
from sev.explainers._options import DEFAULT_MAX_PREDICTIONS, ExplainOptions, check_count, check_n_jobs
from sev.explainers._recourse import find_menu, find_price
from sev.explainers._results import answer_rows, source_for
from sev.explainers._setup import ExplainerSetup
from sev.explainers._source import ExplainerSource
from sev.explainers._variants import parts_with_reference
from sev.explainers._work import Settings
from sev.explanations import Explanation, Explanations
from sev.files import refusing
from sev.references import ReferenceLike
from sev.space import FeatureSpace, TableForm
from sev.text import Labels
from sev.typing import ClassLabel, ColumnLabel, Kind, LabelsLike, Minimise, NativeTable, Order, Parsed, RowLike, Values

if TYPE_CHECKING:
    from typing import TypedDict

    from anywidget import AnyWidget

    from sev.typing import MenuOptions, PriceOptions, SearchOptions

    class _WidgetOptions(TypedDict, total=False):
        others: Mapping[str, Explainer] | None
        codes: Parsed
        title: str
        language: str | None


class Explainer(ExplainerSetup):
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
    reference : str, row, table or object of :mod:`sev.references`, default="auto"
        What features are changed to. "mean" is the mean of numbers and the most common value of everything else
        over the background rows of the other class. "auto" is the same, but a column of integers takes the value that
        occurs nearest to its mean; where the model predicts that row as the target, or cannot score it, "auto" tries
        the median and then a real row. Other names are "median", "clusters:5", "nearest", "by:COLUMN" and
        "best:clusters:5". A mapping with some of the columns takes the others from "auto". With a table of several
        rows, each query is compared with the nearest of them.
    groups : mapping of str to list of columns, default=None
        Columns that move as one. One-hot blocks are found by themselves.
    restricted : iterable of str, default=()
        Features that no explanation may use.
    threshold : float, default=None
        A row is predicted as the target when its score is at least this. None is the model's own threshold where it
        has one, else 0.5 of ``predict_proba`` or 0 of ``decision_function``.
    allow_positive_reference : bool, default=False
        Accept a reference that is itself predicted as the target, in place of an error.
    labels : Labels, mapping or path, default=None
        Names of features, units, values and decisions for people, used by sentences, plots and reports; a path is a
        YAML file. Saved with the explainer.
    actions : Actions, mapping or path, default=None
        What features may become in an explanation; a path is a YAML file. Saved with the explainer. None: each may
        become the reference's value.
    feature_names : sequence of str, default=None
        Names of the columns of an array, in order; tables have their own.
    credibility : measure of :mod:`sev.credibility`, str, callable or False, default=None
        Measures how ordinary a changed row is among real rows of the other class. None is an isolation forest; names
        are "isolation", "mixture" and "neighbours"; a callable takes rows and returns a number for each, larger for
        more ordinary rows.
        It is fitted when it is first needed, and saved with the explainer. False: it is not measured.

    Raises
    ------
    InputError
        If the arguments do not fit the rows or each other; the message names the row or the column.
    UnknownFeatureError
        If ``groups``, ``restricted``, ``actions`` or ``reference`` name a column that the rows do not have.
    TargetError
        If the model does not know the class ``target``.
    PositiveReferenceError
        If the reference is itself predicted as the class being explained.
    ModelError
        If the model cannot be scored; :class:`~sev.exceptions.UnfittedModelError` if it is not fitted.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> explainer.explain_one(X.iloc[5]).features
    ('debt', 'late')
    >>> explainer.backend, explainer.reference_name
    ('linear', 'mean')
    """

    def __init__(
        self,
        model: object,
        X_train: NativeTable,
        y_train: LabelsLike | None = None,
        *,
        target: ClassLabel | None = None,
        reference: ReferenceLike = "auto",
        groups: Mapping[str, Sequence[ColumnLabel]] | None = None,
        restricted: Iterable[str] = (),
        threshold: float | None = None,
        allow_positive_reference: bool = False,
        labels: Labels | Mapping[str, Parsed] | str | Path | None = None,
        actions: Actions | Mapping[str, Parsed] | str | Path | None = None,
        feature_names: Sequence[str] | None = None,
        credibility: CredibilityLike | Literal[False] = None,
    ) -> None:
        self.model = model
        self.labels = Labels.of(labels)
        self.actions = Actions.of(actions)
        self._form = TableForm.of(X_train, feature_names)
        background = self._form.to_frame(X_train, what="X_train")
        self._space = FeatureSpace.of(background, groups)
        self._restrict_features(restricted)
        self._sample = background.iloc[representative_rows(background)].reset_index(drop=True)
        scores = model_scores(model, self._form.to_native(self._sample), y_train, target)
        each_row_its_own = isinstance(target, str) and target == "predicted"
        classes = scores.classes if each_row_its_own else (scores.for_target(target, threshold).target,)
        if len(classes) > 1 and threshold is not None and len(scores.classes) > 2:
            raise InputError(
                'target="predicted" takes no threshold when the model has more than two classes: leave it out.'
            )
        known = checked_labels(y_train, len(background), scores.classes)
        self.classes_ = scores.classes
        self.labels.check(dict.fromkeys(self._space.names), self.classes_)  # an unknown name is an error now
        self.backend_reason = ""
        reading = self._read_backend(scores)
        self._tasks = []
        for one in classes:
            scorer = scores.for_target(one, threshold_for(one, scores, threshold, len(classes)))
            self._add_task(
                scorer, reading, background, known, reference, threshold, allow_positive_reference, credibility
            )
        warn_if_nothing_may_change(~self._restricted)
        if threshold is None:
            check_decisions(model, scores, [task.scorer for task in self._tasks], self._form.to_native(self._sample))
        else:
            warn_if_all_decided_alike(self._tasks[0].scorer, self._form, background)
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
        values: Values = "reference",
        minimise: Minimise = "features",
        order: Order = "margin",
        min_credibility: float = 0.0,
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
            Seconds for one row. A search that reaches the limit returns the best set found and a proven lower bound.
            None: the backend's own limit of work, if it has one (for trees about a second per row).
        max_predictions : int, default=1_000_000
            Rows that a black box may score for one row of ``X``; None is no limit. The search may use all but three of
            them, which score the row itself before and after the search, and its first set once more. The limit holds
            for each search: ``min_credibility`` needs two, :class:`~sev.references.Best` one for each reference row.
            Exact backends do not need it.
        n_jobs : int, default=1
            Number of workers that rows are divided between, of the active joblib backend (threads by default).
        progress : bool, default=False
            Show a progress bar.
        values : {"reference", "typical", "any"}, default="reference"
            What a feature may become, within the actions of the explainer. "reference": the permitted value nearest to
            the reference's. "typical": for a number, any value between two quantiles of the other class that lie around
            the reference's value; else the reference's category. "any": any number in the range of the
            background, any category that occurs there.
        minimise : {"features", "cost"}, default="features"
            "features": the fewest, then the least cost. "cost": the least total cost.
        order : {"margin", "closest", "credible"}, default="margin"
            Which of the minimum sets comes first. "margin": the one that takes the score furthest (with actions, or
            with ``values`` other than "reference", the one of least cost). "closest": the one whose largest change of a
            number, in standard deviations of the background, is the smallest; ties go to the smaller total change, then
            to fewer other changes. "credible": the one whose result is the most credible.
        min_credibility : float, default=0.0
            The answer is the smallest set whose result has at least this credibility: the share of real rows of the
            other class that are less ordinary than the result, between 0 and 1. 0 is no limit.

        Returns
        -------
        Explanations
            One for each row, in order.

        Raises
        ------
        InputError
            If the rows do not have the model's columns, or an option is not one of those above.
        UnknownFeatureError
            If ``restricted`` names a feature that the rows do not have.
        InterruptedExplanation
            On Ctrl-C; its ``explanations`` hold the rows that were done.

        Examples
        --------
        >>> many = explainer.explain(X)
        >>> many.to_frame()[["status", "size", "features"]]
               status  size      features
        0  not_target   NaN            ()
        1  not_target   NaN            ()
        2  not_target   NaN            ()
        3     optimal   1.0       (late,)
        4     optimal   1.0       (debt,)
        5     optimal   2.0  (debt, late)
        >>> explainer.explain(X, restricted=["age"], max_sets=1)[5].sets
        (('debt', 'late'),)
        """
        settings = self.settings_for(
            kind=kind, restricted=restricted, max_size=max_size, max_sets=max_sets, time_limit=time_limit,
            max_predictions=max_predictions, values=values, minimise=minimise, order=order,
            min_credibility=min_credibility,
        )  # fmt: skip
        check_n_jobs(n_jobs)
        return self.explain_rows(self._form.to_frame(X), settings, n_jobs=n_jobs, progress=progress)

    def explain_one(
        self, row: RowLike, *, n_jobs: int = 1, progress: bool = False, **options: Unpack[SearchOptions]
    ) -> Explanation:
        """Explain a single row.

        Parameters
        ----------
        row : Series, mapping, 1-D array, sequence, or table of one row
            The row.
        n_jobs, progress, **options
            As for :meth:`explain`.

        Returns
        -------
        Explanation
            The same answer as that of :meth:`explain` for this row.

        Raises
        ------
        InputError
            If it is not one row, or an option is not one of :meth:`explain`.

        Examples
        --------
        >>> one = explainer.explain_one({"debt": 5, "late": 4, "age": 20})
        >>> one.features, one.status.value
        (('debt', 'late'), 'optimal')
        >>> one.sets
        (('debt', 'late'), ('debt', 'age'), ('late', 'age'))
        """
        settings = self.settings_for(**options)
        return self.explain_rows(self._form.one_row(row), settings, n_jobs=n_jobs, progress=progress)[0]

    def alone(self, X: NativeTable, *, values: Values = "any") -> pd.DataFrame:
        """For each explained row and feature: can it change the decision alone, and with which share of its values?

        Each permitted value is scored by the model. Of a number with many values, tree ensembles score one of each
        interval that no tree divides, which decides about all values in it. Other models, and features that a rule
        names, have only values that occur in the background scored; ``searched`` is "candidates" then. Where none of
        these works, linear, additive and tree models are searched over all values: ``searched`` is "all" where that
        proves that none does.

        Parameters
        ----------
        X, values
            As for :meth:`explain`.

        Returns
        -------
        DataFrame
            Indexed by row and feature: ``works`` (whether some value changes the decision), ``share`` (of how many of
            the ``n_values`` that is true; where every number is permitted, and all are decided, of what part of the
            permitted range) and ``searched``. Features that may not change are left out.

        Raises
        ------
        InputError
            If ``X`` does not have the model's columns, or ``values`` is not known.

        Examples
        --------
        >>> explainer.alone(X[3:5])
                     works     share  n_values searched
        row feature
        3   age       True  0.100000        30      all
            debt      True  0.166667         6      all
            late      True  0.250000         4      all
        4   age      False  0.000000        30      all
            debt      True  0.666667         6      all
            late     False  0.000000         4      all
        """
        settings = self.settings_for(max_predictions=None, values=values)
        return find_alone(self, self._form.to_frame(X), settings)

    def price(
        self, row: RowLike, locks: Iterable[str], *, values: Values = "any", **options: Unpack[PriceOptions]
    ) -> pd.DataFrame:
        """What it costs a person that features are locked: size with and without each lock, and with all of them.

        Parameters
        ----------
        row : Series, mapping, 1-D array, sequence, or table of one row
            The row.
        locks : iterable of str
            Features to lock. Features that are frozen or restricted already may be named as well.
        values : {"reference", "typical", "any"}, default="any"
            What features may become; :meth:`explain` has another default, the reference's values.
        **options
            As for :meth:`explain`.

        Returns
        -------
        DataFrame
            One line for each lock: ``size_without``, ``size_with``, ``cost_without``, ``cost_with``, ``outcome``
            ("free", "costlier": as many features at a higher cost, "1 more", "impossible", "not decided") and whether
            that is ``proven``.

        Raises
        ------
        InputError
            If no lock is named, or the row is not predicted as the class being explained.
        UnknownFeatureError
            If a lock is not a feature.

        Examples
        --------
        >>> explainer.price(X.iloc[4], ["age", "debt"])[["size_without", "size_with", "outcome"]]
                     size_without  size_with     outcome
        lock
        age                     1        1.0        free
        debt                    1        2.0      1 more
        all of them             1        NaN  impossible
        """
        asked = ExplainOptions.of(options, fixed={"kind": "minus", "values": values, "minimise": "features"})
        return find_price(self, self._form.one_row(row), locks, asked.settings(self))

    def menu(
        self, row: RowLike, max_size: int = 3, *, values: Values = "any", **options: Unpack[MenuOptions]
    ) -> pd.DataFrame:
        """Every set of features up to a size: works, cannot work (proven), or not decided.

        Sets that hold a smaller one that works are left out.

        Parameters
        ----------
        row : Series, mapping, 1-D array, sequence, or table of one row
            The row.
        max_size : int, default=3
            The largest sets to look at.
        values : {"reference", "typical", "any"}, default="any"
            What features may become; :meth:`explain` has another default, the reference's values.
        **options
            As for :meth:`explain`.

        Returns
        -------
        DataFrame
            One line for each set: ``features``, ``size``, ``outcome``, ``changes`` (the new values), ``cost`` and
            ``searched``.

        Raises
        ------
        InputError
            If the row is not predicted as the class being explained, or there are too many sets
            to list: pass a smaller ``max_size``.

        Examples
        --------
        >>> explainer.menu(X.iloc[5], max_size=2)[["features", "outcome"]]
               features      outcome
        0       (debt,)  cannot work
        1       (late,)  cannot work
        2        (age,)  cannot work
        3  (debt, late)        works
        4   (debt, age)        works
        5   (late, age)        works
        """
        check_count("max_size", max_size)
        fixed = {"kind": "minus", "values": values, "minimise": "features", "order": "margin"}
        asked = ExplainOptions.of(options, fixed=fixed)
        return find_menu(self, self._form.one_row(row), int(max_size), asked.settings(self))

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

        Raises
        ------
        UntrustedTypeError
            If the model has no safe form and ``allow_pickle`` is False.
        InputError
            If the reference or the credibility is a function of your own, which cannot be saved.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     explainer.save(f"{folder}/loans.sev")
        ...     sev.load(f"{folder}/loans.sev").explain(X)[5].features
        ('debt', 'late')
        """
        write_file(path, self.to_bytes(allow_pickle=allow_pickle))

    def to_bytes(self, *, allow_pickle: bool = False, credibility: bool = True) -> bytes:
        """The bytes that :meth:`save` writes, with or without the measure of credibility.

        Parameters
        ----------
        allow_pickle : bool, default=False
            As for :meth:`save`.
        credibility : bool, default=True
            Whether the measure of credibility is part of it.

        Returns
        -------
        bytes
            The content of the file.

        Raises
        ------
        UntrustedTypeError
            If the model has no safe form and ``allow_pickle`` is False.

        Examples
        --------
        >>> explainer.to_bytes()[:2]
        b'PK'
        """
        from sev.files import pack_explainer

        parts = self.parts()
        if not credibility:
            parts = replace(parts, targets=tuple(replace(one, credibility=None) for one in parts.targets))
        data = pack_explainer(parts, allow_pickle=allow_pickle)
        again = type(self).from_bytes(data, trust_pickle=True)
        check_same_scores(self.model, self._tasks, again.tasks, self._form.to_native(self._sample))
        return data

    @classmethod
    def from_bytes(cls, data: bytes, *, trust_pickle: bool = False) -> Explainer:
        """Inverse of :meth:`to_bytes`; see :func:`sev.load`.

        Parameters
        ----------
        data : bytes
            What :meth:`to_bytes` returned, or the content of a file that :meth:`save` wrote.
        trust_pickle : bool, default=False
            Load a pickled model, which runs whatever code is in it.

        Returns
        -------
        Explainer
            One that returns the same explanations.

        Raises
        ------
        ArchiveError
            If the data are damaged or not a sev file.
        UntrustedTypeError
            If they hold a type that is not safe to load.

        Examples
        --------
        >>> copy = sev.Explainer.from_bytes(explainer.to_bytes())
        >>> copy.explain(X).to_frame().equals(explainer.explain(X).to_frame())
        True
        """
        from sev.files import unpack_explainer

        parts = unpack_explainer(data, trust_pickle=trust_pickle)
        with refusing("its parts do not fit together"):
            return cls.from_parts(parts)

    def with_actions(self, actions: Actions | Mapping[str, Parsed] | str | Path | None) -> Explainer:
        """The same explainer with other actions; None takes them away.

        Parameters
        ----------
        actions : Actions, mapping or path
            As for the explainer itself.

        Returns
        -------
        Explainer
            A new explainer; this one is not changed.

        Raises
        ------
        InputError
            If the actions contradict each other or do not fit the columns; the message names the entries.

        Examples
        --------
        >>> only_less = explainer.with_actions(sev.Actions(frozen=["age"], decrease=["debt", "late"]))
        >>> change = only_less.explain_one(X.iloc[5], values="any").changes["late"]
        >>> change.old, change.new, change.enough.high
        (4, 2, 2.0)
        """
        return self.with_parts(replace(self.parts(), actions=Actions.of(actions)))

    def with_reference(self, reference: ReferenceLike, X: NativeTable | None = None) -> Explainer:
        """The same explainer with another reference.

        Parameters
        ----------
        reference : str, row, table or object of :mod:`sev.references`
            As for the explainer itself.
        X : table, default=None
            Rows to choose the reference from: those that the model does not predict as the class being explained.
            None: the background rows that the explainer keeps.

        Returns
        -------
        Explainer
            A new explainer; this one is not changed.

        Raises
        ------
        InputError
            If the rows to choose from hold none of the other class.
        PositiveReferenceError
            If the reference is itself predicted as the class being explained.

        Examples
        --------
        >>> explainer.with_reference("nearest", X).explain_one(X.iloc[5]).reference.to_dict()
        {'debt': 2, 'late': 0, 'age': 30}
        """
        rows = None if X is None else self._form.to_frame(X)
        return self.with_parts(parts_with_reference(self, reference, rows))

    def widget(self, X: NativeTable | None = None, **options: Unpack[_WidgetOptions]) -> AnyWidget:
        """A page in the notebook on which decisions can be looked at and edited; needs the extra ``app``.

        Parameters
        ----------
        X : table, default=None
            Decisions to look at; None: only rows that are typed in.
        **options
            As for :func:`sev.app.make_widget`.

        Returns
        -------
        anywidget.AnyWidget
            The widget; the last expression of a cell is shown.

        Raises
        ------
        MissingDependencyError
            If the extra ``app`` is not installed.

        Examples
        --------
        >>> page = explainer.widget(X)  # doctest: +SKIP
        """
        return load_route("sev.app:make_widget")(self, X, **options)  # above this package, and it needs more packages

    # -- for the packages above: batch, reports, results ---------------------------------------------------------------

    @property
    def source(self) -> ExplainerSource:
        """What results need of this explainer: scores, further sets, where they come from."""
        return source_for(self, self.settings_for(max_predictions=None))

    def settings_for(self, **options: Unpack[SearchOptions]) -> Settings:
        """The options of one call, checked; see :meth:`explain` for them and their defaults.

        Parameters
        ----------
        **options
            Options of :meth:`explain`.

        Returns
        -------
        Settings
            All options of one call, with the defaults of those that were not passed.

        Raises
        ------
        InputError
            If an option is unknown, or its value is not permitted.

        Examples
        --------
        >>> explainer.settings_for(kind="plus").kind
        'plus'
        """
        return ExplainOptions(**options).settings(self)

    def explain_rows(
        self, queries: pd.DataFrame, settings: Settings, *, n_jobs: int = 1, progress: bool = False
    ) -> Explanations:
        """Explain rows that are in the model's form already.

        Parameters
        ----------
        queries : DataFrame
            Rows with the model's columns, in its order and dtypes.
        settings : Settings
            As :meth:`settings_for` returns them.
        n_jobs, progress
            As for :meth:`explain`.

        Returns
        -------
        Explanations
            One for each row, in order.

        Examples
        --------
        >>> explainer.explain_rows(X, explainer.settings_for(kind="plus")).sizes.tolist()
        [nan, nan, nan, 2.0, 1.0, 2.0]
        """
        return answer_rows(self, queries, settings, n_jobs=n_jobs, progress=progress)

    def explain_unrestricted(
        self, X: NativeTable, *, kind: Kind = "minus", values: Values = "reference"
    ) -> Explanations:
        """Explain rows with every feature allowed, those that the actions freeze included.

        Parameters
        ----------
        X, kind, values
            As for :meth:`explain`.

        Returns
        -------
        Explanations
            One for each row, in order.

        Examples
        --------
        >>> locked = sev.Explainer(explainer.model, X, y, restricted=["debt", "late"])
        >>> locked.explain(X)[4].status.value, locked.explain_unrestricted(X)[4].features
        ('unexplainable', ('debt',))
        """
        settings = self.settings_for(kind=kind, values=values)
        return self.explain_rows(self._form.to_frame(X), replace(settings, allowed=np.ones_like(settings.allowed)))
