"""Multi-layer perceptrons: tuned in torch, handed back as the scikit-learn model they came from."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from sev.training import losses
from sev.training._loop import minimise
from sev.training._penalty import SEVPenalty
from sev.training._rate import final_shift
from sev.training._settings import Settings
from sev.training._task import Trained, TrainingTask, positive_rate
from sev.typing import FloatArray

if TYPE_CHECKING:
    from sklearn.neural_network import MLPClassifier


_ACTIVATIONS: dict[str, type[nn.Module]] = {
    "identity": nn.Identity,
    "logistic": nn.Sigmoid,
    "relu": nn.ReLU,
    "tanh": nn.Tanh,
}


class NetworkTrainer:
    """Tunes a fitted binary ``MLPClassifier``."""

    def __init__(self, base: MLPClassifier, task: TrainingTask) -> None:
        self._base = base
        self._task = task
        self.rows = torch.from_numpy(task.rows.astype(np.float32))
        with torch.no_grad():
            self.logits = as_module(base)(self.rows)
        self.rate = positive_rate(self.logits.numpy(), task.weights)
        self.weights = None if task.weights is None else torch.from_numpy(task.weights.astype(np.float32))

    @property
    def task(self) -> TrainingTask:
        """The rows."""
        return self._task

    def train(self, settings: Settings) -> Trained:
        """Tune a copy of the estimator."""
        module = as_module(self._base, settings)
        history = minimise(module.parameters(), _NetworkLoss(self, module, settings).step, len(self.rows), settings)
        self._shift_bias(module, settings)
        return Trained(_with_weights(self._base, module), history)

    def _shift_bias(self, module: nn.Sequential, settings: Settings) -> None:
        references = torch.from_numpy(self._task.references.astype(np.float32))
        last = [layer for layer in module if isinstance(layer, nn.Linear)][-1]
        with torch.no_grad():
            shift = final_shift(
                settings,
                module(self.rows).numpy().astype(np.float64),
                self.rate,
                reference_logit=self._task.guarded_logit(module(references).numpy()),
                weights=self._task.weights,
            )
            last.bias.add_(shift)


class _NetworkLoss:
    """The loss of a module on batches, with what was the best neighbour of each row when it was last seen."""

    def __init__(self, problem: NetworkTrainer, module: nn.Sequential, settings: Settings) -> None:
        task = problem.task
        self._module = module
        self._rows = problem.rows
        labels = torch.from_numpy(task.labels.astype(np.float32))
        self._targets = torch.sigmoid(problem.logits) if settings.schedule.distil else labels
        self._weights = problem.weights
        self._assigned = None if task.assigned is None else torch.from_numpy(task.assigned)
        self._decisions = (problem.logits >= 0.0).to(torch.float32)
        self._loss = losses.SEVLoss(
            task.reference.astype(np.float32),
            task.column_feature,
            objective=settings.objective,
            restricted=task.restricted.tolist(),
            rate=problem.rate,
            sev_penalty=settings.sev_penalty,
            reference_penalty=settings.reference_penalty,
            rate_penalty=settings.rate_penalty,
            margin=settings.margin,
            reference_margin=settings.reference_margin,
        )
        self._penalty = SEVPenalty(settings, len(self._rows))
        self._hints = tuple(torch.full((len(self._rows),), -1) for _ in self._loss.sev_terms)
        self._visits = torch.zeros(len(self._rows), dtype=torch.int64)

    def step(self, batch: Tensor | None, with_sev: bool) -> losses.LossParts:
        """Loss of a batch."""
        chosen = torch.arange(len(self._rows)) if batch is None else batch
        rows, targets = self._rows[chosen], self._targets[chosen]
        weights = None if self._weights is None else self._weights[chosen]
        if not with_sev:
            fit = self._loss.formula.fit_term(losses.Batch(self._module(rows), targets, weights))
            return losses.LossParts.of_fit(fit)
        hints = tuple(one[chosen] for one in self._hints)
        # all neighbours are looked at in every second pass, which halves the price and is as good
        sweep = int(self._visits[chosen[0]]) % 2 == 0
        self._visits[chosen] += 1
        self._loss.sev_penalty = self._penalty.weight
        assigned = None if self._assigned is None else self._assigned[chosen]
        known = {"weights": weights, "decisions": self._decisions[chosen], "assigned": assigned}
        parts: losses.LossParts = self._loss(self._module, rows, targets, hints=hints, sweep=sweep, **known)
        self._penalty.see(parts.fit, targets, weights)
        for one, hint in zip(self._hints, hints, strict=True):
            one[chosen] = hint
        return parts


def as_module(model: MLPClassifier, settings: Settings | None = None) -> nn.Sequential:
    """A fitted ``MLPClassifier`` as a module from rows to logits; with settings that say so, at random weights."""
    layers: list[nn.Module] = []
    generator = None
    if settings is not None and not settings.schedule.from_base:
        generator = torch.Generator().manual_seed(settings.seed)
    for number, (weight, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        if number:
            layers.append(_ACTIVATIONS[model.activation]())
        layers.append(_make_layer(weight, bias, generator))
    return nn.Sequential(*layers, nn.Flatten(0))


def _make_layer(weight: FloatArray, bias: FloatArray, generator: torch.Generator | None) -> nn.Linear:
    # without the default initialisation, which would use up the user's random numbers
    layer = nn.Linear(weight.shape[0], weight.shape[1], device="meta").to_empty(device="cpu")
    with torch.no_grad():
        if generator is None:
            layer.weight.copy_(torch.from_numpy(np.ascontiguousarray(weight.T)))
            layer.bias.copy_(torch.from_numpy(np.asarray(bias)))
        else:
            bound = 1.0 / float(np.sqrt(weight.shape[0]))
            layer.weight.uniform_(-bound, bound, generator=generator)
            layer.bias.uniform_(-bound, bound, generator=generator)
    return layer


def _with_weights(base: MLPClassifier, module: nn.Sequential) -> MLPClassifier:
    tuned = deepcopy(base)
    dtype = base.coefs_[0].dtype
    linear = [layer for layer in module if isinstance(layer, nn.Linear)]
    tuned.coefs_ = [np.ascontiguousarray(layer.weight.detach().numpy().T, dtype=dtype) for layer in linear]
    tuned.intercepts_ = [layer.bias.detach().numpy().astype(dtype) for layer in linear]
    return tuned
