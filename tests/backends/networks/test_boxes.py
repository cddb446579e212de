"""Bounds over boxes of inputs: no point of a box is above its bound, and small boxes have tight ones."""

import numpy as np
import pytest

from sev.backends.networks import LayerBuilder, activations, bounds_of_margin

ACTIVATIONS = {
    "identity": activations.identity,
    "relu": activations.relu,
    "tanh": activations.tanh,
    "logistic": activations.logistic,
    "leaky": lambda: activations.leaky_relu(0.2),
    "negative leaky": lambda: activations.leaky_relu(-0.3),
    "elu": lambda: activations.elu(1.7),
    "selu": lambda: activations.elu(1.67326, 1.0507),
    "gelu": activations.gelu,
    "silu": activations.silu,
    "softplus": lambda: activations.softplus(2.0, 3.0),
    "clip": lambda: activations.clip(-0.5, 0.8),
}


def layers_of(name, seed):
    generator = np.random.default_rng(seed)
    builder = LayerBuilder()
    widths = [4, 6, 5, 1]
    for number in range(3):
        if number:
            builder.activation(ACTIVATIONS[name]())
        builder.affine(
            2 * generator.normal(size=widths[number : number + 2]), generator.normal(size=widths[number + 1])
        )
    return builder.margin([1.0])


@pytest.mark.parametrize("name", list(ACTIVATIONS))
def test_an_activation_lies_between_its_lines(name):
    activation = ACTIVATIONS[name]()
    generator = np.random.default_rng(0)
    low = generator.normal(size=400) * generator.choice([0.1, 1, 6], 400)
    high = low + generator.exponential(size=400) * generator.choice([0, 0.01, 1, 8], 400)
    slope, below, above = activation.lines(low, high)
    for share in np.linspace(0, 1, 201):
        points = low + share * (high - low)
        values = activation.apply(points.copy())
        assert (values >= slope * points + below - 1e-12).all()
        assert (values <= slope * points + above + 1e-12).all()
    assert (above - below)[high == low] == pytest.approx(0.0, abs=0.06 if name == "softplus" else 1e-12)


@pytest.mark.parametrize("name", list(ACTIVATIONS))
def test_no_point_of_a_box_is_above_its_bound(name):
    for seed in range(6):
        layers = layers_of(name, seed)
        generator = np.random.default_rng(seed)
        low = generator.normal(size=(30, 4))
        high = low + generator.exponential(size=(30, 4)) * generator.choice([0.0, 0.05, 1.0], (30, 4))
        bounds = bounds_of_margin(layers, low, high)
        greatest = np.full(30, -np.inf)
        for number in range(300):
            share = generator.random((30, 4)) if number % 2 else generator.integers(0, 2, (30, 4))
            greatest = np.maximum(greatest, layers.margins(low + share * (high - low)))
        assert (bounds >= greatest).all()
        points = bounds_of_margin(layers, low, low)
        loose = 3.0 if name == "softplus" else 1e-9  # beyond its threshold softplus has a step
        assert (points - layers.margins(low) >= 0).all()
        assert points == pytest.approx(layers.margins(low), rel=1e-9, abs=loose)


def test_bounds_of_small_boxes_are_tight():
    """What is lost falls with the square of the width, or faster, where nothing bends."""
    layers = layers_of("tanh", 0)
    centre = np.random.default_rng(1).normal(size=(20, 4))
    lost = []
    for width in (0.1, 0.01):
        bounds = bounds_of_margin(layers, centre - width, centre + width)
        corners = [
            layers.margins(centre + width * (2 * np.array(list(f"{n:04b}"), dtype=float) - 1)) for n in range(16)
        ]
        lost.append((bounds - np.max(corners, axis=0)).mean())
    assert lost[1] < lost[0] / 30


def test_an_activation_without_lines_has_no_bound():
    builder = LayerBuilder()
    builder.affine(np.ones((2, 3)), np.zeros(3))
    builder.activation(activations.gelu("tanh"))
    layers = builder.margin([1.0, 1.0, 1.0])
    assert bounds_of_margin(layers, np.zeros((1, 2)), np.ones((1, 2))) is None
