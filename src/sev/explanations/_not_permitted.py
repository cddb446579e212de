"""What features that may not be used could do: said beside every restricted answer, without naming them."""

from __future__ import annotations

import numpy as np

from sev.core import Answers, Status, unpack
from sev.text import NotPermitted
from sev.typing import BoolArray, IntArray

_EXPLAINED = [status.code for status in (Status.OPTIMAL, Status.FEASIBLE, Status.UNEXPLAINABLE, Status.UNDECIDED)]


def explained_rows(answers: Answers) -> IntArray:
    """Numbers of the rows that were searched: of the others nothing is said."""
    return np.flatnonzero(np.isin(answers.status, _EXPLAINED))


def compare_with_unrestricted(answers: Answers, free: Answers, restricted: BoolArray) -> tuple[NotPermitted, ...]:
    """For each row, what the same search finds when every feature may be used.

    Parameters
    ----------
    answers : Answers
        Of rows that were searched, with some features left out.
    free : Answers
        Of the same rows, with every feature allowed; all sets listed.
    restricted : ndarray of bool, shape (n_features,)
        The features that were left out.
    """
    found: list[NotPermitted] = ["none"] * len(answers)
    sizes, free_sizes = answers.sizes(), free.sizes()
    uses = np.atleast_1d(unpack(free.masks, len(restricted))[:, restricted].any(axis=1))
    for row in np.flatnonzero(free.has_set).tolist():
        if not uses[free.offsets[row] : free.offsets[row + 1]].any():
            continue
        if np.isnan(sizes[row]):
            # a search that was cut short does not know that there is no permitted set
            found[row] = "only" if answers.status[row] == Status.UNEXPLAINABLE.code else "none"
        elif free_sizes[row] < sizes[row]:
            found[row] = "smaller"
        elif free_sizes[row] == sizes[row]:
            found[row] = "equal"
    return tuple(found)
