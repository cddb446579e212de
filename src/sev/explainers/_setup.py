"""What an explainer is made of: the model as it is read, the features, and one task for each class."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, Self

import numpy as np
import pandas as pd

from sev.actions import Actions, BoundActions, Ground
from sev.backends import (
    CannotReadError,
    ModelScores,
    Reading,
    Scorer,
    category_columns,
    check_probabilities,
    is_function,
    model_scores,
    read_model,
)
from sev.core import warn_user
from sev.credibility import CredibilityLike, LazyCredibility, OtherRows
from sev.exceptions import FallbackWarning, InputError
from sev.explainers._checks import check_missing_is_taken, reference_scores
from sev.explainers._notebook_view import explainer_as_html
from sev.explainers._origin import Origin
from sev.explainers._task import Task
from sev.files import ExplainerParts, TargetParts
from sev.references import Background, FittedReference, ReferenceLike, as_reference
from sev.space import FeatureSpace, TableForm
from sev.text import Labels
from sev.typing import BoolArray, ClassLabel, FittedModel


class ExplainerSetup:
    """The parts of an explainer, read-only for whoever uses one, and how they are put together.

    :class:`sev.Explainer` adds the questions that users ask.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> explainer.feature_names
    ('debt', 'late', 'age')
    """

    model: FittedModel
    classes_: tuple[ClassLabel, ...]
    backend_reason: str
    #: Names for people.
    labels: Labels = Labels()
    #: What features may become; None: the reference's values.
    actions: Actions | None = None
    _form: TableForm
    _space: FeatureSpace
    _sample: pd.DataFrame
    _frozen: BoolArray
    _restricted: BoolArray
    #: Without those that actions freeze: these come and go with the actions.
    _restricted_by_name: BoolArray
    _tasks: list[Task]
    #: Number and hash of the background rows; None for an explainer that was not made from them.
    _n_background: int | None = None
    _background_hash: str | None = None

    # -- what it is made of --------------------------------------------------------------------------------------------

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in column order."""
        return self._space.names

    @property
    def restricted(self) -> tuple[str, ...]:
        """Features that no explanation may use; those that the actions freeze included."""
        return tuple(np.array(self._space.names, dtype=object)[self._restricted])

    @property
    def frozen(self) -> tuple[str, ...]:
        """Features that the actions freeze."""
        return tuple(np.array(self._space.names, dtype=object)[self._frozen])

    @property
    def target(self) -> ClassLabel:
        """The class being explained, or "predicted"."""
        return self._tasks[0].scorer.target if len(self._tasks) == 1 else "predicted"

    @property
    def threshold(self) -> float:
        """Scores of at least this are predicted as the target."""
        return self._tasks[0].scorer.threshold

    @property
    def reference(self) -> pd.DataFrame:
        """The reference rows: one for each class being explained, or several where the reference has several."""
        if len(self._tasks) == 1:
            return self._tasks[0].reference.rows.copy()
        return pd.concat([task.reference.rows for task in self._tasks], ignore_index=True)

    @property
    def form(self) -> TableForm:
        """Columns, dtypes and container of the rows."""
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

    # -- in parts, and from parts --------------------------------------------------------------------------------------

    def parts(self) -> ExplainerParts:
        """What this explainer is made of, without what can be computed again.

        Returns
        -------
        ExplainerParts
            The model, the form of its rows, the reference, actions and labels.

        Examples
        --------
        >>> explainer.parts().restricted
        ()
        """
        return ExplainerParts(
            model=self.model,
            form=self._form,
            space=self._space,
            restricted=tuple(np.array(self._space.names, dtype=object)[self._restricted_by_name]),
            sample=self._sample,
            targets=tuple(
                TargetParts(
                    task.scorer.target,
                    task.scorer.threshold,
                    task.scorer.leads,
                    task.reference,
                    None if task.bound is None else task.bound.ground,
                    task.credibility,
                )
                for task in self._tasks
            ),
            backend=self.backend,
            backend_reason=self.backend_reason,
            n_background=self._n_background,
            background_hash=self._background_hash,
            labels=self.labels,
            actions=self.actions,
            classes=self.classes_,
        )

    @classmethod
    def from_parts(cls, parts: ExplainerParts) -> Self:
        """Build an explainer from its parts; the model is read, and the reading proven, again.

        Parameters
        ----------
        parts : ExplainerParts
            As :meth:`parts` returns them.

        Returns
        -------
        Explainer
            One that returns the same explanations.

        Examples
        --------
        >>> sev.Explainer.from_parts(explainer.parts()).explain_one(X.iloc[5]).features
        ('debt', 'late')
        """
        self = cls.__new__(cls)
        self.model = parts.model
        self.labels, self.actions = parts.labels, parts.actions
        self._form, self._space, self._sample = parts.form, parts.space, parts.sample
        self._restrict_features(parts.restricted)
        self._n_background, self._background_hash = parts.n_background, parts.background_hash
        names = list(parts.classes) or None
        scores = model_scores(self.model, self._form.to_native(self._sample), names, parts.targets[0].target)
        self.classes_ = scores.classes
        self.backend_reason = ""
        # a fallback that was known before is no news
        reading = self._read_backend(scores, expected_reason=parts.backend_reason)
        self._tasks = []
        for one in parts.targets:
            scorer = scores.for_target(one.target, None if one.leads else one.threshold)
            self._append_task(
                scorer, reading, one.reference, allow_positive=True, ground=one.ground, credibility=one.credibility
            )
        return self

    def with_parts(self, parts: ExplainerParts) -> Self:
        """An explainer made of other parts, with the same model, which is not read again.

        Parameters
        ----------
        parts : ExplainerParts
            Those of :meth:`parts` with other references, actions, restricted features or labels.

        Returns
        -------
        Explainer
            A new explainer; this one is not changed.

        Examples
        --------
        >>> from dataclasses import replace
        >>> explainer.with_parts(replace(explainer.parts(), restricted=("late",))).explain_one(X.iloc[5]).features
        ('debt', 'age')
        """
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)  # a copy would read the model again
        made.labels, made.actions = parts.labels, parts.actions
        made._restrict_features(parts.restricted)
        made._tasks = []
        for task, one in zip(self._tasks, parts.targets, strict=True):
            changed = one.reference is not task.reference  # one that is known already was looked at when it was new
            made._append_task(
                task.scorer,
                task.reading,
                one.reference,
                allow_positive=not changed,
                ground=one.ground,
                credibility=one.credibility,
            )
        return made

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[ExplainerParts]]:
        # readings hold locks and closures: another process makes its own, and proves it
        return type(self).from_parts, (self.parts(),)

    # -- inside --------------------------------------------------------------------------------------------------------

    def allowed_features(self, restricted: Iterable[str] | None) -> BoolArray:
        """Features that an explanation may use.

        Parameters
        ----------
        restricted : iterable of str or None
            Features that it may not use; None takes those of the explainer. Frozen features are always left out.

        Returns
        -------
        ndarray of bool, shape (n_features,)
            True for each feature that may be used.

        Examples
        --------
        >>> explainer.allowed_features(["age"]).tolist()
        [True, True, False]
        """
        chosen = self._restricted if restricted is None else self._space.select(restricted) | self._frozen
        return ~chosen

    def _restrict_features(self, restricted: Iterable[str]) -> None:
        self._frozen = self._space.select(() if self.actions is None else self.actions.frozen, what="frozen")
        self._restricted_by_name = self._space.select(restricted)
        self._restricted = self._restricted_by_name | self._frozen

    @property
    def origin(self) -> Origin:
        """Names, hashes and settings that explanations record as their origin."""
        return Origin(
            model=self.model,
            backend=self.backend,
            n_background=self._n_background,
            background_hash=self._background_hash,
        )

    def _read_backend(self, scores: ModelScores, expected_reason: str | None = None) -> Reading | None:
        try:
            return read_model(self.model, scores, self._form, self._space, self._sample)
        except CannotReadError as error:
            self.backend_reason = str(error)
        except Exception as error:  # a reader met something that it does not know: slower, never wrong
            self.backend_reason = f"{type(error).__name__}: {error}"
        if self.backend_reason == expected_reason or is_function(self.model):
            return None
        warn_user(
            f"{type(self.model).__name__} is explained as a black box: sets are tried by calling the model, "
            f"and an answer is proven only where the budget of predictions was enough. Why: {self.backend_reason}.",
            FallbackWarning,
        )
        return None

    def _add_task(
        self,
        scorer: Scorer,
        reading: Reading | None,
        background: pd.DataFrame,
        labels: np.ndarray | None,
        reference: ReferenceLike,
        threshold: float | None,
        allow_positive: bool,
        credibility: CredibilityLike | Literal[False],
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
        lazy = None if credibility is False else LazyCredibility(credibility, OtherRows.of(known))
        self._append_task(scorer, reading, fitted, allow_positive, Ground.of(known, fitted.rows), lazy)

    def _append_task(
        self,
        scorer: Scorer,
        reading: Reading | None,
        fitted: FittedReference,
        allow_positive: bool,
        ground: Ground | None,
        credibility: LazyCredibility | None,
    ) -> None:
        if ground is None and self.actions is not None:
            raise InputError(
                "This explainer was saved by an older version of sev, which kept too little of the "
                "background for actions: make it again from the model and the training rows."
            )
        bound = None if ground is None else BoundActions(self.actions or Actions(), self._space, ground)
        if bound is not None and not self._tasks:
            check_missing_is_taken(bound, scorer, self._form, fitted.rows.iloc[:1])
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
                bound=bound,
                has_actions=self.actions is not None,
                credibility=credibility,
            )
        )
