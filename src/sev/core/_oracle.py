"""The definition of the sparse explanation value, by brute force.

Slow on purpose: it is what every solver is compared with, so it must be right at a glance.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from sev.typing import BoolArray


def brute_force(
    crosses: Callable[[BoolArray], BoolArray], n_features: int, allowed: BoolArray | None = None
) -> tuple[int | None, set[tuple[int, ...]]]:
    """Find the smallest sets of features that cross, by trying all of them in order of size.

    Parameters
    ----------
    crosses : callable
        Takes a bool array (n_sets, n_features), returns for each set whether changing its features takes the
        prediction to the other side.
    n_features : int
        Number of features; 2 to the power of it sets are tried in the worst case.
    allowed : ndarray of bool, shape (n_features,), default=None
        Features that a set may use; None allows all.

    Returns
    -------
    size : int or None
        The sparse explanation value, None when no set crosses.
    sets : set of tuple of int
        Every set of that size that crosses.

    Examples
    --------
    >>> from sev.testing import brute_force
    >>> brute_force(lambda sets: sets[:, 0] & (sets[:, 1] | sets[:, 2]), 3) == (2, {(0, 1), (0, 2)})
    True
    """
    usable = range(n_features) if allowed is None else np.flatnonzero(allowed).tolist()
    for size in range(len(usable) + 1):
        candidates = list(combinations(usable, size))
        sets = np.zeros((len(candidates), n_features), dtype=np.bool_)
        for number, candidate in enumerate(candidates):
            sets[number, list(candidate)] = True
        works = crosses(sets)
        if works.any():
            return size, {candidate for candidate, works_here in zip(candidates, works, strict=True) if works_here}
    return None, set()
