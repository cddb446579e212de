"""Support vector machines with more than two classes: scores whose best class is the predicted one.

They predict by votes: each pair of classes has a machine of its own, and the class that wins most pairs is predicted,
the first of those that win equally many. Their decision values are one for each pair ("ovo"), or votes and confidences
that part equal votes in another way ("ovr"): the best of neither need be the predicted class.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sev.backends import Unwrapped
from sev.typing import FloatArray, NativeTable


def vote_scores(unwrapped: Unwrapped) -> VoteScores | None:
    """Scores by votes, where a machine predicts by them; None where it does not."""
    machine = unwrapped.estimator
    if machine.break_ties and machine.decision_function_shape == "ovr":
        return None  # predicts the class with the highest decision value
    return VoteScores(unwrapped)


@dataclass(frozen=True, eq=False)
class VoteScores:
    """Votes of each class, and a confidence below half a vote.

    Where several classes have most votes, the confidence gives way to their order, as in ``predict``.
    """

    unwrapped: Unwrapped

    def __call__(self, rows: NativeTable) -> FloatArray:
        """Scores of shape (n_rows, n_classes)."""
        machine = copy(self.unwrapped.estimator)
        machine.decision_function_shape = "ovo"
        pairs = np.asarray(machine.decision_function(self.unwrapped.transform(rows)), dtype=np.float64)
        n_classes = len(machine.classes_)
        votes = np.zeros((len(pairs), n_classes))
        confidences = np.zeros((len(pairs), n_classes))
        for number, (first, second) in enumerate(combinations(range(n_classes), 2)):
            wins = pairs[:, number] > 0
            votes[:, first] += wins
            votes[:, second] += ~wins
            confidences[:, first] += pairs[:, number]
            confidences[:, second] -= pairs[:, number]
        extra = confidences / (3.0 * (np.abs(confidences) + 1.0))
        tied = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1
        extra[tied] = -np.arange(n_classes) / (3.0 * n_classes)
        return votes + extra
