"""What may be spent on one row."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from sev.core import Limits

#: Vertices of the widest beams, in squares of the number of features.
_BEAM_SHARE = 160


@dataclass
class Budget:
    """What may be spent on one row: vertices for the levels, vertices for beams, and time.

    The two shares grow with the whole and neither eats into the other, so a larger budget never proves less and never
    finds less.
    """

    levels: float = math.inf
    beams: float = math.inf
    deadline: float = math.inf

    @classmethod
    def of(cls, limits: Limits, n_active: int, per_prediction: int) -> Budget:
        """A full budget.

        Parameters
        ----------
        limits : Limits
            What the user allows.
        n_active : int
            Features to choose from.
        per_prediction : int
            Vertices that cost as much as one prediction of the model.
        """
        deadline = math.inf if limits.time_limit is None else time.perf_counter() + limits.time_limit
        if limits.max_predictions is None or limits.max_predictions * per_prediction >= 2.0**n_active:
            return cls(deadline=deadline)
        whole = limits.max_predictions * per_prediction
        beams = min(whole // 2, _BEAM_SHARE * n_active**2)
        return cls(whole - beams, beams, deadline)

    def is_over(self) -> bool:
        """Whether the time is up."""
        return self.deadline < math.inf and time.perf_counter() >= self.deadline

    def allows_beam(self, n_vertices: int, spent: int) -> bool:
        """Whether beams that have spent so much may go on to so many more vertices."""
        return spent + n_vertices <= self.beams and not self.is_over()
