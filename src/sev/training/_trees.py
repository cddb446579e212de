"""Boosted trees: the output of each tree on each neighbour is computed once, after which the model is linear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from sev.exceptions import ModelError, TrainingError
from sev.training import losses
from sev.training._ensembles import Ensemble, Growable, ensemble_of
from sev.training._growing import candidates, grow_trees, neighbour_kinds
from sev.training._loop import minimise
from sev.training._penalty import SEVPenalty
from sev.training._rate import final_shift
from sev.training._settings import Settings
from sev.training._task import Trained, TrainingTask, positive_rate
from sev.typing import FloatArray, IntArray, Objective

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


#: Tree outputs kept for neighbours, about 240 MB; more rows than fit are sampled.
_MAX_OUTPUTS = 60_000_000
_ROWS_AT_ONCE = 50_000


class TreeTrainer:
    """Tunes the weights of a fitted ensemble's trees, after growing more if the settings say so."""

    def __init__(self, base: BaseEstimator, task: TrainingTask) -> None:
        self._base = base
        self._task = task
        self._ensemble = ensemble_of(base)
        if self._ensemble.n_trees == 0:
            raise TrainingError(
                f"This {type(base).__name__} has no trees, so there are no weights to tune: fit it with at least one "
                "tree (n_estimators=1 or more)."
            )
        #: Tables of the ensemble as it is, by objective and seed: penalties share them.
        self._tables: dict[tuple[Objective, int], TreeTables] = {}

    def train(self, settings: Settings) -> Trained:
        """Tune a copy of the estimator."""
        tables = self._grow_tables(settings) if settings.grow else self._make_shared_tables(settings)
        model = _WeightLoss(tables, settings)
        history = minimise([model.weights, model.bias], model.step, len(self._task.rows), settings)
        weights, bias = model.weights.detach(), float(model.bias.detach())
        bias += tables.final_shift(settings, weights, bias)
        return Trained(tables.ensemble.reweighted(weights.numpy().astype(np.float64), bias), history)

    def _make_shared_tables(self, settings: Settings) -> TreeTables:
        key = settings.objective, settings.seed
        if key not in self._tables:
            self._tables[key] = TreeTables(self._ensemble, self._ensemble.n_trees, self._task, *key)
        return self._tables[key]

    def _grow_tables(self, settings: Settings) -> TreeTables:
        if not isinstance(self._ensemble, Growable):
            raise ModelError(
                f"grow={settings.grow} adds trees to scikit-learn's GradientBoostingClassifier, not to "
                f"{type(self._base).__name__}: leave grow out, or take that class as the base model."
            )
        longer = self._ensemble.with_trees(grow_trees(self._ensemble, self._task, settings))
        key = settings.objective, settings.seed
        return TreeTables(ensemble_of(longer), self._ensemble.n_trees, self._task, *key)


class TreeTables:
    """Outputs of an ensemble's trees on rows, neighbours and the reference.

    Parameters
    ----------
    ensemble : Ensemble
        Trees.
    n_own : int
        The first so many are the base model, whose probabilities and decisions are kept.
    task : TrainingTask
        Rows.
    objective : str
        Whose neighbours are needed.
    seed : int
        Of the sample of rows, where not all fit in memory.
    """

    def __init__(self, ensemble: Ensemble, n_own: int, task: TrainingTask, objective: Objective, seed: int) -> None:
        self.ensemble = ensemble
        self.task = task
        outputs = tree_outputs(ensemble, task, task.rows)
        self.logits = outputs[:, :n_own].sum(axis=1, dtype=np.float64) + ensemble.offset
        self.rate = positive_rate(self.logits, task.weights)
        self.outputs = torch.from_numpy(outputs)
        self.references = torch.from_numpy(tree_outputs(ensemble, task, task.references))
        kinds = neighbour_kinds(objective)
        most_rows = _MAX_OUTPUTS // (len(task.present) * task.n_candidates * ensemble.n_trees * len(kinds))
        chosen = candidates(self.logits, max(1, most_rows), seed)
        #: The place of each row among those with neighbours, -1 for none.
        self.place = torch.full((len(self.logits),), -1)
        self.place[torch.from_numpy(chosen)] = torch.arange(len(chosen))
        self.neighbours = [(plus, _Neighbours(ensemble, task, chosen, plus=plus)) for plus in kinds]

    def final_shift(self, settings: Settings, weights: Tensor, bias: float) -> float:
        """What to add to the bias at the end to keep the share of positive rows."""
        offset = bias + float(self.ensemble.offset)
        return final_shift(
            settings,
            (self.outputs @ weights).numpy().astype(np.float64) + offset,
            self.rate,
            reference_logit=self.task.guarded_logit((self.references.squeeze(0) @ weights).numpy()) + offset,
            weights=self.task.weights,
        )


