"""Linear models: all one-step neighbours at once, from the contribution of each feature."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from sev.training import losses
from sev.training._loop import minimise
from sev.training._penalty import SEVPenalty
from sev.training._settings import Settings
from sev.training._task import Trained, TrainingTask, positive_rate
from sev.typing import FloatArray


def train_linear(base: Any, task: TrainingTask, settings: Settings) -> Trained:
    """Tune a fitted linear classifier with ``coef_`` and ``intercept_``.

    Columns of numbers are brought to mean 0 and variance 1 meanwhile, so that one learning rate suits all; the model
    that comes back takes the columns as they were.
    """
    centre, spread = _scaling(task.rows)
    coefficients = np.ravel(base.coef_).astype(np.float64)
    intercept = float(np.ravel(base.intercept_)[0])
    model = _LinearLoss(task, settings, centre, spread)
    scaled = coefficients * np.where(np.isfinite(spread), spread, 0.0)
    model.start(scaled, intercept + float(coefficients @ centre), settings)
    history = minimise([model.weights, model.bias], model.step, len(task.rows), settings)
    new = model.weights.detach().numpy() / spread
    # what a constant column adds stays as it was
    new = np.where(np.isfinite(spread), new, coefficients)
    tuned = deepcopy(base)
    tuned.coef_ = new[None, :]
    tuned.intercept_ = np.array([float(model.bias.detach()) - float(new @ centre)])
    return Trained(tuned, history)


def _scaling(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What to subtract from each column and divide it by; infinity for columns that tell nothing."""
    centre, spread = rows.mean(axis=0), rows.std(axis=0)
    constant = spread <= 1e-12 * np.maximum(1.0, np.abs(centre))
    # a rare category has a tiny variance: scaled by it, one step of Adam would be a leap
    indicator = ((rows == 0.0) | (rows == 1.0)).all(axis=0)
    centre[indicator], spread[indicator] = 0.0, 1.0
    spread[constant] = np.inf
    return centre, spread


class _LinearLoss:
    """The loss of a linear model on standardised columns."""

    def __init__(self, task: TrainingTask, settings: Settings, centre: FloatArray, spread: FloatArray) -> None:
        self._rows = torch.from_numpy((task.rows - centre) / spread)
        self._reference = torch.from_numpy((task.reference - centre) / spread)
        self._column_feature = torch.from_numpy(task.column_feature)
        self._present = torch.from_numpy(task.present)
        self._n_features = len(task.allowed)
        self._targets = torch.from_numpy(task.labels.astype(np.float64))
        self._varying = torch.from_numpy(np.flatnonzero(np.isfinite(spread)))
        self._settings = settings
        self._penalty = SEVPenalty(settings, len(task.rows))
        self._rate = 0.0

    def start(self, weights: FloatArray, bias: float, settings: Settings) -> None:
        """Begin at the base model, or at random."""
        base = self._rows.numpy() @ weights + bias
        self._rate = positive_rate(base)
        if settings.schedule.distil:
            self._targets = torch.sigmoid(torch.from_numpy(base))
        if not settings.schedule.from_base:
            generator = torch.Generator().manual_seed(settings.seed)
            bound = 1.0 / np.sqrt(max(1, len(weights)))
            random = torch.rand(len(weights) + 1, generator=generator, dtype=torch.float64) * 2.0 * bound - bound
            weights, bias = random[:-1].numpy(), float(random[-1])
        if settings.objective == "volume":
            # the logarithm draws the reference to the threshold only from nearby: begin there
            near = 0.5 - settings.reference_margin
            bias = float(np.log(near / (1.0 - near)) - self._reference.numpy() @ weights)
        self.weights = torch.tensor(weights, dtype=torch.float64, requires_grad=True)
        self.bias = torch.tensor(bias, dtype=torch.float64, requires_grad=True)

    def step(self, batch: Tensor | None, with_sev: bool) -> losses.LossParts:
        """Loss of a batch."""
        settings = self._settings
        rows = self._rows if batch is None else self._rows[batch]
        targets = self._targets if batch is None else self._targets[batch]
        logits = rows @ self.weights + self.bias
        fit = binary_cross_entropy_with_logits(logits, targets)
        zero = torch.zeros((), dtype=torch.float64)
        if not with_sev:
            return losses.LossParts.of_fit(fit)
        reference_logit = self._reference @ self.weights + self.bias
        sev = self._sev(rows, logits, reference_logit)
        reference = losses.reference_term(reference_logit, margin=settings.reference_margin)
        rate = losses.rate_guard(logits, self._rate) if settings.rate_penalty else zero
        weight = self._penalty.weight
        self._penalty.see(fit, targets)
        weights = weight, settings.reference_penalty, settings.rate_penalty
        return losses.LossParts.weighted(fit, sev, reference, rate, weights=weights)

    def _sev(self, rows: Tensor, logits: Tensor, reference_logit: Tensor) -> Tensor:
        objective, margin = self._settings.objective, self._settings.margin
        if objective == "volume":
            return losses.vol_opt(self.weights[self._varying], reference_logit)
        positive = torch.nonzero(logits.detach() >= 0.0)[:, 0]
        by_column = (rows[positive] - self._reference) * self.weights
        empty = by_column.new_zeros(len(positive), self._n_features)
        gains = empty.index_add(1, self._column_feature, by_column)[:, self._present]
        total = torch.zeros((), dtype=torch.float64)
        if objective in ("plus", "both"):
            total = total + losses.all_opt_plus(reference_logit + gains, margin=margin)
        if objective in ("minus", "both"):
            total = total + losses.all_opt_minus(logits[positive, None] - gains, margin=margin)
        return total
