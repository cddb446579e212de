"""Which features come first: those in most minimum sets, then those that move the score furthest by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sev.core import unpack
from sev.explanations import Explanations, Source
from sev.typing import BoolArray, FloatArray, IntArray

_ROWS_AT_ONCE = 20_000


@dataclass(frozen=True, eq=False)
class Ranking:
    """Features of every row, in order.

    Parameters
    ----------
    in_sets : ndarray of int, shape (n_rows, n_features)
        In how many of the row's minimum sets a feature is.
    score_alone : ndarray of float, shape (n_rows, n_features)
        The model's own score with this feature alone changed; NaN for features in no set.
    order : ndarray of int, shape (n_rows, n_features)
        Features by rank; those in no set come last.
    """

    in_sets: IntArray
    score_alone: FloatArray
    order: IntArray


def rank_features(many: Explanations, source: Source) -> Ranking:
    """Rank the features of all rows over all their minimum sets."""
    in_sets = _count_in_sets(many)
    alone = _scores_alone(many, in_sets > 0, source)
    towards = -1.0 if many.kind == "minus" else 1.0
    # from one start, a score that goes further is a margin that goes further; the last digits depend on the batch
    reached = np.where(np.isnan(alone), -np.inf, towards * np.round(alone, 10))
    columns = np.broadcast_to(np.arange(in_sets.shape[1]), in_sets.shape)
    return Ranking(in_sets, alone, np.lexsort((columns, -reached, -in_sets), axis=1))


def named_features(many: Explanations) -> BoolArray:
    """Features that are in any minimum set of a row; (n_rows, n_features)."""
    return _count_in_sets(many) > 0


def _count_in_sets(many: Explanations) -> IntArray:
    answers = many.answers
    counts = np.zeros((len(many), len(many.feature_names)), dtype=np.int64)
    found = np.flatnonzero(answers.has_set)
    for first in range(0, len(found), _ROWS_AT_ONCE):
        rows = found[first : first + _ROWS_AT_ONCE]
        low, high = answers.offsets[rows[0]], answers.offsets[rows[-1] + 1]
        sets = unpack(answers.masks[low:high], len(many.feature_names)).astype(np.int64)
        counts[rows] = np.add.reduceat(sets, answers.offsets[rows] - low, axis=0)
    return counts


def _scores_alone(many: Explanations, used: BoolArray, source: Source) -> FloatArray:
    answers = many.answers
    scores = np.full(used.shape, np.nan)
    for feature, columns in enumerate(many.columns.values()):
        for target, name in enumerate(many.targets):
            rows = np.flatnonzero(used[:, feature] & (answers.target == target))
            for first in range(0, len(rows), _ROWS_AT_ONCE):
                some = rows[first : first + _ROWS_AT_ONCE]
                scores[some, feature] = _scores(source, _with_one_change(many, some, columns), name)
    return scores


def _with_one_change(many: Explanations, rows: IntArray, columns: tuple[Any, ...]) -> pd.DataFrame:
    queries = many.queries.iloc[rows].reset_index(drop=True)
    references = many.references.iloc[many.answers.reference[rows]].reset_index(drop=True)
    base, donor = (queries, references) if many.kind == "minus" else (references, queries)
    return pd.DataFrame({column: (donor if column in columns else base)[column] for column in base.columns})


def _scores(source: Source, rows: pd.DataFrame, target: Any) -> FloatArray:
    """Scores of rows; a row on which the model fails gets NaN and takes no other with it."""
    try:
        return source.score_rows(rows, target)
    except Exception:  # the model may raise anything on a vertex that no search has visited
        if len(rows) == 1:
            return np.array([np.nan])
        half = len(rows) // 2
        return np.concatenate([_scores(source, rows.iloc[:half], target), _scores(source, rows.iloc[half:], target)])
