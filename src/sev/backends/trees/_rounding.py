"""How far a model's own sum of leaves in float32 may be from the exact one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sev.backends.trees._forest import Tree

#: Of float32, relative.
HALF_ULP = 2.0**-24


def sequential_rounding(trees: Sequence[Tree], base: float, *, weighted: bool = False) -> float:
    """A bound for models that add one tree after the other in float32.

    Each addition is off by at most half a unit in the last place of its result, and no partial sum is larger than the
    sums of all lowest or of all highest leaves up to there, with the base (added first or last) or without it.

    Parameters
    ----------
    trees : sequence of Tree
        In the order of the additions.
    base : float
        The constant part.
    weighted : bool, default=False
        Whether the model multiplies each leaf by a weight of its tree.
    """
    lows = np.cumsum([tree.value[tree.left < 0].min() for tree in trees])
    highs = np.cumsum([tree.value[tree.left < 0].max() for tree in trees])
    partial = np.max(np.abs([lows, highs, lows + base, highs + base]), axis=0, initial=0.0)
    total = float(partial.sum()) + float(partial[-1] if partial.size else 0.0) + 4.0 * max(1.0, abs(base))
    if weighted:
        total += 2.0 * float(np.sum([np.abs(tree.value[tree.left < 0]).max() for tree in trees]))
    return HALF_ULP * total * float(np.exp(2.0 * HALF_ULP * len(trees)))  # errors are themselves rounded
