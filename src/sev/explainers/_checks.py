"""What an explainer refuses before any work starts: labels and references that cannot be right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sev.actions import BoundActions, ChoiceGround
from sev.backends import ModelScores, Scorer
from sev.core import list_names, plain_value, warn_user
from sev.exceptions import DecisionWarning, InputError, PositiveReferenceError
from sev.explainers._task import Task
from sev.explainers._vertices import score_rows_safely
from sev.references import FittedReference
from sev.space import MixedRows, TableForm
from sev.typing import BoolArray, ClassLabel, FloatArray, LabelsLike, NativeTable

#: Rows that are scored first: in most tables they tell already that decisions differ.
_FIRST_ROWS = 1000


def checked_labels(labels: LabelsLike | None, n_rows: int, classes: tuple[ClassLabel, ...]) -> np.ndarray | None:
    """The labels as one array, or an error that names what is wrong with them."""
    if labels is None:
        return None
    array = np.asarray(labels)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or len(array) != n_rows:
        raise InputError(
            f"y_train has shape {array.shape}, X_train has {n_rows} rows: y_train must have one label per row."
        )
    # by value: True is a label of a model that numbers its classes 0 and 1
    strange = [value for value in pd.unique(pd.Series(array)) if not any(value == name for name in classes)]
    if strange:
        raise InputError(
            f"y_train holds labels that are not classes of the model: {list_names(map(plain_value, strange), 5)}. Its "
            f"classes are {list_names(map(plain_value, classes))}: pass the labels that the model was trained on."
        )
    return array


def reference_scores(fitted: FittedReference, scorer: Scorer, form: TableForm, allow_positive: bool) -> FloatArray:
    """The model's scores of the reference rows; a positive one is refused unless it was asked for."""
    try:
        scores = scorer.scores(form.to_native(fitted.rows))
    except Exception as error:
        raise InputError(
            f"The model fails on the reference ({fitted.name}): {type(error).__name__}: {error}. Pass reference= a row "
            "that the model takes."
        ) from error
    if not np.isfinite(scores).all():
        raise InputError(
            f"The model's score of the reference ({fitted.name}) is {scores[~np.isfinite(scores)][0]}: choose another "
            "reference."
        )
    positive = scorer.is_positive(scores)
    if positive.any() and not allow_positive:
        raise PositiveReferenceError(
            f"The reference ({fitted.name}) is itself predicted {scorer.target!r}: its score is "
            f"{scores[positive][0]:.4g}, the threshold {scorer.threshold:.4g}. Choose another reference "
            '(reference="auto" finds one), or pass allow_positive_reference=True (on the command line: '
            "--allow-positive-reference)."
        )
    return scores


def check_missing_is_taken(bound: BoundActions, scorer: Scorer, form: TableForm, row: pd.DataFrame) -> None:
    """Refuse features that may become missing where the model does not take a missing value.

    Parameters
    ----------
    bound : BoundActions
        The actions, with the features and what the background holds.
    scorer : Scorer
        The model.
    form : TableForm
        The form of its tables.
    row : DataFrame of one row
        A row that the model takes.
    """
    for feature, ground in zip(bound.space.features, bound.ground.features, strict=True):
        if feature.name not in bound.actions.allow_missing:
            continue
        cells = ground.missing if isinstance(ground, ChoiceGround) else (np.nan,)
        without = row.copy()
        for column, cell in zip(feature.columns, cells, strict=True):
            dtype = row[column].dtype
            if isinstance(dtype, np.dtype) and dtype.kind in "biu":  # these hold no missing value
                dtype = np.dtype(object if dtype.kind == "b" else np.float64)
            without[column] = pd.Series([cell], index=row.index, dtype=object).astype(dtype)
        _, problems = score_rows_safely(scorer.scores, form, without)
        if problems:
            raise InputError(
                f"allow_missing names {feature.name!r}, but the model does not take a missing value there "
                f"({problems[0]}): leave {feature.name!r} out, or give the model a step that fills in missing values."
            )


def warn_if_nothing_may_change(allowed: BoolArray) -> None:
    """Warn that every feature is restricted or frozen, so that no decision can have a set.

    Parameters
    ----------
    allowed : ndarray of bool of shape (n_features,)
        Features that an explanation may use.
    """
    if not allowed.any():
        warn_user(
            f"All {len(allowed)} features are restricted or frozen: nothing may change, and no decision can have a "
            "reason. Permit at least one feature.",
            DecisionWarning,
        )


def warn_if_all_decided_alike(scorer: Scorer, form: TableForm, background: pd.DataFrame) -> None:
    """Warn that a threshold which the user chose lies above or below the scores of all background rows."""
    first = scorer.scores(form.to_native(background.iloc[:_FIRST_ROWS]))
    if _are_decided_alike(scorer, first):
        scores = scorer.scores(form.to_native(background))
        if _are_decided_alike(scorer, scores):
            known = scores[np.isfinite(scores)]
            is_high = scorer.threshold > known.max()
            none, end = ("No background row is", "highest") if is_high else ("Every background row is", "lowest")
            warn_user(
                f"{none} decided {plain_value(scorer.target)!r}: the {end} score of {len(known):,} rows is "
                f"{known.max() if is_high else known.min():.4g}, the threshold {scorer.threshold:.4g}. "
                "Choose a threshold between the scores"
                + (": with this one there is hardly ever a decision to explain." if is_high else "."),
                DecisionWarning,
            )


def _are_decided_alike(scorer: Scorer, scores: FloatArray) -> bool:
    positive = scorer.is_positive(scores[np.isfinite(scores)])
    return bool(len(positive)) and (bool(positive.all()) or not positive.any())


def threshold_for(
    target: ClassLabel | None, scores: ModelScores, threshold: float | None, n_targets: int
) -> float | None:
    """The threshold for one class when every class is explained: two classes share one cut."""
    if threshold is None or n_targets == 1 or target == scores.classes[1]:
        return threshold
    return -threshold if scores.response == "decision_function" else 1.0 - threshold


def check_same_scores(model: object, mine: Sequence[Task], theirs: Sequence[Task], rows: NativeTable) -> None:
    """What was written to a file must score like what was given: better now than when somebody needs it."""
    for one, other in zip(mine, theirs, strict=True):
        # the same tables for both: the last bit of a score depends on how the rows of a table lie in memory
        tables = (rows, one.form.to_native(one.reference.rows))
        same = all(
            np.array_equal(one.scorer.scores(some), other.scorer.scores(some), equal_nan=True) for some in tables
        )
        if not same or _references_differ(one, other):
            raise InputError(
                f"This {type(model).__name__} cannot be saved: when it is loaded again, it scores rows differently. "
                "allow_pickle=True does not help; save the model in its library's own format instead."
            )


def _references_differ(one: Task, other: Task) -> bool:
    """Whether two tasks have other reference rows."""
    mine, theirs = one.reference.rows, other.reference.rows
    if len(mine) != len(theirs):
        return True
    return bool(MixedRows(one.space, mine, theirs, np.arange(len(mine), dtype=np.int64)).differing().any())
