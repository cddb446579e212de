"""The definition, applied through a model's own scores.

:func:`oracle` is independent on purpose: it shares no code with the package, neither the mixing of rows nor the brute
force that ships in ``sev.testing``, which is itself compared with it. :func:`oracle_of_problem` is for solvers, whose
problems are already in the package's own form.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd

from sev.testing import brute_force


def all_sets(n_features: int) -> np.ndarray:
    return np.array(list(product([False, True], repeat=n_features)), dtype=bool)


def oracle(score, query, reference, features, *, kind="minus", restricted=(), threshold=0.5):
    """Size and sets of names for one row.

    ``score`` takes a DataFrame; ``query`` and ``reference`` map columns to values; ``features`` maps names to columns.
    """
    base, donor = (query, reference) if kind == "minus" else (reference, query)
    feature_of = {column: name for name, columns in features.items() for column in columns}
    candidates = [chosen for size in range(len(features) + 1) for chosen in combinations(features, size)]
    vertices = {
        column: [donor[column] if feature_of[column] in chosen else base[column] for chosen in candidates]
        for column in query
    }
    positive = np.asarray(score(pd.DataFrame(vertices))) >= threshold
    across = positive if kind == "plus" else ~positive
    found = [
        frozenset(chosen)
        for chosen, crosses in zip(candidates, across, strict=True)
        if crosses and not set(chosen) & set(restricted)
    ]
    size = min(map(len, found), default=None)
    return size, {chosen for chosen in found if len(chosen) == size}


def oracle_of_problem(problem, row, scores=None):
    """Size and sets of one row of a problem; ``scores`` are those of all sets, by their number, if known."""

    def crosses(sets):
        if scores is not None:
            return problem.is_across(scores[sets @ (1 << np.arange(problem.n_features))])
        return problem.crosses(np.full(len(sets), row), sets)

    return brute_force(crosses, problem.n_features, problem.active[row])


def assert_equals_oracle(one, score, features):
    """Compare one explanation with the definition: size, and the full list of sets."""
    size, sets = oracle(
        score,
        one.query.to_dict(),
        one.reference.to_dict(),
        features,
        kind=one.kind,
        restricted=one.restricted,
        threshold=one.threshold,
    )
    assert one.status in ("optimal", "unexplainable")
    assert one.size == size, (one.size, size, one.sets, sets)
    assert one.sets_complete
    assert {frozenset(names) for names in one.sets} == sets
    assert len(one.sets) == len(sets)
    assert (one.status == "unexplainable") == (size is None)
