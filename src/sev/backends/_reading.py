"""From a fitted model to a backend that has proven itself on real rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from sev.backends._band import decision_band
from sev.backends._encoding import ColumnwiseEncoding
from sev.backends._links import orient_backend
from sev.backends._protocol import Backend, CannotReadError, missing_members
from sev.backends._registry import reader_for
from sev.backends._scores import ModelScores, Scorer
from sev.backends._unreadable import refuse_outputs, why_no_reader
from sev.backends._wrappers import Unwrapped, unwrap
from sev.space import FeatureSpace, Mixer, TableForm
from sev.typing import BoolArray, FloatArray, ModelOutput, NativeTable

#: Margins, beside those of real rows, at which the map from margins to scores is looked at.
_GRID = 257
#: A score that is further than this many tolerances from a threshold is on one side of it, whatever the rounding.
_ROUNDING = 16.0
#: Far beyond any link, and small enough for the width of a grid to be finite.
_LARGEST_MARGIN = 1e300


@dataclass(frozen=True, eq=False)
class Reading:
    """A model in an exact form, on its own raw columns.

    Parameters
    ----------
    backend : Backend
        The final estimator's form.
    unwrapped : Unwrapped
        The wrappers and steps around the final estimator.
    encoding : ColumnwiseEncoding
        Rows in the backend's space.
    final_scores_are_the_models : bool
        Whether the final estimator, given transformed rows, has been seen to return the model's own outputs bit by bit.
    """

    backend: Backend
    unwrapped: Unwrapped
    encoding: ColumnwiseEncoding
    final_scores_are_the_models: bool = False
    _bands: dict[float, tuple[float, float]] = field(default_factory=dict)

    def scores(self, margins: FloatArray) -> FloatArray:
        """The model's own score of the second class, for given margins.

        Parameters
        ----------
        margins : ndarray of float64
            Margins.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).
        """
        if not len(margins):  # some calibrators refuse to map nothing
            return np.zeros(0)
        return self.unwrapped.link(self.backend.scores(margins))

    def gaps(
        self, scorer: Scorer, scores: FloatArray, encoded: FloatArray, known: FloatArray | None = None
    ) -> FloatArray:
        """How far scores read from the model are from its own, in tolerances.

        Parameters
        ----------
        scorer : Scorer
            The class that the scores are of.
        scores : ndarray of shape (n_rows,)
            The model's own.
        encoded : ndarray of shape (n_encoded, n_columns)
            The last of the rows, in encoded space.
        known : ndarray, default=None
            Margins of the rows before these, where a search came by them.

        Returns
        -------
        ndarray of float64
            At most 1 where they agree.
        """
        margins = self.backend.margins(encoded) if len(encoded) or known is None else known[:0]
        if known is not None:
            margins = np.concatenate([known, margins])
        theirs = scorer.of_second_class(scores)
        with np.errstate(over="ignore", invalid="ignore"):
            ours = self.scores(margins)
            return np.abs(ours - theirs) / np.maximum(1.0, np.abs(theirs)) / self.backend.score_tolerance

    def is_nearly_positive(self, scorer: Scorer, margins: FloatArray) -> BoolArray:
        """Which margins are those of rows of a class, or so near to it that rounding decides.

        Parameters
        ----------
        scorer : Scorer
            The class.
        margins : ndarray of float64
            Margins.

        Returns
        -------
        ndarray of bool
            Of shape (n_rows,).
        """
        slack = _ROUNDING * self.backend.score_tolerance * max(1.0, abs(scorer.threshold))
        with np.errstate(over="ignore", invalid="ignore"):
            scores = scorer.of_second_class(self.scores(margins))
        return np.asarray(scores >= scorer.threshold - slack)

    def encode_and_judge(self, rows: NativeTable, scorer: Scorer, step: int) -> tuple[FloatArray, BoolArray]:
        """Rows in encoded space, and which of some of them the reading calls positive, or nearly so.

        Parameters
        ----------
        rows : table or array
            Rows as the model takes them.
        scorer : Scorer
            The class.
        step : int
            One row in so many is judged.

        Returns
        -------
        tuple of ndarray of float64, ndarray of bool
            Encoded rows, and one entry for each that was judged.
        """
        encoded = self.encoding.encode_native(rows)
        return encoded, self.is_nearly_positive(scorer, self.backend.margins(encoded[::step]))

    def transform_and_score(self, rows: NativeTable, scorer: Scorer) -> tuple[ModelOutput, FloatArray]:
        """Rows as the final estimator takes them, None where they are not known, and the model's own score of a class.

        Where the final estimator was seen to return what the model returns, rows are transformed once for both.

        Parameters
        ----------
        rows : table or array
            Rows as the model takes them.
        scorer : Scorer
            The class.

        Returns
        -------
        tuple of object, ndarray of float64
            Transformed rows or None, and scores.
        """
        if not self.final_scores_are_the_models:
            return None if self.unwrapped.transforms else rows, scorer.scores(rows)
        transformed = self.unwrapped.transform(rows)
        return transformed, scorer.scores_of(self.final_outputs(transformed))

    def final_outputs(self, transformed: ModelOutput) -> ModelOutput:
        """What the final estimator returns for transformed rows.

        Parameters
        ----------
        transformed : object
            Rows as the final estimator takes them.

        Returns
        -------
        object
            As the estimator returns them.
        """
        return _scoring_function(self.unwrapped)(transformed)

    def band(self, threshold: float) -> tuple[float, float]:
        """Margins between which only the model decides; ``threshold`` is on the score of the second class.

        Parameters
        ----------
        threshold : float
            On the score of the second class.

        Returns
        -------
        pair of float
            Two margins.
        """
        if threshold not in self._bands:
            link = self.unwrapped.link if self.unwrapped.links else None
            self._bands[threshold] = decision_band(self.backend.scores, threshold, self.backend.score_tolerance, link)
        return self._bands[threshold]


def read_model(
    model: object, scores: ModelScores, form: TableForm, space: FeatureSpace, sample: pd.DataFrame
) -> Reading:
    """Read a model into an exact form and prove the reading.

    Parameters
    ----------
    model : object
        A fitted model.
    scores : ModelScores
        How it is scored.
    form : TableForm
        Columns and dtypes of the rows.
    space : FeatureSpace
        Which columns are one feature.
    sample : DataFrame
        Background rows to prove the reading on.

    Returns
    -------
    Reading
        The form, the encoding and how they were proven; a black box with its reason where it cannot be read.

    Raises
    ------
    CannotReadError
        When there is no exact form of the model here, and why.
    """
    refuse_outputs(scores)
    unwrapped = unwrap(model, scores.response)
    reader = reader_for(unwrapped.estimator)
    if reader is None:
        raise CannotReadError(why_no_reader(unwrapped.estimator))
    backend: Backend = reader(unwrapped.estimator, unwrapped.response)
    missing = missing_members(backend)
    if missing:
        raise CannotReadError(
            f"its reader returned {type(backend).__name__}, which is not a Backend: it has no {', '.join(missing)}"
        )
    backend = orient_backend(backend, unwrapped.direction)

    encoding = ColumnwiseEncoding(_Encoder(unwrapped, backend), form, space, sample)
    reading = Reading(backend, unwrapped, encoding)
    _prove_scores(reading, _second_class(scores.ask), form, space, sample)
    return replace(reading, final_scores_are_the_models=_same_outputs(reading, scores, form.to_native(sample)))


@dataclass(frozen=True, eq=False)
class _Encoder:
    """From rows as the model takes them to the backend's columns; an object, so that explainers can be pickled."""

    unwrapped: Unwrapped
    backend: Backend

    def __call__(self, rows: NativeTable) -> FloatArray:
        return self.backend.encode(self.unwrapped.transform(rows))


