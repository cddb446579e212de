"""Scores between query and reference: vertices of the cube, and the way to the change of one set."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import pandas as pd

from sev.exceptions import InputError, UnknownFeatureError, VerificationError
from sev.typing import FloatArray

if TYPE_CHECKING:
    from sev.explanations._explanation import Explanation
    from sev.explanations._source import Source

_MOST_FEATURES = 10


def vertex_scores(one: Explanation, names: tuple[str, ...], source: Source) -> pd.DataFrame:
    """Every subset of some features, changed, with the model's own score."""
    if len(names) > _MOST_FEATURES:
        raise InputError(
            f"{len(names)} features have {2 ** len(names)} vertices: choose at most {_MOST_FEATURES} of them."
        )
    changed = [subset for size in range(len(names) + 1) for subset in combinations(names, size)]
    scores = _scores(one, changed, source)
    return pd.DataFrame(
        {
            "changed": pd.Series(changed, dtype=object),
            "n_changed": [len(subset) for subset in changed],
            "score": scores,
            "positive": scores >= one.threshold,
        }
    )


def path_scores(one: Explanation, names: tuple[str, ...], source: Source) -> pd.DataFrame:
    """The features changed one after the other, each time the one that takes the score furthest."""
    steps: list[str] = []
    scores = [float(_scores(one, [()], source)[0])]
    wanted = -1.0 if one.kind == "minus" else 1.0
    while len(steps) < len(names):
        left = [name for name in names if name not in steps]
        reached = _scores(one, [(*steps, name) for name in left], source)
        # of equal steps the one that comes first, so that the path never depends on rounding of the sort
        best = max(range(len(left)), key=lambda place: (wanted * reached[place], -place))
        steps.append(left[best])
        scores.append(float(reached[best]))
    return pd.DataFrame(
        {
            "feature": pd.Series(["", *steps], dtype=object),
            "score": scores,
            "positive": [score >= one.threshold for score in scores],
        }
    )


def leading_features(one: Explanation, at_most: int) -> tuple[str, ...]:
    """The features to show of an explanation first.

    Parameters
    ----------
    one : Explanation
        Of any status.
    at_most : int
        How many features to name; those of the sets come first.

    Returns
    -------
    tuple of str
        The features of the sets, the first set's first, then others that differ from the reference.
    """
    ordered = dict.fromkeys(name for names in one.sets for name in names)
    if not ordered or len(ordered) < at_most:
        ordered |= dict.fromkeys(name for name in differing_features(one) if name not in one.restricted)
    return tuple(ordered)[:at_most]


def differing_features(one: Explanation) -> tuple[str, ...]:
    """Features in which query and reference are not the same.

    Parameters
    ----------
    one : Explanation
        Of any status.

    Returns
    -------
    tuple of str
        Names in column order; two missing values are the same.
    """
    return tuple(
        name for name, columns in one.columns.items() if any(not _same(one.query[c], one.reference[c]) for c in columns)
    )


def checked_names(one: Explanation, names: Any) -> tuple[str, ...]:
    """Names of features, or the error that says which one there is not."""
    chosen = tuple(names)
    for name in chosen:
        if name not in one.columns:
            raise UnknownFeatureError(f"{name!r} is not a feature. The features are {list(one.columns)[:20]}.")
    return chosen


def source_of(one: Explanation, explainer: Any) -> Source:
    """What can be asked for scores."""
    source = explainer._source if explainer is not None else one._source
    if source is None:
        raise VerificationError("This explanation carries no model: pass the explainer, explainer=.")
    return source


def _scores(one: Explanation, changed: list[tuple[str, ...]], source: Source) -> FloatArray:
    base, donor = (one.query, one.reference) if one.kind == "minus" else (one.reference, one.query)
    values: dict[Any, list[Any]] = {column: [base[column]] * len(changed) for column in base.index}
    for place, names in enumerate(changed):
        for column in (column for name in names for column in one.columns[name]):
            values[column][place] = donor[column]
    return source.score_rows(pd.DataFrame(values, columns=base.index, dtype=object), one.target)


def _same(one: Any, other: Any) -> bool:
    return bool(pd.isna(one) and pd.isna(other)) or bool(one == other)
