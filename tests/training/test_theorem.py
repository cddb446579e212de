"""Theorem 4.1: the volume of the region with SEV+ = k is a constant times the product of |g_ref / beta_j|."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import sev

BETAS = {
    2: [(1.0, 1.0, -1.0), (2.0, -0.8, -1.5), (-0.7, 1.3, -0.8), (1.5, 1.5, -2.0)],
    3: [(1.0, 1.0, 1.0, -1.0), (1.5, -1.1, 1.2, -0.8), (-1.0, 1.2, 1.1, -2.0)],
}


def volumes(parameters, reference, n_points=300_000):
    """Volumes of the regions with SEV+ = 2, 3, ... of a linear model, by exact explanation of random points, and the
    relative error to expect.
    """
    *weights, score = parameters
    model = LogisticRegression()
    model.classes_ = np.array([0, 1])
    model.coef_ = np.array([weights])
    model.intercept_ = np.array([score - float(np.dot(weights, reference))])
    n_columns = len(weights)
    # a box around all regions: beyond |g_ref / beta_j| * (p - 1) nothing has a SEV+ of two or more
    half = max(abs(score / weight) for weight in weights) * (n_columns - 1)
    points = reference + np.random.default_rng(0).uniform(-half, half, size=(n_points, n_columns))
    explainer = sev.Explainer(model, points[:500], np.arange(500) % 2, reference=reference)
    sizes = explainer.explain(points, kind="plus", max_sets=1).sizes
    counts = np.array([(sizes == k).sum() for k in range(2, n_columns + 1)])
    return counts / n_points * (2 * half) ** n_columns, 1.0 / np.sqrt(counts)


@pytest.mark.parametrize("n_columns", [2, 3])
def test_volumes_scale_with_the_product_of_the_sides(n_columns):
    reference = np.array([0.5, -1.0, 0.25])[:n_columns]
    constants, errors = [], []
    for parameters in BETAS[n_columns]:
        *weights, score = parameters
        volume, error = volumes(parameters, reference)
        constants.append(volume / np.prod(np.abs(score / np.array(weights))))
        errors.append(error)
    for constant, error in zip(constants[1:], errors[1:], strict=True):
        assert (np.abs(np.log(constant / constants[0])) < 4.0 * np.hypot(error, errors[0])).all()


def test_the_constant_of_two_features_is_one_half():
    # the triangle u1 + u2 >= 1, u1 < 1, u2 < 1
    assert volumes((1.0, 2.0, -1.0), np.zeros(2))[0][0] / 0.5 == pytest.approx(0.5, rel=0.03)
