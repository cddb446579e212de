"""A user's own fitted model, taken apart for tuning and put together again."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sev.backends import CannotReadError, category_columns, decision_rule, unwrap
from sev.exceptions import InputError, ModelError, SevError
from sev.space import TableForm
from sev.training._building import ProbedEncoder, TaskBuilder
from sev.training._estimators import SEVClassifier
from sev.training._families import family_of, trainer_for
from sev.training._reference import TaskReference
from sev.training._settings import Family, Settings
from sev.training._task import Trainer, TrainingTask
from sev.typing import BoolArray, FittedClassifier, FloatArray, NativeTable

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.base import BaseEstimator


@dataclass(frozen=True, eq=False)
class Tuner:
    """A fitted model and the rows to tune it on: one task, whatever penalties are tried.

    Parameters
    ----------
    model : fitted classifier or Pipeline
        Is not changed.
    task : TrainingTask
        Its rows, encoded.
    reference : TaskReference
        What the rows are compared with.
    form : TableForm
        Columns, dtypes and container of the rows.
    """

    model: FittedClassifier
    task: TrainingTask
    reference: TaskReference
    form: TableForm

    @classmethod
    def of(
        cls,
        model: FittedClassifier,
        X: NativeTable,
        y: ArrayLike,
        builder: TaskBuilder,
        *,
        weights: FloatArray | None = None,
    ) -> Tuner:
        """Take a model apart and encode its rows.

        Raises
        ------
        ModelError
            When the model cannot be tuned on these rows.
        """
        form = TableForm.of(X)
        frame = form.to_frame(X, what="X").reset_index(drop=True)
        positives = np.asarray(y) == np.asarray(model.classes_)[1]

        def is_positive(rows: pd.DataFrame) -> BoolArray:
            decided: BoolArray = np.asarray(model.predict_proba(form.to_native(rows)))[:, 1] >= 0.5
            return decided

        categories = category_columns(model, form.columns)
        try:
            encoder = ProbedEncoder(unwrap(model, "predict_proba").transform, form, builder.space(frame), frame)
            task, reference = builder.build(
                frame, positives, encoder, is_positive, weights=weights, categories=categories
            )
        except CannotReadError as error:
            raise ModelError(
                f"{type(model).__name__} cannot be tuned feature by feature: {error}. Encode each column by itself "
                "(scaling, imputing and one-hot encoding do), or pass groups= of columns that belong together."
            ) from error
        except SevError:
            raise
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"The final estimator of {type(model).__name__} needs numeric columns: {error}. Put an encoder before "
                "it, in a Pipeline."
            ) from error
        return cls(model, task, reference, form)

    @cached_property
    def _trainer(self) -> Trainer:
        return trainer_for(unwrap(self.model, "predict_proba").estimator, self.task)

    def tune(self, settings: Settings) -> FittedClassifier:
        """A copy of the model whose final estimator is tuned."""
        return with_final(self.model, self._trainer.train(settings).estimator)

    def reference_score(self, tuned: FittedClassifier) -> float:
        """A tuned model's score of the reference, of several the highest."""
        return self.reference.highest_score(
            lambda rows: np.asarray(tuned.predict_proba(self.form.to_native(rows)))[:, 1]
        )


def tunable(model: FittedClassifier) -> tuple[FittedClassifier, Family]:
    """The part of a model that can be tuned and its family: of a search, the best model that it found.

    Raises
    ------
    ModelError
        When the model is wrapped in something that changes its decisions, or is of no known family.
    """
    model = getattr(model, "best_estimator_", model)
    rule = decision_rule(model)
    if rule is not None and not (rule.response == "predict_proba" and rule.threshold == 0.5):
        raise ModelError(
            f"{type(model).__name__} changes the decision threshold, but tuning needs a threshold of 0.5: tune the "
            "model that it wraps, then choose the threshold again."
        )
    try:
        unwrapped = unwrap(model, "predict_proba")
    except CannotReadError as error:
        raise ModelError(f"{type(model).__name__} cannot be tuned: {error}.") from error
    if unwrapped.links:
        raise ModelError(
            f"{type(model).__name__} transforms the scores of another model: tune that model, then calibrate it again."
        )
    family = family_of(unwrapped.estimator)
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise ModelError(f"{type(model).__name__} is not fitted: call fit first.")
    if len(classes) != 2:
        raise InputError(
            f"{type(model).__name__} has {len(classes)} classes: only models with two classes can be tuned."
        )
    return model, family


def with_final(model: FittedClassifier, final: BaseEstimator) -> FittedClassifier:
    """A copy of a model with another final estimator; fitted steps before it are shared, nothing is changed."""
    if hasattr(model, "steps"):
        changed = copy(model)
        name, last = model.steps[-1]
        changed.steps = [*model.steps[:-1], (name, with_final(last, final))]
        return changed
    if isinstance(model, SEVClassifier):
        changed = copy(model)
        changed.final_estimator_ = final
        changed._set_family_attributes()
        return changed
    return final