class _WeightLoss:
    """The loss of a re-weighted ensemble."""

    def __init__(self, tables: TreeTables, settings: Settings) -> None:
        task = tables.task
        self._tables = tables
        targets = 1.0 / (1.0 + np.exp(-tables.logits)) if settings.schedule.distil else task.labels
        self._targets = torch.from_numpy(targets.astype(np.float32))
        self._decisions = torch.from_numpy((tables.logits >= 0.0).astype(np.float32))
        self._row_weights = None if task.weights is None else torch.from_numpy(task.weights.astype(np.float32))
        self._assigned = None if task.assigned is None else torch.from_numpy(task.assigned)
        self._offset = float(tables.ensemble.offset)
        self._settings = settings
        self._formula = settings.formula(tables.rate)
        self._penalty = SEVPenalty(settings, len(task.rows))
        self.weights = torch.ones(tables.ensemble.n_trees, requires_grad=True)
        self.bias = torch.zeros((), requires_grad=True)

    def step(self, batch: Tensor | None, with_sev: bool) -> losses.LossParts:
        """Loss of a batch."""
        outputs = self._tables.outputs if batch is None else self._tables.outputs[batch]
        logits = self._compute_logits(outputs)
        seen = losses.Batch.of(logits, batch, self._targets, self._row_weights, self._decisions)
        if not with_sev:
            return losses.LossParts.of_fit(self._formula.fit_term(seen))
        positive = logits.detach() >= 0.0
        rows = torch.nonzero(positive)[:, 0] if batch is None else batch[positive]
        rows = rows[self._tables.place[rows] >= 0]
        weights = None if self._row_weights is None else self._row_weights[rows]
        sev = []
        for plus, neighbours in self._tables.neighbours:
            best = self._compute_logits(neighbours.best_outputs(self._tables.place[rows], self.weights.detach()))
            sev.append(self._formula.sev_term(best[:, None], plus=plus, weights=weights))
        reference_logit = self._compute_logits(self._tables.references)
        if self._assigned is not None:
            reference_logit = reference_logit[self._assigned if batch is None else self._assigned[batch]]
        parts = self._formula.combine(seen, sev, reference_logit, sev_penalty=self._penalty.weight)
        self._penalty.see(parts.fit, seen.targets, seen.weights)
        return parts

    def _compute_logits(self, outputs: Tensor) -> Tensor:
        return outputs @ self.weights + self.bias + self._offset


class _Neighbours:
    """Tree outputs on the one-step neighbours of some rows.

    Neighbours that are the same row, as most are for SEV+ and columns with few values, are kept once.
    """

    def __init__(self, ensemble: Ensemble, task: TrainingTask, rows: IntArray, *, plus: bool) -> None:
        tables: list[FloatArray] = []
        places: list[IntArray] = []
        start = 0
        for changed in task.one_step(rows, plus=plus):
            distinct, place = np.unique(changed, axis=0, return_inverse=True)
            tables.append(tree_outputs(ensemble, task, distinct))
            places.append(start + place.ravel())
            start += len(distinct)
        self._table = torch.from_numpy(np.concatenate(tables))
        self._index = torch.from_numpy(np.stack(places, axis=1))
        self._plus = plus

    def best_outputs(self, rows: Tensor, weights: Tensor) -> Tensor:
        """Outputs, shape (n_rows, n_trees), on the best neighbour of each row under some weights."""
        index = self._index[rows]
        scores = (self._table @ weights)[index]
        best = scores.argmax(dim=1) if self._plus else scores.argmin(dim=1)
        return self._table[index.gather(1, best[:, None])[:, 0]]


def tree_outputs(ensemble: Ensemble, task: TrainingTask, rows: FloatArray) -> np.ndarray:
    """Output of each tree on each encoded row, in single precision."""
    parts = [task.to_native(rows[k : k + _ROWS_AT_ONCE]) for k in range(0, len(rows), _ROWS_AT_ONCE)]
    return np.concatenate([ensemble.outputs(part).astype(np.float32) for part in parts])
