"""Boosted trees: the output of each tree on each neighbour is computed once, after which the model is linear."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from sev.exceptions import ModelError, TrainingError
from sev.training import losses
from sev.training._ensembles import Ensemble, Growable, ensemble_of
from sev.training._growing import candidates, grow_trees
from sev.training._loop import minimise
from sev.training._penalty import SEVPenalty
from sev.training._settings import Settings
from sev.training._task import Trained, TrainingTask, positive_rate
from sev.typing import FloatArray, IntArray

#: Tree outputs kept for neighbours, about 240 MB; more rows than fit are sampled.
_MAX_OUTPUTS = 60_000_000
_ROWS_AT_ONCE = 50_000


def train_trees(base: Any, task: TrainingTask, settings: Settings) -> Trained:
    """Tune the weights of a fitted ensemble's trees, after growing more if the settings say so."""
    ensemble = ensemble_of(base)
    if ensemble.n_trees == 0:
        raise TrainingError(
            f"This {type(base).__name__} has no trees, so there are no weights to tune: fit it with at least one tree "
            "(n_estimators=1 or more)."
        )
    n_own = ensemble.n_trees
    if settings.grow:
        if not isinstance(ensemble, Growable):
            raise ModelError(
                f"grow={settings.grow} adds trees to scikit-learn's GradientBoostingClassifier, not to "
                f"{type(base).__name__}: leave grow out, or take that class as the base model."
            )
        ensemble = ensemble_of(ensemble.with_trees(grow_trees(ensemble, task, settings)))
    model = _WeightLoss(ensemble, n_own, task, settings)
    history = minimise([model.weights, model.bias], model.step, len(task.rows), settings)
    weights = model.weights.detach().numpy().astype(np.float64)
    return Trained(ensemble.reweighted(weights, float(model.bias.detach())), history)


class _WeightLoss:
    """The loss of a re-weighted ensemble, which is held to its first ``n_own`` trees: they are the base model."""

    def __init__(self, ensemble: Ensemble, n_own: int, task: TrainingTask, settings: Settings) -> None:
        outputs = _outputs(ensemble, task.rows)
        logits = outputs[:, :n_own].sum(axis=1, dtype=np.float64) + ensemble.offset
        self._rate = positive_rate(logits)
        self._outputs = torch.from_numpy(outputs)
        self._reference = torch.from_numpy(_outputs(ensemble, task.reference[None])[0])
        targets = 1.0 / (1.0 + np.exp(-logits)) if settings.schedule.distil else task.labels
        self._targets = torch.from_numpy(targets.astype(np.float32))
        self._offset = float(ensemble.offset)
        self._settings = settings
        self._penalty = SEVPenalty(settings, len(task.rows))
        self.weights = torch.ones(ensemble.n_trees, requires_grad=True)
        self.bias = torch.zeros((), requires_grad=True)
        kinds = {"plus": [True], "minus": [False], "both": [True, False]}[settings.objective]
        room = _MAX_OUTPUTS // (len(task.present) * ensemble.n_trees * len(kinds))
        self._candidates = torch.from_numpy(candidates(logits, max(1, room), settings.seed))
        self._place = torch.full((len(logits),), -1)
        self._place[self._candidates] = torch.arange(len(self._candidates))
        chosen = task.rows[self._candidates.numpy()]
        self._neighbours = [(plus, _Neighbours(ensemble, task, chosen, plus=plus)) for plus in kinds]

    def step(self, batch: Tensor | None, with_sev: bool) -> losses.LossParts:
        """Loss of a batch."""
        settings = self._settings
        outputs = self._outputs if batch is None else self._outputs[batch]
        targets = self._targets if batch is None else self._targets[batch]
        logits = self._logits(outputs)
        fit = binary_cross_entropy_with_logits(logits, targets)
        zero = torch.zeros(())
        if not with_sev:
            return losses.LossParts.of_fit(fit)
        positive = logits.detach() >= 0.0
        rows = torch.nonzero(positive)[:, 0] if batch is None else batch[positive]
        places = self._place[rows]
        places = places[places >= 0]
        sev = zero
        for plus, neighbours in self._neighbours:
            best = self._logits(neighbours.best(places, self.weights.detach()))
            function = losses.all_opt_plus if plus else losses.all_opt_minus
            sev = sev + function(best[:, None], margin=settings.margin)
        reference = losses.reference_term(self._logits(self._reference[None]), margin=settings.reference_margin)
        rate = losses.rate_guard(logits, self._rate) if settings.rate_penalty else zero
        weight = self._penalty.weight
        self._penalty.see(fit, targets)
        weights = weight, settings.reference_penalty, settings.rate_penalty
        return losses.LossParts.weighted(fit, sev, reference, rate, weights=weights)

    def _logits(self, outputs: Tensor) -> Tensor:
        return outputs @ self.weights + self.bias + self._offset


class _Neighbours:
    """Tree outputs on the one-step neighbours of some rows.

    Neighbours that are the same row, as most are for SEV+ and columns with few values, are kept once.
    """

    def __init__(self, ensemble: Ensemble, task: TrainingTask, rows: FloatArray, *, plus: bool) -> None:
        tables: list[FloatArray] = []
        places: list[IntArray] = []
        start = 0
        for feature in task.present.tolist():
            mine = task.column_feature == feature
            changed = np.where(mine, rows, task.reference) if plus else np.where(mine, task.reference, rows)
            distinct, place = np.unique(changed, axis=0, return_inverse=True)
            tables.append(_outputs(ensemble, distinct))
            places.append(start + place.ravel())
            start += len(distinct)
        self._table = torch.from_numpy(np.concatenate(tables))
        self._index = torch.from_numpy(np.stack(places, axis=1))
        self._plus = plus

    def best(self, rows: Tensor, weights: Tensor) -> Tensor:
        """Outputs, shape (n_rows, n_trees), on the best neighbour of each row under some weights."""
        index = self._index[rows]
        scores = (self._table @ weights)[index]
        best = scores.argmax(dim=1) if self._plus else scores.argmin(dim=1)
        return self._table[index.gather(1, best[:, None])[:, 0]]


def _outputs(ensemble: Ensemble, rows: FloatArray) -> Any:
    parts = [ensemble.outputs(rows[k : k + _ROWS_AT_ONCE]) for k in range(0, len(rows), _ROWS_AT_ONCE)]
    return np.concatenate([part.astype(np.float32) for part in parts])
