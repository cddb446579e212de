"""The table of generators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from contracts.fuzz.setups import Setup

Recipe = Callable[[np.random.Generator], Setup]
RECIPES: dict[str, Recipe] = {}


def recipe(function: Recipe) -> Recipe:
    """Add a generator under its own name."""
    if function.__name__ in RECIPES:
        raise ValueError(f"there are two recipes called {function.__name__!r}")
    RECIPES[function.__name__] = function
    return function
