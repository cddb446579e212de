"""Scores between query and reference: vertices of the cube, and the way to the change of one set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.core import list_names, suggest_name
from sev.exceptions import InputError, ModelError, UnknownFeatureError, VerificationError
from sev.typing import FloatArray

if TYPE_CHECKING:
    from sev.explanations._explanation import Explanation
    from sev.explanations._source import ExplainerLike, Source

_MOST_FEATURES = 10


def vertex_scores(one: Explanation, names: tuple[str, ...], source: Source) -> pd.DataFrame:
    """Every subset of some features, changed, with the model's own score."""
    if len(names) > _MOST_FEATURES:
        raise InputError(
            f"Scores of every subset are for at most {_MOST_FEATURES} features, got {len(names)}: choose some of them."
        )
    changed = [subset for size in range(len(names) + 1) for subset in combinations(names, size)]
    return vertex_table(changed, _score_vertices(one, changed, source), one.threshold)


def vertex_table(changed: list[tuple[str, ...]], scores: FloatArray, threshold: float) -> pd.DataFrame:
    """Vertices with their scores."""
    return pd.DataFrame(
        {
            "changed": pd.Series(changed, dtype=object),
            "n_changed": [len(subset) for subset in changed],
            "score": scores,
            "positive": scores >= threshold,
        }
    )


def path_scores(one: Explanation, names: tuple[str, ...], source: Source) -> pd.DataFrame:
    """The features changed one after the other, each time the one that takes the score furthest."""
    return follow_path(one, names, lambda steps: _score_vertices(one, steps, source))


def follow_path(
    one: Explanation, names: tuple[str, ...], score: Callable[[list[tuple[str, ...]]], Sequence[float] | FloatArray]
) -> pd.DataFrame:
    """The same, with a function that scores sets."""
    steps: list[str] = []
    scores = [float(score([()])[0])]
    wanted = -1.0 if one.kind == "minus" else 1.0
    while len(steps) < len(names):
        left = [name for name in names if name not in steps]
        reached = score([(*steps, name) for name in left])
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


def main_features(one: Explanation, at_most: int) -> tuple[str, ...]:
    """The features of the first set, then those of other sets, then others that differ from the reference."""
    ordered = dict.fromkeys(name for names in one.sets for name in names)
    if not ordered or len(ordered) < at_most:
        ordered |= dict.fromkeys(name for name in one.differing_features if name not in one.restricted)
    return tuple(ordered)[:at_most]


def checked_names(one: Explanation, names: Iterable[str]) -> tuple[str, ...]:
    """Names of features, or the error that says which one there is not."""
    chosen = tuple(names)
    for name in chosen:
        if name not in one.columns:
            meant = suggest_name(name, one.columns)
            raise UnknownFeatureError(f"{name!r} is not a feature{meant} The features are {list_names(one.columns)}.")
    return chosen


def source_of(one: Explanation, explainer: ExplainerLike | None) -> Source:
    """What can be asked for scores."""
    source = explainer.source if explainer is not None else one._source
    if source is None:
        raise VerificationError("This explanation carries no model: pass explainer=.")
    return source


def _score_vertices(one: Explanation, changed: list[tuple[str, ...]], source: Source) -> FloatArray:
    pair = one._pair
    only = np.zeros(1, dtype=np.int64)
    vertices = source.vertices(pair.queries, pair.references, only, one.kind, one.target)
    scores = vertices.scores(np.zeros(len(changed), dtype=np.int64), pair.sets(changed))
    check_failures(vertices.failures)
    return scores


def check_failures(failures: Mapping[int, str]) -> None:
    """Refuse scores of rows on which the model failed."""
    if failures:
        raise ModelError(f"The model cannot score a row of this explanation: {next(iter(failures.values()))}.")
