"""What it costs to move features to given values."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sev.actions._bound import BoundActions
from sev.actions._ground import NumberGround, as_numbers
from sev.typing import FloatArray


def move_costs(bound: BoundActions, queries: pd.DataFrame, targets: pd.DataFrame) -> FloatArray:
    """Cost of moving each feature of each query to its value in another row; (n_queries, n_features).

    A number costs its weight for each standard deviation of the background, anything else its weight.

    Parameters
    ----------
    bound : BoundActions
        Weights and scales.
    queries, targets : DataFrame
        Rows of the common form, one target for each query.

    Returns
    -------
    ndarray of float64
        Of shape (n_queries, n_features).
    """
    costs = np.empty((len(queries), len(bound.space)))
    for number, feature in enumerate(bound.space.features):
        ground = bound.ground.features[number]
        costs[:, number] = bound.weight(number)
        if isinstance(ground, NumberGround):
            [column] = feature.columns
            moved = np.abs(as_numbers(targets[column]) - as_numbers(queries[column])) / ground.scale
            costs[:, number] *= np.where(np.isnan(moved), 1.0, moved)
    return costs
