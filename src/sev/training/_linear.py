"""Linear models: all one-step neighbours at once, from the contribution of each feature."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from sev.training import losses
from sev.training._loop import minimise
from sev.training._penalty import SEVPenalty
from sev.training._rate import final_shift
from sev.training._settings import Settings
from sev.training._task import Trained, TrainingTask, positive_rate
from sev.typing import FloatArray

if TYPE_CHECKING:
    from sklearn.linear_model._base import LinearClassifierMixin


class LinearTrainer:
    """Tunes a fitted linear classifier with ``coef_`` and ``intercept_``.

    Columns of numbers are brought to mean 0 and variance 1 meanwhile, so that one learning rate suits all; the model
    that comes back takes the columns as they were.
    """

    def __init__(self, base: LinearClassifierMixin, task: TrainingTask) -> None:
        self._base = base
        self._task = task
        self._centre, self._spread = scaling_of(task.rows)
        self._coefficients = np.ravel(base.coef_).astype(np.float64)
        intercept = float(np.ravel(base.intercept_)[0])
        self.rows = torch.from_numpy((task.rows - self._centre) / self._spread)
        self.reference = torch.from_numpy((task.reference - self._centre) / self._spread)
        self.start = self._coefficients * np.where(np.isfinite(self._spread), self._spread, 0.0)
        self.start_bias = intercept + float(self._coefficients @ self._centre)
        self.logits = self.rows.numpy() @ self.start + self.start_bias
        self.rate = positive_rate(self.logits, task.weights)
        self.varying = torch.from_numpy(np.flatnonzero(np.isfinite(self._spread)))

    @property
    def task(self) -> TrainingTask:
        """The rows."""
        return self._task

    def train(self, settings: Settings) -> Trained:
        """Tune a copy of the estimator."""
        model = _LinearLoss(self, settings)
        history = minimise([model.weights, model.bias], model.step, len(self.rows), settings)
        weights, bias = model.weights.detach().numpy(), float(model.bias.detach())
        bias += final_shift(
            settings,
            self.rows.numpy() @ weights + bias,
            self.rate,
            reference_logit=self._task.guarded_logit(self.reference.numpy() @ weights) + bias,
            weights=self._task.weights,
        )
        # what a constant column adds stays as it was
        new = np.where(np.isfinite(self._spread), weights / self._spread, self._coefficients)
        tuned = deepcopy(self._base)
        tuned.coef_ = new[None, :]
        tuned.intercept_ = np.array([bias - float(new @ self._centre)])
        return Trained(tuned, history)


def scaling_of(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What to subtract from each column and divide it by; infinity for columns that tell nothing."""
    centre, spread = rows.mean(axis=0), rows.std(axis=0)
    constant = spread <= 1e-12 * np.maximum(1.0, np.abs(centre))
    # a rare category has a tiny variance: scaled by it, one step of Adam would be a leap
    indicator = ((rows == 0.0) | (rows == 1.0)).all(axis=0)
    centre[indicator], spread[indicator] = 0.0, 1.0
    spread[constant] = np.inf
    return centre, spread


class _Scored(NamedTuple):
    """Rows of a batch and their logits; the logit of the reference, or those of each row's, and which these are."""

    rows: Tensor
    logits: Tensor
    reference_logit: Tensor
    assigned: Tensor | None


class _LinearLoss:
    """The loss of a linear model on standardised columns."""

    def __init__(self, problem: LinearTrainer, settings: Settings) -> None:
        task = problem.task
        self._rows = problem.rows
        self._reference = problem.reference
        self._assigned = None if task.assigned is None else torch.from_numpy(task.assigned)
        self._varying = problem.varying
        self._column_feature = torch.from_numpy(task.column_feature)
        self._present = torch.from_numpy(task.present)
        self._n_features = len(task.allowed)
        base = torch.from_numpy(problem.logits)
        self._targets = torch.sigmoid(base) if settings.schedule.distil else torch.from_numpy(task.labels)
        self._decisions = (base >= 0.0).to(torch.float64)
        self._row_weights = None if task.weights is None else torch.from_numpy(task.weights)
        self._settings = settings
        self._formula = settings.formula(problem.rate)
        self._penalty = SEVPenalty(settings, len(task.rows))
        weights, bias = self._choose_start(problem)
        self.weights = torch.tensor(weights, dtype=torch.float64, requires_grad=True)
        self.bias = torch.tensor(bias, dtype=torch.float64, requires_grad=True)

    def _choose_start(self, problem: LinearTrainer) -> tuple[FloatArray, float]:
        """Weights of the base model, or random ones."""
        settings = self._settings
        weights, bias = problem.start, problem.start_bias
        if not settings.schedule.from_base:
            generator = torch.Generator().manual_seed(settings.seed)
            bound = 1.0 / np.sqrt(max(1, len(weights)))
            random = torch.rand(len(weights) + 1, generator=generator, dtype=torch.float64) * 2.0 * bound - bound
            weights, bias = random[:-1].numpy(), float(random[-1])
        if settings.objective == "volume":
            # the logarithm draws the reference to the threshold only from nearby: begin there
            near = 0.5 - settings.reference_margin
            bias = float(np.log(near / (1.0 - near)) - self._reference.numpy() @ weights)
        return weights, bias

    def step(self, batch: Tensor | None, with_sev: bool) -> losses.LossParts:
        """Loss of a batch."""
        rows = self._rows if batch is None else self._rows[batch]
        logits = rows @ self.weights + self.bias
        seen = losses.Batch.of(logits, batch, self._targets, self._row_weights, self._decisions)
        if not with_sev:
            return losses.LossParts.of_fit(self._formula.fit_term(seen))
        reference_logit = self._reference @ self.weights + self.bias
        assigned = self._assigned if batch is None or self._assigned is None else self._assigned[batch]
        if assigned is not None:
            reference_logit = reference_logit[assigned]
        sev = self._compute_sev(_Scored(rows, logits, reference_logit, assigned), seen.weights)
        parts = self._formula.combine(seen, sev, reference_logit, sev_penalty=self._penalty.weight)
        self._penalty.see(parts.fit, seen.targets, seen.weights)
        return parts

    def _compute_sev(self, scored: _Scored, weights: Tensor | None) -> Tensor:
        objective = self._settings.objective
        if objective == "volume":
            return losses.vol_opt(self.weights[self._varying], scored.reference_logit)
        positive = torch.nonzero(scored.logits.detach() >= 0.0)[:, 0]
        logits, reference_logit = scored.logits[positive, None], scored.reference_logit
        if scored.assigned is None:
            gains = self._compute_gains(scored.rows[positive] - self._reference)
        else:
            # one block of neighbours for each candidate reference
            others = self._reference[scored.assigned[positive]]
            gains = self._compute_gains((scored.rows[positive, None] - others).flatten(0, 1)).reshape(len(positive), -1)
            reference_logit = reference_logit[positive].repeat_interleave(len(self._present), dim=1)
        mine = None if weights is None else weights[positive]
        total = torch.zeros((), dtype=torch.float64)
        if objective in ("plus", "both"):
            total = total + self._formula.sev_term(reference_logit + gains, plus=True, weights=mine)
        if objective in ("minus", "both"):
            total = total + self._formula.sev_term(logits - gains, plus=False, weights=mine)
        return total

    def _compute_gains(self, differences: Tensor) -> Tensor:
        """What each feature adds to the logit, from the difference between rows and their references."""
        by_column = differences * self.weights
        empty = by_column.new_zeros(len(by_column), self._n_features)
        return empty.index_add(1, self._column_feature, by_column)[:, self._present]
