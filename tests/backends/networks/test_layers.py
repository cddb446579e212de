"""The bound on rounding, the subsets and the pool: what the proofs stand on."""

import itertools
import math

import numpy as np
import pytest
from backends.networks.cases import make_data, make_mlp

from sev.backends.networks import _activations as activations
from sev.backends.networks._pool import Pool, furthest_first
from sev.backends.networks._subsets import subsets
from sev.backends.networks._vertices import DenseVertices
from sev.libraries.sklearn.read_networks import read_mlp as from_sklearn

ALL = [
    activations.identity(),
    activations.relu(),
    activations.tanh(),
    activations.logistic(),
    activations.leaky_relu(0.2),
    activations.leaky_relu(-1.5),
    activations.elu(0.7),
    activations.elu(1.67, 1.05),
    activations.gelu(),
    activations.gelu("tanh"),
    activations.silu(),
    activations.softplus(2.0, 20.0),
    activations.clip(-0.5, 3.0),
]


@pytest.mark.parametrize("activation", ALL, ids=lambda activation: activation.name)
def test_slope_and_reach_hold(activation):
    points = np.concatenate([np.linspace(-9, 9, 20_001), [-1e4, 1e4]])
    points.sort()
    values = activation.apply(points[:, None].copy())[:, 0]
    assert (np.abs(np.diff(values)) <= activation.slope * np.diff(points) + 1e-12).all()
    assert (np.abs(values) <= activation.reach(np.abs(points)) + 1e-12).all()


@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic"])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_float32_stays_within_the_bound(activation, scale):
    layers = from_sklearn(make_mlp(activation, (40, 40)), "predict_proba")._layers
    rows = scale * make_data()[0][:20]
    reference = np.broadcast_to(rows.mean(axis=0), rows.shape)
    active = np.tile(np.arange(7), (20, 1))
    columns = [np.array([column]) for column in range(7)]
    vertices = DenseVertices(layers, layers.as_type(np.float32), rows, reference, columns, active, np.dtype(np.float64))
    every = np.array(list(itertools.product([False, True], repeat=7)))
    numbers = np.arange(20)
    for size in range(8):
        for sets, state in subsets(vertices, numbers, 7, size, 10):
            fast, error = vertices.progress(numbers, state)
            chosen = np.zeros((len(sets), 7), dtype=bool)
            np.put_along_axis(chosen, sets, True, axis=1)
            mixed = np.where(chosen[None], reference[:, None], rows[:, None]).reshape(-1, 7)
            true = layers.margins(mixed).reshape(fast.shape)
            assert (np.abs(fast - true) <= error).all()
    exact, error = vertices.refine(np.repeat(numbers, len(every)), np.tile(every, (20, 1)))
    true = layers.margins(np.where(np.tile(every, (20, 1)), np.repeat(reference, 128, 0), np.repeat(rows, 128, 0)))
    assert (np.abs(exact - true) <= error).all()
    assert error.max() < 1e-7


class Counted:
    """Vertices whose state is the number of features chosen; keeps the most that was alive at once."""

    width = 1

    def __init__(self):
        self.largest = 0

    def root(self, rows):
        return np.zeros((len(rows), 1, 1))

    def extend(self, rows, state, parents, features):
        self.largest = max(self.largest, len(parents))
        return state[:, parents] + 1


@pytest.mark.parametrize(("n", "size", "limit"), [(6, 3, 1), (7, 4, 5), (9, 9, 3), (9, 1, 4), (12, 6, 50), (3, 0, 2)])
def test_every_set_comes_once_in_order_in_bounded_chunks(n, size, limit):
    vertices = Counted()
    chunks = list(subsets(vertices, np.arange(2), n, size, limit))
    found = [tuple(chosen) for sets, _ in chunks for chosen in sets.tolist()]
    assert found == list(itertools.combinations(range(n), size))
    assert all((state == size).all() and state.shape[:2] == (2, len(sets)) for sets, state in chunks)
    assert vertices.largest <= max(limit, n)


def test_a_pool_keeps_the_best_and_counts_all():
    rng = np.random.default_rng(0)
    pool = Pool(5)
    sets = np.array(list(itertools.combinations(range(24), 4)))
    reached = rng.normal(size=len(sets))
    for piece in np.array_split(np.arange(len(sets)), 40):
        pool.add(sets[piece], reached[piece], 1e-9)
    assert pool.total == math.comb(24, 4)
    best = sets[np.argsort(-reached)[:5]]
    assert sorted(map(tuple, pool.candidates())) == sorted(map(tuple, best))


def test_a_pool_of_ties_stays_small():
    pool = Pool(5)
    for first in range(0, 100_000, 1000):
        pool.add(np.arange(first, first + 1000)[:, None], np.ones(1000), 1e-9)
    assert pool.total == 100_000
    assert len(pool.candidates()) <= 4 * 5 + 2048


def test_ties_are_ordered_by_features():
    sets = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=bool)
    ordered = furthest_first(sets, np.array([1.0, 1.0 + 1e-13, 1.0 - 1e-13]), 3)
    assert ordered.tolist() == [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    assert furthest_first(sets, np.array([1.0, 2.0, 3.0]), 1).tolist() == [[1, 1, 0]]
