"""Which features come first: those in most minimum sets, then those that move the score furthest by themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sev.core import unpack
from sev.explanations import Explanations, Source
from sev.text import Enough, enough_in_text
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
    donor : ndarray of int, shape (n_rows, n_features)
        For each feature, the number of the reference row that has its new value.
    """

    in_sets: IntArray
    score_alone: FloatArray
    order: IntArray
    donor: IntArray


def rank_features(many: Explanations, source: Source) -> Ranking:
    """Rank the features of all rows over all their minimum sets."""
    in_sets = _count_in_sets(many)
    donor = donor_rows(many)
    alone = _scores_alone(many, in_sets > 0, donor, source)
    towards = -1.0 if many.kind == "minus" else 1.0
    # from one start, a score that goes further is a margin that goes further; the last digits depend on the batch
    reached = np.where(np.isnan(alone), -np.inf, towards * np.round(alone, 10))
    columns = np.broadcast_to(np.arange(in_sets.shape[1]), in_sets.shape)
    return Ranking(in_sets, alone, np.lexsort((columns, -reached, -in_sets), axis=1), donor)


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


def donor_rows(many: Explanations) -> IntArray:
    """For each row and feature, the row of the references with the new value: where every set has values of its own,
    that of the first set which uses the feature.
    """
    answers = many.answers
    donor = np.repeat(answers.reference[:, None], len(many.feature_names), axis=1)
    if many.set_references is None or not len(answers.masks):
        return donor
    owner = np.repeat(np.arange(len(many)), np.diff(answers.offsets))
    item, feature = np.nonzero(unpack(answers.masks, len(many.feature_names)))
    # backwards, so that the first set is written last
    donor[owner[item[::-1]], feature[::-1]] = many.set_references[item[::-1]]
    return donor


def enough_of_feature(many: Explanations, row: int, feature: str) -> Enough | None:
    """The values of a feature that do, in the first set of a row that uses it; None where they are not known."""
    if many.enough is None:
        return None
    first = int(many.answers.offsets[row])
    for place, names in enumerate(many.sets_of(row)):
        if feature in names:
            return enough_in_text(many.enough[first + place].get(feature))
    return None


def _scores_alone(many: Explanations, used: BoolArray, donor: IntArray, source: Source) -> FloatArray:
    """The model's own score with each used feature alone changed; NaN where the model fails."""
    answers = many.answers
    scores = np.full(used.shape, np.nan)
    alone = np.eye(used.shape[1], dtype=np.bool_)
    for number, target in enumerate(many.targets):
        rows = np.flatnonzero(used.any(axis=1) & (answers.target == number))
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            some = rows[first : first + _ROWS_AT_ONCE]
            for feature in np.flatnonzero(used[some].any(axis=0)).tolist():
                mine = some[used[some, feature]]
                vertices = source.vertices(
                    many.queries.iloc[mine], many.references, donor[mine, feature], many.kind, target
                )
                changed = np.repeat(alone[[feature]], len(mine), axis=0)
                scores[mine, feature] = vertices.scores(np.arange(len(mine)), changed)
    return scores
