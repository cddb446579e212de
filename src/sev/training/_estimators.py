"""What the three estimators share: rows in, encoded rows, a base model, a tuned one."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from sev._registry import routes
from sev.core import list_names, python_value
from sev.exceptions import InputError, ModelError, TrainingError, TrainingWarning
from sev.space import TableForm
from sev.training._base_model import fit_base
from sev.training._building import KnownEncoder, TaskBuilder
from sev.training._encoder import TableEncoder
from sev.training._families import family_of, train
from sev.training._held_out import HeldOut, LabelledRows, RateChange, hold_out
from sev.training._reference import TaskReference
from sev.training._settings import Family, Settings, check_parameters, settings_for
from sev.training._task import Trained, TrainingTask
from sev.training._weights import check_sample_weight, combine_weights
from sev.typing import Cell, ColumnLabel, FloatArray, IntArray, NativeTable

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from sev.references import ReferenceLike
    from sev.training._weights import ClassWeight


class _Fitted(NamedTuple):
    """What comes out of a fit."""

    encoder: TableEncoder
    base: BaseEstimator
    n_base_fits: int
    task: TrainingTask
    reference: TaskReference
    trained: Trained


class SEVClassifier(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of the estimators; see :class:`SEVLogisticRegression` for the parameters."""

    _family: ClassVar[Family]

    def __init__(
        self,
        objective: str = "minus",
        *,
        restricted: Iterable[str] = (),
        sev_penalty: float | None = None,
        reference_penalty: float = 10.0,
        rate_penalty: float | None = None,
        margin: float | None = None,
        schedule: str = "recipe",
        base_estimator: BaseEstimator | None = None,
        reference: ReferenceLike = "mean",
        groups: Mapping[str, Sequence[ColumnLabel]] | None = None,
        max_iter: int | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        early_stopping: bool = False,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | None = None,
        class_weight: ClassWeight = None,
        max_rate_change: float | None = 0.1,
    ) -> None:
        self.objective = objective
        self.restricted = restricted
        self.sev_penalty = sev_penalty
        self.reference_penalty = reference_penalty
        self.rate_penalty = rate_penalty
        self.margin = margin
        self.schedule = schedule
        self.base_estimator = base_estimator
        self.reference = reference
        self.groups = groups
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.early_stopping = early_stopping
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.class_weight = class_weight
        self.max_rate_change = max_rate_change

    def fit(self, X: NativeTable, y: ArrayLike, sample_weight: ArrayLike | None = None) -> SEVClassifier:
        """Fit the base model, then tune it for short explanations.

        Parameters
        ----------
        X : DataFrame, or numeric array of shape (n_rows, n_columns)
            Raw rows; they are encoded inside.
        y : array-like of shape (n_rows,)
            Labels of two classes; the second in sorted order is the one whose decisions are explained.
        sample_weight : array-like of shape (n_rows,), default=None
            Weight of each row, of the base model's fit and of every term of the loss.

        Returns
        -------
        SEVClassifier
            Itself.

        Raises
        ------
        InputError
            If the rows, the labels or a parameter cannot be used.
        ModelError
            If ``base_estimator`` is of another family.
        TrainingError
            If the tuned model predicts no row of the training data as the second class.
        """
        check_parameters(self._family, self.get_params(deep=False))
        frame = self._as_frame(X, fitting=True)
        labels = self._check_labels(y, len(frame))
        weights = combine_weights(
            check_sample_weight(sample_weight, len(frame)), self.class_weight, self.classes_[labels]
        )
        rows = _drop_weightless(LabelledRows(frame, labels, weights))
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        held_out = self._hold_out(rows, seed)
        tolerance = self._make_settings(seed).rate_tolerance
        shift = None if held_out is None or tolerance is None else held_out.find_shift(tolerance)
        fitted = self._fit_rows(rows, replace(self._make_settings(seed), bias_shift=shift))
        self.encoder_, self.base_estimator_, self.n_base_fits_ = fitted.encoder, fitted.base, fitted.n_base_fits
        self.final_estimator_ = fitted.trained.estimator
        self.history_ = fitted.trained.history
        self.n_iter_ = len(self.history_)
        self.reference_ = _plain_values(fitted.reference.rows)
        self._refuse_degenerate(fitted)
        self._set_family_attributes()
        self._report_rate(None if held_out is None else held_out.measure_change(tolerance, seed))
        return self

    def predict_proba(self, X: NativeTable) -> FloatArray:
        """Probability of each class.

        Parameters
        ----------
        X : DataFrame, or numeric array of shape (n_rows, n_columns)
            Raw rows.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self)
        probabilities: FloatArray = self.final_estimator_.predict_proba(self._encode_rows(X))
        return probabilities

    def predict(self, X: NativeTable) -> np.ndarray:
        """Class of each row: the second class where its probability is at least one half.

        Parameters
        ----------
        X : DataFrame, or numeric array of shape (n_rows, n_columns)
            Raw rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes.
        """
        positive = self.predict_proba(X)[:, 1] >= 0.5
        return self.classes_[positive.astype(np.int64)]

    def split_encoder(self) -> tuple[Callable[[NativeTable], FloatArray], BaseEstimator]:
        """The encoding of raw rows and the estimator on encoded rows, from which exact explanations are read.

        Returns
        -------
        tuple of callable and estimator
            A function from raw to encoded rows, and the fitted estimator of these.
        """
        check_is_fitted(self)
        return self._encode_rows, self.final_estimator_

    @abstractmethod
    def _default_base(self, seed: int, n_rows: int) -> BaseEstimator:
        """The base estimator where none is given."""

    def _set_family_attributes(self) -> None:
        """Set the fitted attributes of the family."""

    # -- parts of fit --------------------------------------------------------------------------------------------------

    def _make_settings(self, seed: int) -> Settings:
        return settings_for(self._family, self.get_params(deep=False), seed)

    def _fit_rows(self, rows: LabelledRows, settings: Settings) -> _Fitted:
        """Everything from raw rows to a tuned model; nothing is kept in the estimator."""
        encoder = TableEncoder(scale=self._family != "trees").fit(rows.frame)
        encoded = encoder.transform(rows.frame)
        base, n_base_fits = fit_base(self._make_base(settings.seed, len(encoded)), encoded, rows.labels, rows.weights)
        builder = TaskBuilder(
            reference=self.reference, groups=self.groups, restricted=self.restricted, objective=self.objective
        )
        space = builder.space(rows.frame)
        column_feature = space.column_feature[encoder.column_source_]
        task, reference = builder.build(
            rows.frame,
            rows.labels == 1,
            KnownEncoder(encoder.transform, encoded, column_feature),
            lambda some: base.predict_proba(encoder.transform(some))[:, 1] >= 0.5,
            weights=rows.weights,
        )
        # of several references some may be real rows with missing values, as the model has seen them
        missing = np.isnan(task.reference)
        if missing.any() and not (task.assigned is not None and self._takes_nan()):
            places = np.unique(task.column_feature[np.nonzero(missing)[-1]])
            names = [space.names[place] for place in places.tolist()]
            raise InputError(
                f"The reference has missing values ({list_names(names, 5)}), which the model does not accept: pass "
                "reference= a row without them."
            )
        return _Fitted(encoder, base, n_base_fits, task, reference, train(base, task, settings))

    def _hold_out(self, rows: LabelledRows, seed: int) -> HeldOut | None:
        """Scores of rows that were not trained on; None where the share of decisions is not to be held."""
        settings = self._make_settings(seed)
        if self.max_rate_change is None or not settings.rate_penalty:
            return None
        plain = replace(settings, rate_tolerance=None, progress=False)

        def score(part: LabelledRows, rest: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
            fitted = self._fit_rows(part, plain)
            encoded = fitted.encoder.transform(rest)
            before, after = (logit(one.predict_proba(encoded)[:, 1]) for one in (fitted.base, fitted.trained.estimator))
            return before, after

        return hold_out(rows, score, seed, self.verbose)

    def _report_rate(self, change: RateChange | None) -> None:
        self.rate_change_ = float("nan") if change is None else change.relative
        if change is None or abs(change.relative) <= (self.max_rate_change or 0.0):
            return
        warnings.warn(
            f"The tuned model predicts {python_value(self.classes_[1])!r} for {change.after:.1%} of {change.n_rows} "
            f"held-out rows, the base model for {change.before:.1%}: a relative change of {change.relative:+.0%}, "
            f"beyond max_rate_change={self.max_rate_change:g} ({self.max_rate_change:.0%}). Raise rate_penalty, "
            "lower sev_penalty, or train on more rows.",
            TrainingWarning,
            stacklevel=3,
        )

    def _make_base(self, seed: int, n_rows: int) -> BaseEstimator:
        if self.base_estimator is None:
            return self._default_base(seed, n_rows)
        if family_of(self.base_estimator) != self._family:
            known = sorted(key.partition(".")[2] for key, family in routes("train").items() if family == self._family)
            raise ModelError(
                f"base_estimator={self.base_estimator!r} is not of the family of {type(self).__name__}: use one "
                f"of {known}."
            )
        base = clone(self.base_estimator)
        if "random_state" in base.get_params() and base.random_state is None:
            base.set_params(random_state=seed)
        return base

    def _refuse_degenerate(self, fitted: _Fitted) -> None:
        score = fitted.reference.highest_score(
            lambda rows: self.final_estimator_.predict_proba(self.encoder_.transform(rows))[:, 1]
        )
        positive = python_value(self.classes_[1])
        if score >= 0.5:
            warnings.warn(
                f"After training the reference itself is still predicted {positive!r} (its score is "
                f"{score:.3f}): SEV+ is zero, SEV- may not exist, and sev.Explainer will refuse it. Raise "
                "reference_penalty or max_iter, or lower sev_penalty.",
                TrainingWarning,
                stacklevel=4,
            )
        if not (self.final_estimator_.predict_proba(fitted.task.rows)[:, 1] >= 0.5).any():
            raise TrainingError(
                f"After training no row of the training data is predicted {positive!r}: raise rate_penalty, or "
                "lower sev_penalty."
            )

    def _check_labels(self, y: ArrayLike | None, n_rows: int) -> IntArray:
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        kind = type_of_target(labels, input_name="y")
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        if len(self.classes_) > 2:
            raise InputError(f"Only binary classification is supported. The type of the target is {kind}.")
        if len(self.classes_) < 2:
            raise InputError(f"Only one class in y, {python_value(self.classes_[0])!r}: two classes are needed.")
        if len(numbers) != n_rows:
            raise InputError(f"X has {n_rows} rows but y has {len(numbers)}: they must have the same length.")
        return numbers.astype(np.int64)

    # -- rows ----------------------------------------------------------------------------------------------------------

    def _encode_rows(self, X: NativeTable) -> FloatArray:
        encoded: FloatArray = self.encoder_.transform(self._as_frame(X, fitting=False))
        return encoded

    def _as_frame(self, X: NativeTable, *, fitting: bool) -> pd.DataFrame:
        """Rows as a DataFrame; arrays get the column names x0, x1, ..."""
        if hasattr(X, "columns") and hasattr(X, "shape"):
            validate_data(self, X, reset=fitting, skip_check_array=True)
            frame = X if isinstance(X, pd.DataFrame) else TableForm.of(X).to_frame(X)
            if not len(frame):  # in the words that scikit-learn's checks of estimators look for
                raise InputError(f"Found array with 0 sample(s) (shape={frame.shape}): at least one row is needed.")
            return frame
        allow_nan = "allow-nan" if self._takes_nan() else True
        array = validate_data(self, X, reset=fitting, dtype=np.float64, ensure_all_finite=allow_nan)
        return pd.DataFrame(array, columns=[f"x{number}" for number in range(array.shape[1])])

    def _takes_nan(self) -> bool:
        if self._family != "trees":
            return True
        from sklearn.utils import get_tags

        base = self.base_estimator if self.base_estimator is not None else self._default_base(0, 0)
        return bool(get_tags(base).input_tags.allow_nan)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = self._takes_nan()
        return tags


def _plain_values(rows: pd.DataFrame) -> dict[str, Cell] | dict[str, list[Cell]]:
    """The value of each column, of several rows a list of them: values that every safe file format can hold."""
    values = {str(name): [python_value(value) for value in rows[name]] for name in rows.columns}
    return {name: found[0] for name, found in values.items()} if len(rows) == 1 else values


def _drop_weightless(rows: LabelledRows) -> LabelledRows:
    """Rows of weight 0 do not count, not even for the encoding or the reference."""
    if rows.weights is None or rows.weights.all():
        return rows
    kept = rows.take(np.flatnonzero(rows.weights))
    if len(np.unique(kept.labels)) < 2:
        raise InputError("Only one class in y has rows with a sample weight above 0: two classes are needed.")
    return kept
