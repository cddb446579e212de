"""The definition, applied through a model's own scores, without any of the package's machinery but the brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from sev.testing import brute_force


def all_sets(n_features: int) -> np.ndarray:
    return np.array(list(product([False, True], repeat=n_features)), dtype=bool)


def oracle(score, query, reference, features, *, kind="minus", restricted=(), threshold=0.5):
    """Size and sets of names for one row.

    ``score`` takes a DataFrame; ``query`` and ``reference`` map columns to values; ``features`` maps names to columns.
    """
    names = list(features)
    base, donor = (query, reference) if kind == "minus" else (reference, query)
    sets = all_sets(len(names))
    rows = {}
    for position, name in enumerate(names):
        for column in features[name]:
            rows[column] = [donor[column] if chosen[position] else base[column] for chosen in sets]
    frame = pd.DataFrame({column: rows[column] for column in query})
    positive = np.asarray(score(frame)) >= threshold
    crossed = positive if kind == "plus" else ~positive
    answer = {tuple(chosen): across for chosen, across in zip(sets.tolist(), crossed.tolist(), strict=True)}
    allowed = np.array([name not in restricted for name in names])

    def crosses(candidates):
        return np.array([answer[tuple(candidate)] for candidate in candidates.tolist()])

    size, found = brute_force(crosses, len(names), allowed)
    return size, {frozenset(names[index] for index in chosen) for chosen in found}


def assert_equals_oracle(one, score, features, **options):
    """Compare one explanation with the definition: size, and the full list of sets."""
    query, reference = one.query.to_dict(), one.reference.to_dict()
    size, sets = oracle(
        score,
        query,
        reference,
        features,
        kind=one.kind,
        restricted=one.restricted,
        threshold=one.threshold,
        **options,
    )
    assert one.status in ("optimal", "unexplainable")
    assert one.size == size, (one.size, size, one.sets, sets)
    assert one.sets_complete
    assert {frozenset(names) for names in one.sets} == sets
    assert len(one.sets) == len(sets)
    assert (one.status == "unexplainable") == (size is None)
