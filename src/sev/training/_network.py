"""Multi-layer perceptrons: tuned in torch, handed back as the scikit-learn model they came from."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from sev.training import losses
from sev.training._loop import minimise
from sev.training._penalty import SEVPenalty
from sev.training._settings import Settings
from sev.training._task import Trained, TrainingTask, positive_rate

_ACTIVATIONS: dict[str, type[nn.Module]] = {
    "identity": nn.Identity,
    "logistic": nn.Sigmoid,
    "relu": nn.ReLU,
    "tanh": nn.Tanh,
}


def train_network(base: Any, task: TrainingTask, settings: Settings) -> Trained:
    """Tune a fitted binary ``MLPClassifier``."""
    module = as_module(base, settings)
    rows = torch.from_numpy(task.rows.astype(np.float32))
    with torch.no_grad():
        logits = as_module(base)(rows)
    rate = positive_rate(logits.numpy())
    targets = torch.sigmoid(logits) if settings.schedule.distil else torch.from_numpy(task.labels.astype(np.float32))
    loss = losses.SEVLoss(
        task.reference.astype(np.float32),
        task.column_feature,
        objective=settings.objective,
        restricted=task.restricted.tolist(),
        rate=rate if settings.rate_penalty else None,
        sev_penalty=settings.sev_penalty,
        reference_penalty=settings.reference_penalty,
        rate_penalty=settings.rate_penalty,
        margin=settings.margin,
        reference_margin=settings.reference_margin,
    )
    penalty = SEVPenalty(settings, len(rows))
    memory = tuple(torch.full((len(rows),), -1) for _ in loss.sev_terms)
    visits = torch.zeros(len(rows), dtype=torch.int64)

    def step(batch: Tensor | None, with_sev: bool) -> losses.LossParts:
        chosen = torch.arange(len(rows)) if batch is None else batch
        if not with_sev:
            fit = binary_cross_entropy_with_logits(module(rows[chosen]), targets[chosen])
            return losses.LossParts.of_fit(fit)
        hints = tuple(one[chosen] for one in memory)
        # all neighbours are looked at in every second pass, which halves the price and is as good
        sweep = int(visits[chosen[0]]) % 2 == 0
        visits[chosen] += 1
        loss.sev_penalty = penalty.weight
        parts: losses.LossParts = loss(module, rows[chosen], targets[chosen], hints=hints, sweep=sweep)
        penalty.see(parts.fit, targets[chosen])
        for one, hint in zip(memory, hints, strict=True):
            one[chosen] = hint
        return parts

    history = minimise(module.parameters(), step, len(rows), settings)
    return Trained(_with_weights(base, module), history)


def as_module(model: Any, settings: Settings | None = None) -> nn.Sequential:
    """A fitted ``MLPClassifier`` as a module from rows to logits; with settings that say so, at random weights."""
    layers: list[nn.Module] = []
    generator = None
    if settings is not None and not settings.schedule.from_base:
        generator = torch.Generator().manual_seed(settings.seed)
    for number, (weight, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        if number:
            layers.append(_ACTIVATIONS[model.activation]())
        layers.append(_layer(weight, bias, generator))
    return nn.Sequential(*layers, nn.Flatten(0))


def _layer(weight: Any, bias: Any, generator: torch.Generator | None) -> nn.Linear:
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


def _with_weights(base: Any, module: nn.Sequential) -> Any:
    tuned = deepcopy(base)
    dtype = base.coefs_[0].dtype
    linear = [layer for layer in module if isinstance(layer, nn.Linear)]
    tuned.coefs_ = [np.ascontiguousarray(layer.weight.detach().numpy().T, dtype=dtype) for layer in linear]
    tuned.intercepts_ = [layer.bias.detach().numpy().astype(dtype) for layer in linear]
    return tuned
