"""One table of small networks: each has a backend, its model's own scores, rows, a reference and groups of columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from sev.libraries.sklearn.read_networks import read_mlp as from_sklearn
from sev.libraries.skorch.read import read_classifier as from_skorch
from sev.libraries.torch.classifier import torch_scorer
from sev.libraries.torch.read import read_module as from_torch


@dataclass(frozen=True, eq=False)
class Case:
    """A fitted network, ready for :func:`problems.make_problem`."""

    backend: object
    score: Callable
    rows: np.ndarray
    reference: np.ndarray
    groups: np.ndarray | None = None
    threshold: float = 0.5


def make_data(n_columns: int = 7, n_rows: int = 300, seed: int = 0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, n_columns))
    labels = (rows[:, 0] * rows[:, 1] + rows[:, 2] - rows[:, 3] > 0).astype(int)
    return rows, labels


def make_mlp(activation: str, hidden=(16, 16), *, dtype=np.float64, n_columns=7, seed=0) -> MLPClassifier:
    rows, labels = make_data(n_columns, seed=seed)
    model = MLPClassifier(hidden, activation=activation, learning_rate_init=0.02, random_state=seed)
    for _ in range(60):  # partial_fit, which does not warn about convergence
        model.partial_fit(rows.astype(dtype), labels, classes=[0, 1])
    return model


def mlp_case(activation: str, hidden=(16, 16), *, dtype=np.float64, groups=None) -> Case:
    rows, labels = make_data()
    model = make_mlp(activation, hidden, dtype=dtype)
    reference = rows[labels == 0].mean(axis=0)
    backend = from_sklearn(model, "predict_proba")
    return Case(backend, lambda rows: model.predict_proba(rows.astype(dtype))[:, 1], rows, reference, groups)


def network(*layers, seed=0, scale=0.7):
    """A torch Sequential with large random weights and moving statistics, left in training mode."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    generator = torch.Generator().manual_seed(seed)
    module = torch.nn.Sequential(*layers)
    with torch.no_grad():
        for part in module.modules():
            if isinstance(part, torch.nn.Linear):
                part.weight.normal_(0, scale, generator=generator)
                part.bias.uniform_(-0.3, 0.3, generator=generator)
            if isinstance(part, torch.nn.BatchNorm1d):
                part.running_mean.normal_(generator=generator)
                part.running_var.uniform_(0.5, 2, generator=generator)
    return module.train()


def score_of(module):
    both = torch_scorer(module)
    return lambda rows: both(rows)[:, 1]


