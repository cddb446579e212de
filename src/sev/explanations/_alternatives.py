"""Every smallest set as an explanation of its own, with the scores on the way to it, from one call of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.core import LazyList
from sev.explanations._changes import EnoughValues
from sev.explanations._pair import Pair
from sev.explanations._source import ExplainerLike
from sev.explanations._vertices import check_failures, follow_path, source_of, vertex_table
from sev.space import MixedRows, row_as_series
from sev.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from sev.explanations._explanation import Explanation

#: Sets of more features have too many combinations: only their first and last score is computed.
_MOST_FEATURES = 5


@dataclass(frozen=True, eq=False)
class Alternative:
    """One of the smallest sets.

    Parameters
    ----------
    explanation : Explanation
        The same answer with this set first.
    vertices : DataFrame or None
        Scores of all combinations of its features, as :meth:`Explanation.vertices` returns them; None for large sets.
    path : DataFrame or None
        Scores on the way to it, as :meth:`Explanation.path_scores` returns them; None for large sets.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> first = explainer.explain_one(X.iloc[5]).alternatives()[0]
    >>> first.explanation.features, len(first.vertices)
    (('debt', 'late'), 4)
    """

    explanation: Explanation
    vertices: pd.DataFrame | None
    path: pd.DataFrame | None


def alternatives_of(one: Explanation, at_most: int, explainer: ExplainerLike | None = None) -> tuple[Alternative, ...]:
    """The first smallest sets, each as an explanation of its own."""
    sets = one.sets[:at_most]
    if not sets:
        return ()
    subsets = [_list_subsets(names) for names in sets]
    known = len(sets) == 1 and len(sets[0]) == 1  # nothing lies between the row and its only change
    scores = [np.array([one.score, one.result_score])] if known else _score_subsets(one, subsets, explainer)
    results = _make_results(one, sets)
    shares = _find_credibilities(one, results, explainer)
    found = []
    for number, (names, some, share) in enumerate(zip(sets, scores, shares, strict=True)):
        small = len(names) <= _MOST_FEATURES
        found.append(
            Alternative(
                explanation=_with_first(one, number, float(some[-1]), row_as_series(results, number), float(share)),
                vertices=vertex_table(subsets[number], some, one.threshold) if small else None,
                path=follow_path(one, names, _look_up(subsets[number], some)) if small else None,
            )
        )
    return tuple(found)


def _look_up(subsets: list[tuple[str, ...]], scores: FloatArray) -> Callable[[list[tuple[str, ...]]], list[float]]:
    """The function from sets to scores that are known already."""
    known = dict(zip(map(frozenset, subsets), scores.tolist(), strict=True))
    return lambda sets: [known[frozenset(names)] for names in sets]


def _list_subsets(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    sizes = range(len(names) + 1) if len(names) <= _MOST_FEATURES else (0, len(names))
    return [subset for size in sizes for subset in combinations(names, size)]


def _score_subsets(
    one: Explanation, subsets: list[list[tuple[str, ...]]], explainer: ExplainerLike | None
) -> list[FloatArray]:
    """Scores of subsets of every set, in one call of the model."""
    counts = [len(some) for some in subsets]
    queries, references, assigned, rows = _find_ends(one, len(subsets))
    vertices = source_of(one, explainer).vertices(queries, references, assigned, one.kind, one.target)
    sets = one._pair.sets([names for some in subsets for names in some])
    scores = vertices.scores(np.repeat(rows, counts), sets)
    check_failures(vertices.failures)
    return np.split(scores, np.cumsum(counts)[:-1])


def _make_results(one: Explanation, sets: tuple[tuple[str, ...], ...]) -> pd.DataFrame:
    """The changed row of every set."""
    queries, references, assigned, rows = _find_ends(one, len(sets))
    chosen = one._pair.sets(sets)
    mixed = MixedRows(one._pair.space, queries, references, assigned)
    return mixed.frame(rows, chosen if one.kind == "minus" else ~chosen)


def _find_credibilities(one: Explanation, results: pd.DataFrame, explainer: ExplainerLike | None) -> FloatArray:
    """The credibility of changed rows; NaN where it is not known, and for "plus"."""
    if one.kind == "plus" or (explainer is None and one._source is None):
        return np.full(len(results), np.nan)
    return source_of(one, explainer).credibilities(results, one.target)


def _find_ends(one: Explanation, n_sets: int) -> tuple[pd.DataFrame, pd.DataFrame, IntArray, IntArray]:
    """Queries and references between which the sets lie, the reference of each query, and the query of each set."""
    pair, moved = one._pair, one._moved
    none = np.zeros(n_sets, dtype=np.int64)
    if moved is None:
        return pair.queries, pair.references, none[:1], none
    each = np.arange(n_sets)  # every set has values of its own
    return pair.queries.iloc[none], moved.iloc[:n_sets], each, each


def _with_first(one: Explanation, number: int, score: float, result: pd.Series, share: float) -> Explanation:
    """The same answer with one of its sets first, whose changed row and credibility are known."""
    first = replace(
        one,
        _changed=result.rename("result"),
        _credibility=lambda: None if np.isnan(share) else share,
        _compare=lambda: one.not_permitted,
    )
    if number == 0:
        return first
    order = [number, *(place for place in range(len(one.sets)) if place != number)]
    moved = None if one._moved is None else one._moved.iloc[order]
    pair = one._pair
    if moved is not None:
        pair = Pair(pair.queries, moved.iloc[:1], pair.space, pair.kind)
    return replace(
        first,
        sets=tuple(one.sets[place] for place in order),
        features=one.sets[number],
        result_score=score,
        _moved=moved,
        _enough=_reorder_ranges(one._enough, order),
        _pair=pair,
        # what another set leads to is known only where there is but one other class
        _classes=one._classes if one.other is not None else None,
    )


def _reorder_ranges(
    ranges: Sequence[Mapping[str, EnoughValues]], order: list[int]
) -> Sequence[Mapping[str, EnoughValues]]:
    """Ranges in another order; those that are made on demand are not made for it."""
    return ranges.take(order) if isinstance(ranges, LazyList) else [ranges[place] for place in order] if ranges else ()
