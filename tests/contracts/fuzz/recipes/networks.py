"""Networks of torch and skorch, and classifiers with unusual outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from contracts.fuzz.draw import Rng, classifier, labels_of, negative_row, numbers, split
from contracts.fuzz.recipes._registry import recipe
from contracts.fuzz.setups import Setup
from sklearn.base import BaseEstimator, ClassifierMixin

SINGLE = {"rounding": 2e-6, "order_tolerance": 1e-5}
#: What makes a probability of one number: by an activation, or by arithmetic after one.
LAST = ("sigmoid", "tanh and arithmetic", "one minus sigmoid", "squeezed sigmoid", "softsign", "logit")


def _module(n_columns: int, last: str, seed: int) -> Any:
    import torch

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(n_columns, 5)
            self.second = torch.nn.Linear(5, 1)

        def forward(self, rows: Any) -> Any:
            out = self.second(torch.relu(self.first(rows)))
            if last == "sigmoid":
                return torch.sigmoid(out)
            if last == "tanh and arithmetic":
                return 0.5 * (torch.tanh(out) + 1.0)
            if last == "one minus sigmoid":
                return 1.0 - torch.sigmoid(out)
            if last == "squeezed sigmoid":
                return 0.9 * torch.sigmoid(out) + 0.05
            if last == "softsign":
                return 0.5 + 0.5 * out / (1.0 + out.abs())
            return out

    torch.manual_seed(seed)
    network = Network()
    with torch.no_grad():
        for weights in network.parameters():
            weights.normal_(0.0, 1.0)
    return network.eval()


@recipe
def torch_modules(rng: Rng) -> Setup:
    import torch

    rows = numbers(rng, int(rng.integers(2, 6)))
    last = str(rng.choice(LAST))
    module = _module(rows.shape[1], last, int(rng.integers(1000)))

    def score(table: Any) -> np.ndarray:
        with torch.no_grad():
            outputs = module(torch.as_tensor(np.asarray(table), dtype=torch.float32)).numpy()[:, 0].astype(float)
        return outputs if last != "logit" else 1.0 / (1.0 + np.exp(-outputs))

    background, _, queries = split(rows, score(rows))
    return Setup(
        model=module,
        background=background,
        y=None,
        queries=queries,
        score=score,
        reference=negative_row(rng, score, 0.5, background),
        saves=False,
        **SINGLE,
    )


class OneColumn(ClassifierMixin, BaseEstimator):
    """A classifier whose ``predict_proba`` has the probability of the second class only."""

    classes_ = np.array([0, 1])

    def __init__(self, weights: Any = None) -> None:
        self.weights = weights

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Any:
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return 1.0 / (1.0 + np.exp(-(np.asarray(X, dtype=float) @ self.weights)))[:, None]

    def predict(self, X: Any) -> np.ndarray:
        return (self.predict_proba(X)[:, 0] >= 0.5).astype(int)


@recipe
def probabilities_in_one_column(rng: Rng) -> Setup:
    rows = numbers(rng, int(rng.integers(2, 6)))
    model = OneColumn(rng.normal(size=rows.shape[1]))
    background, y, queries = split(rows, labels_of(rng, rows))
    target = int(rng.integers(2))

    def score(table: Any) -> np.ndarray:
        second = model.predict_proba(table)[:, 0]
        return second if target == 1 else 1.0 - second

    return Setup(
        model=model,
        background=background,
        y=y,
        queries=queries,
        score=score,
        options={"target": target},
        predict=lambda table: model.predict(table) == target,
        reference=negative_row(rng, score, 0.5, background),
        rounding=1e-9,
    )


@recipe
def skorch_with_its_own_threshold(rng: Rng) -> Setup:
    import skorch
    import torch

    rows = numbers(rng, int(rng.integers(2, 5))).astype(np.float32)
    background, y, queries = split(rows, labels_of(rng, rows))
    threshold = float(rng.choice([0.5, 0.3, 0.7]))

    torch.manual_seed(int(rng.integers(1000)))
    net = skorch.NeuralNetBinaryClassifier(
        torch.nn.Sequential(torch.nn.Linear(rows.shape[1], 4), torch.nn.ReLU(), torch.nn.Linear(4, 1)),
        threshold=threshold,
        max_epochs=5,
        lr=0.2,
        verbose=0,
        train_split=None,
    )
    net.fit(background, y.astype(np.float32))
    return classifier(
        rng,
        net,
        background,
        y,
        queries,
        free_reference=False,
        vary_threshold=False,
        threshold=threshold,
        saves=False,
        **SINGLE,
    )