def module_case(module, *, dtype=np.float32, output="auto", groups=None) -> Case:
    rows = make_data()[0].astype(dtype)
    score = score_of(module)
    scores = score(rows)
    threshold = float(np.median(scores))  # random weights: half of the rows on either side
    reference = rows[np.argsort(scores)[len(scores) // 4]]
    return Case(from_torch(module, "call", output), score, rows, reference, groups, threshold)


def torch_case(make_layers: Callable, **options) -> Case:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return module_case(network(*make_layers(torch.nn)), **options)


def wave_case(probability: bool) -> Case:
    """A module that no dense layers can say: it is asked in batches."""
    torch = pytest.importorskip("torch", reason="torch is not installed")

    class Wave(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = network(torch.nn.Linear(7, 12))
            self.outer = network(torch.nn.Linear(12, 1), seed=1, scale=2.0)

        def forward(self, rows):
            hidden = torch.sin(self.inner(rows))
            logits = self.outer(hidden * hidden + hidden)
            return torch.sigmoid(logits) if probability else logits

    return module_case(Wave())


def tie_case(n_outputs: int = 1, *, sigmoid_at: float | None = None) -> Case:
    """Small integers everywhere: sums are exact in any order, and vertices meet the same logits again and again.

    The threshold is at a logit of zero or, behind a float32 sigmoid, at the score of some other whole logit.
    """
    torch = pytest.importorskip("torch", reason="torch is not installed")
    rng = np.random.default_rng(3)
    end = () if sigmoid_at is None else (torch.nn.Sigmoid(),)
    module = torch.nn.Sequential(
        torch.nn.Linear(7, 6), torch.nn.ReLU(), torch.nn.Linear(6, n_outputs, bias=False), *end
    )
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.from_numpy(rng.integers(-2, 3, size=tuple(parameter.shape)).astype(np.float32)))
    rows = rng.integers(-2, 3, size=(300, 7)).astype(np.float32)
    threshold = 0.5 if sigmoid_at is None else float(torch.sigmoid(torch.tensor(sigmoid_at)))
    score = score_of(module)
    negative = score(rows) < threshold
    return Case(from_torch(module, "call"), score, rows, rows[negative][0], None, threshold)


def skorch_case(binary: bool) -> Case:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    skorch = pytest.importorskip("skorch", reason="skorch is not installed")
    rows, labels = make_data()
    rows = rows.astype(np.float32)
    nn = torch.nn
    torch.manual_seed(0)
    common = {"max_epochs": 12, "lr": 0.3, "verbose": 0, "train_split": None, "iterator_train__shuffle": False}
    if binary:
        net = skorch.NeuralNetBinaryClassifier(nn.Sequential(nn.Linear(7, 12), nn.ReLU(), nn.Linear(12, 1)), **common)
        net.fit(rows, labels.astype(np.float32))
    else:
        module = nn.Sequential(nn.Linear(7, 12), nn.ReLU(), nn.Linear(12, 2))
        net = skorch.NeuralNetClassifier(module, criterion=nn.CrossEntropyLoss, **common)
        net.fit(rows, labels)
    reference = rows[labels == 0].mean(axis=0)

    def score(rows):
        return net.predict_proba(rows.astype(np.float32))[:, 1]

    return Case(from_skorch(net, "predict_proba"), score, rows, reference)


_PAIRS = np.array([0, 0, 1, 2, 3, 3, 4])  # features of two columns among features of one

CASES: dict[str, Callable[[], Case]] = {
    **{f"mlp-{name}": lambda name=name: mlp_case(name) for name in ("relu", "tanh", "logistic", "identity")},
    "mlp-relu-one-layer": lambda: mlp_case("relu", (12,)),
    "mlp-relu-three-layers": lambda: mlp_case("relu", (10, 9, 8)),
    "mlp-groups": lambda: mlp_case("tanh", groups=_PAIRS),
    "mlp-float32": lambda: mlp_case("relu", dtype=np.float32),
    "torch-one-logit": lambda: torch_case(lambda nn: (nn.Linear(7, 16), nn.ReLU(), nn.Linear(16, 1))),
    "torch-one-probability": lambda: torch_case(
        lambda nn: (nn.Linear(7, 16), nn.Tanh(), nn.Linear(16, 1), nn.Sigmoid())
    ),
    "torch-two-logits": lambda: torch_case(lambda nn: (nn.Linear(7, 16), nn.GELU(), nn.Linear(16, 2))),
    "torch-two-probabilities": lambda: torch_case(
        lambda nn: (nn.Linear(7, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2), nn.Softmax(dim=1))
    ),
    "torch-log-softmax": lambda: torch_case(
        lambda nn: (nn.Linear(7, 16), nn.SiLU(), nn.Linear(16, 2), nn.LogSoftmax(dim=1))
    ),
    "torch-normalised": lambda: torch_case(
        lambda nn: (nn.BatchNorm1d(7), nn.Linear(7, 9), nn.ReLU(), nn.Dropout(0.5), nn.BatchNorm1d(9), nn.Linear(9, 1))
    ),
    "torch-groups": lambda: torch_case(lambda nn: (nn.Linear(7, 16), nn.ELU(), nn.Linear(16, 1)), groups=_PAIRS),
    "torch-float64": lambda: torch_case(
        lambda nn: (nn.Linear(7, 16, dtype=float_64()), nn.ReLU(), nn.Linear(16, 1, dtype=float_64())),
        dtype=np.float64,
    ),
    "torch-any-logit": lambda: wave_case(probability=False),
    "torch-any-probability": lambda: wave_case(probability=True),
    "torch-ties-one-output": tie_case,
    "torch-ties-two-outputs": lambda: tie_case(2),
    "torch-ties-at-threshold": lambda: tie_case(sigmoid_at=2.0),
    "skorch-binary": lambda: skorch_case(binary=True),
    "skorch-two-outputs": lambda: skorch_case(binary=False),
}


def float_64():
    return pytest.importorskip("torch", reason="torch is not installed").float64


@cache
def get_case(name: str) -> Case:
    return CASES[name]()
