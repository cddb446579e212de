"""Boosted trees whose weights start from random numbers, as in the authors' code, where a misspelt attribute leaves the
learnt weights unused. Only the warm-up of the paper is done: Adam on the log loss, without any term for SEV.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit

#: The paper's settings: epochs of warm-up, rows of a batch, step of Adam.
EPOCHS, BATCH, STEP = 70, 128, 0.1


def from_random_weights(model: Any, Z: Any, y: Any, seed: int) -> Any:
    """Replace the tree weights of a fitted ``GradientBoostingClassifier`` by such that were learnt from random ones.

    Parameters
    ----------
    model : GradientBoostingClassifier
        Changed in place.
    Z, y : array
        Encoded training rows and labels of 0 and 1.
    seed : int
        Of the start and of the order of rows.

    Returns
    -------
    GradientBoostingClassifier
        The same one.
    """
    trees = [tree for (tree,) in model.estimators_]
    outputs = np.column_stack([tree.predict(Z) for tree in trees])
    start = float(logit(model.init_.class_prior_[1]))
    for tree, weight in zip(trees, learnt(outputs, np.asarray(y), start, seed), strict=True):
        tree.tree_.value[...] *= weight / model.learning_rate
    return model


def learnt(outputs: Any, y: Any, start: float, seed: int) -> Any:
    """Weights of the columns of ``outputs`` that fit ``y`` by log loss, from random ones; intercept is ``start``."""
    rng = np.random.default_rng(seed)
    bound = outputs.shape[1] ** -0.5  # as torch draws the weights of a linear layer
    weights = rng.uniform(-bound, bound, outputs.shape[1])
    mean, square, step = np.zeros_like(weights), np.zeros_like(weights), 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(y))
        for first in range(0, len(y), BATCH):
            rows = order[first : first + BATCH]
            gradient = outputs[rows].T @ (expit(start + outputs[rows] @ weights) - y[rows]) / len(rows)
            step += 1
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.999 * square + 0.001 * gradient**2
            weights -= STEP * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights
