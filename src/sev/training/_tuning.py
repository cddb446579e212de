"""A user's own fitted model, taken apart for tuning and put together again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from sev.backends._categories import category_columns
from sev.backends._encoding import ColumnwiseEncoding, as_float_matrix
from sev.backends._protocol import CannotReadError
from sev.backends._sampling import telling_rows
from sev.backends._wrappers import decision_rule, unwrap
from sev.exceptions import InputError, ModelError
from sev.space import FeatureSpace, TableForm
from sev.training._estimators import SEVClassifier
from sev.training._families import family_of, train
from sev.training._reference import reference_row
from sev.training._settings import Family, Settings
from sev.training._task import TrainingTask
from sev.typing import BoolArray, FloatArray, NativeTable


@dataclass(frozen=True, kw_only=True)
class Tuner:
    """How models are tuned, whatever the rows.

    Parameters
    ----------
    reference, groups, restricted
        As for :class:`sev.Explainer`.
    """

    reference: Any
    groups: Mapping[str, Sequence[Any]] | None
    restricted: tuple[str, ...]

    def tune(self, model: Any, X: NativeTable, y: Any, settings: Settings) -> Any:
        """A copy of a fitted model whose final estimator is tuned on some rows."""
        unwrapped = unwrap(model, "predict_proba")
        task = self._task(model, unwrapped.transform, X, y)
        return with_final(model, train(unwrapped.estimator, task, settings).estimator)

    def check(self, model: Any, X: NativeTable, y: Any) -> None:
        """Refuse a model that cannot be tuned on these rows, before any work starts."""
        self._task(model, unwrap(model, "predict_proba").transform, X, y)

    def _task(self, model: Any, transform: Any, X: NativeTable, y: Any) -> TrainingTask:
        form = TableForm.of(X)
        frame = form.to_frame(X, what="X").reset_index(drop=True)
        space = FeatureSpace.of(frame, self.groups)

        def encode(rows: NativeTable) -> FloatArray:
            return as_float_matrix(transform(rows))

        def is_positive(rows: Any) -> BoolArray:
            decided: BoolArray = np.asarray(model.predict_proba(form.to_native(rows)))[:, 1] >= 0.5
            return decided

        labels = np.asarray(y) == np.asarray(model.classes_)[1]
        categories = category_columns(model, form.columns)
        row = reference_row(self.reference, frame, ~labels, space, is_positive, categories)
        try:
            encoding = ColumnwiseEncoding(encode, form, space, frame.iloc[telling_rows(frame)])
            rows, reference = encoding.encode(frame), encoding.encode(row)
            encoding.own_new_columns(frame, row, np.zeros(len(frame), dtype=np.int64), rows, reference)
        except CannotReadError as error:
            raise ModelError(
                f"{type(model).__name__} cannot be tuned feature by feature: {error}. Encode each column by itself "
                "(scaling, imputing and one-hot encoding do), or give `groups` of columns that belong together."
            ) from error
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"The final estimator of {type(model).__name__} does not see numbers: {error}. Put a Pipeline with an "
                "encoder before it."
            ) from error
        return TrainingTask(
            rows=rows,
            labels=labels.astype(np.float64),
            column_feature=encoding.column_feature,
            reference=reference[0],
            allowed=~space.select(self.restricted),
        )


def tunable(model: Any) -> tuple[Any, Family]:
    """The part of a model that can be tuned and its family: of a search, the best model that it found.

    Raises
    ------
    ModelError
        When the model is wrapped in something that changes its decisions, or is of no known family.
    """
    model = getattr(model, "best_estimator_", model)
    if decision_rule(model) is not None:
        raise ModelError(
            f"{type(model).__name__} moves the threshold, while tuning works for the threshold of one half: tune the "
            "model inside, then choose the threshold again."
        )
    try:
        unwrapped = unwrap(model, "predict_proba")
    except CannotReadError as error:
        raise ModelError(f"{type(model).__name__} cannot be tuned: {error}.") from error
    if unwrapped.links:
        raise ModelError(f"{type(model).__name__} maps scores after the model: tune the model inside, then calibrate.")
    family = family_of(unwrapped.estimator)
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise ModelError(f"{type(model).__name__} is not fitted: call fit first.")
    if len(classes) != 2:
        raise InputError(f"{type(model).__name__} tells {len(classes)} classes apart; tuning is for two.")
    return model, family


def with_final(model: Any, final: Any) -> Any:
    """A copy of a model with another final estimator; fitted steps before it are shared, nothing is changed."""
    if hasattr(model, "steps"):
        changed = copy(model)
        name, last = model.steps[-1]
        changed.steps = [*model.steps[:-1], (name, with_final(last, final))]
        return changed
    if isinstance(model, SEVClassifier):
        changed = copy(model)
        changed.final_estimator_ = final
        changed._expose()
        return changed
    return final


def checked_names(restricted: Iterable[str]) -> tuple[str, ...]:
    """Names of restricted features as a tuple."""
    if isinstance(restricted, str):
        raise InputError(f"restricted must be a list of names, got the string {restricted!r}: write [{restricted!r}].")
    return tuple(restricted)
