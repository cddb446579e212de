"""Vertices between queries and their references, scored by the model itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import pandas as pd

from sev.backends import Scorer
from sev.exceptions import ModelError
from sev.space import Mixer, TableForm
from sev.typing import BoolArray, ColumnLabel, Dtype, FloatArray, IntArray, Kind, ModelOutput, NativeTable

#: Rows of a call on which a model is tested for whether dtypes matter to it.
_ROWS_TESTED = 256
#: How far scores of one row differ where a table of another layout or length leads to sums in another order, also after
#: iterative imputers in the model.
_ROUNDING = 1e-7
_ROUNDING_SINGLE = 1e-5
_LARGEST_SHORT_FLOAT = float(np.finfo(np.float16).max)


class Vertices:
    """All vertices of some rows; a row on which the model fails stops no other.

    Parameters
    ----------
    scorer : Scorer
        The model's own score of the class.
    mixer : Mixer
        Makes rows of queries and their references.
    queries : DataFrame
        Rows of the common form.
    assigned : ndarray of int
        For each query, the number of its reference.
    kind : {"minus", "plus"}
        Whether a set is changed in the query or in the reference.
    """

    def __init__(self, scorer: Scorer, mixer: Mixer, queries: pd.DataFrame, assigned: IntArray, kind: Kind) -> None:
        self.queries = queries
        self.assigned = assigned
        self.kind: Kind = kind
        #: Rows on which the model failed, and what happened.
        self.failures: dict[int, str] = {}
        self._scorer = scorer
        self._mixer = mixer

    @cached_property
    def differing(self) -> BoolArray:
        """Features in which a query and its reference differ."""
        return self._mixer.differing()

    @property
    def dtypes(self) -> list[Dtype]:
        """Those of the queries' columns."""
        return self._mixer.dtypes

    def taken_from_reference(self, sets: BoolArray) -> BoolArray:
        """Which features a vertex takes from the reference, for the set that is changed."""
        return sets if self.kind == "minus" else ~sets

    def scores(self, rows: IntArray, sets: BoolArray) -> FloatArray:
        """The model's own scores; all vertices of a row on which it fails are NaN, and the reason is kept."""
        return self.values(self._scorer.scores, rows, sets, "the model")

    def values(
        self, function: Callable[[NativeTable], FloatArray], rows: IntArray, sets: BoolArray, who: str
    ) -> FloatArray:
        """What a function of tables returns for each vertex. Where it fails, all vertices of the row are NaN, and the
        reason is kept, in which ``who`` is the function's name.
        """
        if not len(rows):
            return np.zeros(0)
        try:
            scores = self.apply(function, rows, sets)
            check_length(scores, len(rows), who)
        except Exception as error:  # it may raise anything
            return self._values_of_halves(function, rows, sets, who, error)
        bad = np.flatnonzero(~np.isfinite(scores))
        for vertex in bad.tolist():
            self.failures.setdefault(int(rows[vertex]), f"{who}'s score is {scores[vertex]}")
        if bad.size:
            scores = scores.copy()
            scores[np.isin(rows, list(self.failures))] = np.nan
        return scores

    def class_outputs(self, rows: IntArray, sets: BoolArray) -> FloatArray:
        """The model's own scores of all classes, of shape (n_vertices, n_classes)."""
        return np.asarray(self.apply(self._scorer.outputs, rows, sets), dtype=np.float64)

    def apply(self, function: Callable[[NativeTable], ModelOutput], rows: IntArray, sets: BoolArray) -> ModelOutput:
        """What a function of tables returns for vertices."""
        return self._mixer.apply(function, rows, self.taken_from_reference(sets))

    def is_across(self, scores: FloatArray) -> BoolArray:
        """Which scores are across the decision; one that is not a number never is."""
        return self._scorer.is_positive(scores) if self.kind == "plus" else self._scorer.is_negative(scores)

    def _values_of_halves(
        self,
        function: Callable[[NativeTable], FloatArray],
        rows: IntArray,
        sets: BoolArray,
        who: str,
        error: Exception,
    ) -> FloatArray:
        some = np.unique(rows)
        if len(some) == 1:
            self.failures.setdefault(int(some[0]), _describe_failure(error, who))
            return np.full(len(rows), np.nan)
        scores = np.empty(len(rows))
        low = rows < some[len(some) // 2]
        for half in (low, ~low):
            scores[half] = self.values(function, rows[half], sets[half], who)
        return scores


class DtypeTest:
    """Whether a model's scores depend on the dtypes of its columns, found out by scoring rows in both.

    Parameters
    ----------
    score : callable
        Rows as the model takes them, to scores.
    form : TableForm
        Columns, dtypes and container of the rows.
    sample : DataFrame
        Background rows.
    """

    def __init__(self, score: Callable[[NativeTable], FloatArray], form: TableForm, sample: pd.DataFrame) -> None:
        self._score = score
        self._form = form
        self._sample = sample
        self._known: dict[tuple[tuple[ColumnLabel, str], ...], bool] = {}

    def matter(self, queries: pd.DataFrame, wider: dict[ColumnLabel, Dtype]) -> bool:
        """Whether scores change when columns get wider dtypes: text made of 3 and of 3.0 is not the same."""
        if any(queries[column].dtype != self._form.dtypes[column] for column in wider):
            return self._scores_differ(queries.iloc[:_ROWS_TESTED], wider)
        key = tuple((column, str(dtype)) for column, dtype in wider.items())
        if key not in self._known:
            self._known[key] = self._scores_differ(self._sample, wider)
        return self._known[key]

    def _scores_differ(self, rows: pd.DataFrame, wider: dict[ColumnLabel, Dtype]) -> bool:
        try:
            narrow = self._score(self._form.to_native(rows))
            wide = self._score(self._form.to_native(rows.astype(wider)))
        except Exception:  # a model that takes one of the two only
            return True
        return not np.array_equal(narrow, wide, equal_nan=True)


def score_rows_safely(
    score: Callable[[NativeTable], FloatArray], form: TableForm, rows: pd.DataFrame, *, who: str = "the model"
) -> tuple[FloatArray, dict[int, str]]:
    """The model's own scores, or those of ``who``; rows on which it fails get NaN and a reason."""
    if not len(rows):  # many models refuse a table without rows
        return np.zeros(0), {}
    try:
        scores = score(form.to_native(rows))
        check_length(scores, len(rows), who)
    except Exception as error:  # the model may raise anything
        if len(rows) == 1:
            return np.array([np.nan]), {0: _describe_failure(error, who)}
        half = len(rows) // 2
        one, one_reasons = score_rows_safely(score, form, rows.iloc[:half], who=who)
        two, two_reasons = score_rows_safely(score, form, rows.iloc[half:], who=who)
        shifted = {half + row: reason for row, reason in two_reasons.items()}
        return np.concatenate([one, two]), {**one_reasons, **shifted}
    return scores, reasons_of_bad(scores, who)


def rounding_of_scores(scores: FloatArray) -> float:
    """How far two scores of one row, computed in different batches, may differ; found from some scores of the model.

    Scores that are exact in float32, but not in float16, were computed in float32.
    """
    finite = scores[np.isfinite(scores) & (np.abs(scores) < _LARGEST_SHORT_FLOAT)]
    single = bool((finite == finite.astype(np.float32)).all())
    half = bool((finite == finite.astype(np.float16)).all())
    return _ROUNDING_SINGLE if single and not half else _ROUNDING


def check_length(scores: FloatArray, n_rows: int, who: str = "the model") -> None:
    """Refuse scores of another length than the rows."""
    if scores.shape != (n_rows,):
        raise ModelError(f"{who} returned {len(np.atleast_1d(scores))} scores for {n_rows} rows")


def reasons_of_bad(scores: FloatArray, who: str = "the model") -> dict[int, str]:
    """Why rows with a score that is not finite cannot be explained."""
    bad = np.flatnonzero(~np.isfinite(scores))
    return {int(row): f"{who}'s score is {scores[row]}" for row in bad}


def _describe_failure(error: Exception, who: str) -> str:
    """An error as one line that names who raised it, unless that is the model."""
    reason = describe_error(error)
    return reason if who in reason or who == "the model" else f"{who} failed: {reason}"


def describe_error(error: Exception) -> str:
    """An error as one line."""
    return str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"