def _prove_scores(
    reading: Reading,
    ask: Callable[[NativeTable], FloatArray],
    form: TableForm,
    space: FeatureSpace,
    sample: pd.DataFrame,
) -> None:
    """Compare the form's scores with the model's own: on real rows, on mixtures of them, and where the form says it
    is hard.
    """
    generator = np.random.default_rng(1)
    rows = np.arange(len(sample), dtype=np.int64)
    other = sample.iloc[generator.permutation(len(sample))].reset_index(drop=True)
    mixer = Mixer(form, space, sample.reset_index(drop=True), other, rows)
    mixed = mixer.frame(rows, generator.random((len(rows), len(space))) < 0.5)
    backend = reading.backend
    seen = []
    for frame in (sample, mixed):
        native = form.to_native(frame)
        margins = backend.margins(reading.encoding.encode(frame))
        _compare_scores(reading.scores(margins), ask(native), backend.score_tolerance)
        seen.append(margins)
    _check_rising(reading, np.concatenate(seen))
    estimator_rows = reading.unwrapped.transform(form.to_native(sample))
    hard_rows = backend.proof_rows(estimator_rows)
    if hard_rows is not None:
        estimator = _second_class(_scoring_function(reading.unwrapped))
        _compare_scores(
            backend.scores(backend.margins(backend.encode(hard_rows))), estimator(hard_rows), backend.score_tolerance
        )


