"""Which of a model's outputs is its score, and which classes it is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, is_classifier, is_outlier_detector
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from sev._registry import look_up
from sev.backends._agreement import count_other_labels, predicted_labels
from sev.backends._outputs import as_array, as_scores, count_rows, holds_labels
from sev.backends._protocol import CannotReadError
from sev.backends._registry import scorer_for
from sev.backends._scores import ModelScores, index_of_class
from sev.backends._wrappers import DecisionRule, decision_rule, unwrap
from sev.core import python_value
from sev.exceptions import InputError, ModelError, TargetError, UnfittedModelError
from sev.typing import ClassLabel, FittedModel, FloatArray, LabelsLike, ModelOutput, NativeTable, Response


def model_scores(
    model: object, sample: NativeTable, labels: LabelsLike | None = None, target: ClassLabel | None = None
) -> ModelScores:
    """Find out how to score rows with a model.

    Parameters
    ----------
    model : object
        Fitted classifier, booster, module or callable.
    sample : table
        Rows to try it on.
    labels : array-like, default=None
        Labels of the background, which name the classes of a callable.
    target : object, default=None
        The class being explained, as the user gives it; names what a callable scores.

    Returns
    -------
    ModelScores
        How to score rows, for each class.

    Raises
    ------
    ModelError
        If the model returns no scores, or has no fitted model inside.
    """
    _check_fitted(model)
    factory = scorer_for(model)
    if factory is not None:
        return _callable_scores(factory(model), sample, labels, target, getattr(model, "classes_", None))
    responses = [name for name in _RESPONSES if hasattr(model, name)]
    if (
        not responses
        and hasattr(model, "predict")
        and (hasattr(model, "classes_") or _is_of_type(model, is_classifier))
    ):
        return _label_scores(model, sample)
    if responses:
        return _classifier_scores(model, sample, responses)
    if callable(model):
        return _callable_scores(model, sample, labels, target, None)
    if getattr(model, "refit", True) is False:
        raise ModelError(f"{type(model).__name__} has no fitted model inside: fit it with refit=True.")
    raise ModelError(
        f"{type(model).__name__} returns no scores: it has neither predict_proba nor decision_function, is not "
        "a classifier and is not callable. Pass a function from rows to scores instead."
    )


_RESPONSES: tuple[Response, ...] = ("predict_proba", "decision_function")


def _classifier_scores(model: object, sample: NativeTable, responses: list[Response]) -> ModelScores:
    rule = decision_rule(model)
    found = _scores_of_response(model, responses[0] if rule is None else rule.response, sample, rule)
    if len(found.classes) == 2:
        return found
    # With more than two classes a row is of the class with the highest score: only scores will do whose best class is
    # the one that the model predicts.
    predicted = predicted_labels(model, sample, found.classes)
    for candidate in _list_candidates(model, sample, responses, found):
        if predicted is None or not count_other_labels(candidate, as_scores(candidate.ask(sample)), predicted):
            return candidate
    return _label_scores(model, sample)


def _list_candidates(
    model: object, sample: NativeTable, responses: list[Response], first: ModelScores
) -> list[ModelScores]:
    candidates = [first, *(_scores_of_response(model, response, sample, None) for response in responses[1:])]
    votes = _vote_scores(model)
    if votes is None:
        return candidates
    # Support vector machines predict by votes between pairs of classes, whatever shape their decision values have.
    by_votes = ModelScores(votes, "decision_function", first.classes, None, len(first.classes))
    return [*(one for one in candidates if one.response == "predict_proba"), by_votes]


def _vote_scores(model: object) -> Callable[[NativeTable], FloatArray] | None:
    """Scores by votes, where a model predicts by them."""
    try:
        unwrapped = unwrap(model, "decision_function")
    except CannotReadError:
        return None
    votes = look_up(unwrapped.estimator, "votes")
    return None if votes is None or unwrapped.links else votes(unwrapped)


def _scores_of_response(
    model: object, response: Response, sample: NativeTable, rule: DecisionRule | None
) -> ModelScores:
    ask: Callable[[NativeTable], ModelOutput] = getattr(model, response)
    outputs = as_scores(ask(sample), count_rows(sample))
    n_columns = outputs.shape[1] if outputs.ndim == 2 else 1
    names = class_names(model)
    if names is None:
        names = tuple(range(max(n_columns, 2)))
    if len(names) < 2:
        raise ModelError(f"The model has only one class ({names[0]!r}): no decision could ever change.")
    pairs = len(names) * (len(names) - 1) // 2
    if n_columns != len(names) and not (n_columns == 1 and len(names) == 2) and n_columns != pairs:
        raise ModelError(
            f"{type(model).__name__}.{response} returns {n_columns} scores per row, but the model has {len(names)} "
            f"classes ({list(names)[:5]}): pass a function that returns one column per class."
        )
    own = None if rule is None else (rule.threshold, index_of_class(names, rule.positive))
    return ModelScores(ask, response, names, own, n_columns)


def class_names(model: object) -> tuple[ClassLabel, ...] | None:
    """The classes of a model as plain values; None where it does not tell.

    Raises
    ------
    ModelError
        When it predicts several outputs at once.
    """
    classes = getattr(model, "classes_", None)
    if classes is None:
        return (-1, 1) if _is_of_type(model, is_outlier_detector) else None
    if isinstance(classes, (list, tuple)) and any(np.ndim(one) for one in classes):
        raise ModelError(
            f"{type(model).__name__} predicts {len(classes)} outputs at once: pass a function that returns the scores "
            "of one of them."
        )
    values = classes if isinstance(classes, (list, tuple)) else np.asarray(classes).ravel().tolist()
    return tuple(map(python_value, values))


@dataclass(frozen=True, eq=False)
class _ScoresOfLabels:
    """One column per class, from labels: 1 for the predicted class, 0 for the others."""

    predict: Callable[[NativeTable], ModelOutput]
    classes: tuple[ClassLabel, ...]

    def __call__(self, rows: NativeTable) -> FloatArray:
        labels = as_array(self.predict(rows))
        if labels.ndim != 1:
            raise ModelError(f"The model predicts labels of shape {labels.shape}: one label per row is needed.")
        return np.column_stack([np.asarray(labels == name, dtype=np.float64) for name in self.classes])


def _label_scores(model: FittedModel, sample: NativeTable) -> ModelScores:
    names = class_names(model)
    if names is None:
        names = tuple(np.unique(as_array(model.predict(sample))).tolist())
    if len(names) < 2:
        raise ModelError(f"The model has only one class ({list(names)}): no decision could ever change.")
    return ModelScores(_ScoresOfLabels(model.predict, names), "predict", names, None, len(names))


def _callable_scores(
    ask: Callable[[NativeTable], ModelOutput],
    sample: NativeTable,
    labels: LabelsLike | None,
    target: ClassLabel | None,
    classes: Sequence[ClassLabel] | None,
) -> ModelScores:
    outputs = as_array(ask(sample))
    every_class = isinstance(target, str) and target == "predicted"
    chosen = None if every_class else target
    if holds_labels(outputs):
        if target is None:
            raise TargetError(
                f"The callable returns labels ({', '.join(map(repr, sorted(set(outputs.tolist()))[:5]))}): pass "
                'target= the one to explain, or target="predicted".'
            )
        names = _seen_labels(outputs, labels, chosen)
        return ModelScores(_ScoresOfLabels(ask, names), "predict", names, None, len(names))
    outputs = as_scores(outputs, count_rows(sample))
    n_columns = outputs.shape[1] if outputs.ndim == 2 else 1
    if classes is not None and len(classes) == max(n_columns, 2):
        names = tuple(np.asarray(classes).tolist())
    elif n_columns == 1:
        names = _two_names(labels, chosen, is_boolean=outputs.dtype.kind == "b")
    else:
        names = tuple(range(n_columns))
    return ModelScores(ask, "call", names, n_columns=n_columns)


def _seen_labels(outputs: ModelOutput, labels: LabelsLike | None, target: ClassLabel | None) -> tuple[ClassLabel, ...]:
    """Classes of a callable that returns text: all that it returned, and all that the background is labelled with."""
    returned, known = set(outputs.tolist()), set(_unique_labels(labels))
    if known and not returned <= known:
        raise InputError(
            f"The callable returns labels ({sorted(returned)[:5]}) that y_train does not hold ({list(known)[:5]}): "
            "pass the same labels in y_train."
        )
    seen = returned | known | ({target} if target is not None else set())
    names = tuple(sorted(seen, key=str))
    if len(names) < 2:
        raise ModelError(f"The callable returned only one label ({names[0]!r}): no decision could ever change.")
    return names


def _two_names(
    labels: LabelsLike | None, target: ClassLabel | None, *, is_boolean: bool
) -> tuple[ClassLabel, ClassLabel]:
    """Names of the two classes of a callable that returns one score: the second one is scored."""
    known = _unique_labels(labels)
    plain: tuple[ClassLabel, ClassLabel] = (0, 1)
    if all(label in plain for label in known):  # 0 and 1, booleans, or nothing known
        if all(isinstance(label, bool) for label in known) and (known or is_boolean):
            plain = (False, True)
        if target is None or target in plain:
            return plain
        return f"not {target}", target
    if target is None:
        raise TargetError(
            f"y_train holds the labels {', '.join(map(repr, known[:5]))}, and a model that returns one score does "
            "not tell which of them it scores: pass target= that label (--target on the command line)."
        )
    others = [label for label in known if label != target]
    return (others[0] if len(others) == 1 else f"not {target}"), target


def _unique_labels(labels: LabelsLike | None) -> list[ClassLabel]:
    if labels is None:
        return []
    array = np.asarray(labels)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    values = pd.unique(pd.Series(array)) if array.ndim == 1 else []
    return list(map(python_value, values))


def _is_of_type(model: object, check: Callable[[BaseEstimator], bool]) -> bool:
    """What scikit-learn says about a type of its own; other objects have no tags to look at."""
    return isinstance(model, BaseEstimator) and check(model)


def _check_fitted(model: object) -> None:
    if isinstance(model, type):
        raise ModelError(f"Got the class {model.__name__}, not an object: pass a fitted model.")
    if isinstance(model, BaseEstimator):
        try:
            check_is_fitted(model)
        except NotFittedError as error:
            raise UnfittedModelError(
                f"This {type(model).__name__} is not fitted: call model.fit(X_train, y_train) first."
            ) from error
