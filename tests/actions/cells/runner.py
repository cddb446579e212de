"""One seed: a random model with actions, its rows explained, every answer compared."""

from __future__ import annotations

import warnings

import numpy as np
from actions.cells.compare import Totals, problems
from actions.cells.draw import draw


def run_seed(seed: int, totals: Totals) -> list[str]:
    """What differs between the library and all cells."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        setup = draw(seed)
        if setup is None:
            totals.left_out += 1
            return []
        return [f"{setup.family}, {setup.actions}: {problem}" for problem in problems(setup, totals)]