def _check_rising(reading: Reading, margins: FloatArray) -> None:
    """Refuse a map from margins to scores that falls somewhere: a calibration may, and then more is not more."""
    finite = np.clip(margins[np.isfinite(margins)], -_LARGEST_MARGIN, _LARGEST_MARGIN)
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    beyond = high - low + 1.0
    scores = reading.scores(np.unique(np.concatenate([finite, np.linspace(low - beyond, high + beyond, _GRID)])))
    highest = np.maximum.accumulate(scores)
    if (highest - scores > reading.backend.score_tolerance * np.maximum(1.0, np.abs(scores))).any():
        raise CannotReadError(
            "its calibration is not monotone: a higher score of the estimator inside it can lead to a lower one"
        )


def _same_outputs(reading: Reading, scores: ModelScores, rows: NativeTable) -> bool:
    """Whether a pipeline does nothing but transform rows and ask its last step, as seen on real rows."""
    unwrapped = reading.unwrapped
    if not unwrapped.transforms or unwrapped.links or unwrapped.response != scores.response:
        return False
    ours = np.asarray(reading.final_outputs(unwrapped.transform(rows)))
    theirs = np.asarray(scores.ask(rows))
    return ours.dtype == theirs.dtype and np.array_equal(ours, theirs)


def _compare_scores(ours: FloatArray, theirs: FloatArray, tolerance: float) -> None:
    gap = np.abs(ours - theirs) / np.maximum(1.0, np.abs(theirs))
    if not (gap <= tolerance).all():
        worst = float(np.nanmax(gap)) if np.isfinite(gap).any() else float("nan")
        raise CannotReadError(f"the scores read from it differ from the model's own by up to {worst:.2g}")


def _scoring_function(unwrapped: Unwrapped) -> Callable[[NativeTable], ModelOutput]:
    from sev.backends._registry import scorer_for

    if unwrapped.response == "call":
        factory = scorer_for(unwrapped.estimator)
        return factory(unwrapped.estimator) if factory is not None else unwrapped.estimator
    ask: Callable[[NativeTable], ModelOutput] = getattr(unwrapped.estimator, unwrapped.response)
    return ask


def _second_class(ask: Callable[[NativeTable], ModelOutput]) -> Callable[[NativeTable], FloatArray]:
    def scores(rows: NativeTable) -> FloatArray:
        outputs = np.asarray(ask(rows), dtype=np.float64)
        return outputs[:, -1] if outputs.ndim == 2 else outputs

    return scores
