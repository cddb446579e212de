"""Ways beyond the recipe to shorten SEV-: further steps in the surrogate, and trees grown for the whole loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor

from sev.training import _linear, _trees, losses
from sev.training._ensembles import ensemble_of
from sev.training._families import train
from sev.training._growing import grow_trees
from sev.training._settings import Family, settings_for
from sev.training._task import TrainingTask
from sev.training.losses import neighbours
from sev.typing import FloatArray, IntArray

#: What a step after the first weighs in comparison with it.
SECOND_WEIGHT = 0.5
#: Prefixes of the sorted features that the sorted surrogate looks at; each weighs as much as the first step.
N_SORTED = 4
#: Steps of the re-weighting after which the further neighbours are searched for again.
REFRESH = 20
#: A probability past which a neighbour is negative enough.
ENOUGH = 0.45


def tuned(base: Any, task: TrainingTask, family: Family, given: dict[str, Any], seed: int) -> Any:
    """The recipe as it is."""
    return train(base, task, settings_for(family, {"schedule": "recipe", **given}, seed)).estimator


def with_more_steps(
    base: Any, task: TrainingTask, family: Family, given: dict[str, Any], seed: int, *, is_sorted: bool
) -> Any:
    """The recipe with a term for the best second step, or for the first features in the order of their own effect."""
    with _more_steps(family, is_sorted):
        return tuned(base, task, family, given, seed)


@contextmanager
def _more_steps(family: Family, is_sorted: bool) -> Iterator[None]:
    name, cls = {
        "linear": ("sev.training._linear._LinearLoss", _LinearSteps),
        "network": ("sev.training.losses._sum.AllOptMinus", _NetworkSteps),
        "trees": ("sev.training._trees._WeightLoss", _TreeSteps),
    }[family]
    with patch(name, type(cls.__name__, (cls,), {"is_sorted": is_sorted})):
        yield


def _rest(logits: Tensor) -> Tensor:
    return torch.sigmoid(logits).clamp(min=ENOUGH) - ENOUGH


class _LinearSteps(_linear._LinearLoss):
    """A linear model: the best sets of two, three, ... features are those of the largest contributions."""

    is_sorted = False

    def _compute_sev(self, scored: _linear._Scored, weights: Tensor | None) -> Tensor:
        first = super()._compute_sev(scored, weights)
        rows, logits = scored.rows, scored.logits
        positive = torch.nonzero(logits.detach() >= 0.0)[:, 0]
        by_column = (rows[positive] - self._reference) * self.weights
        empty = by_column.new_zeros(len(positive), self._n_features)
        gains = empty.index_add(1, self._column_feature, by_column)[:, self._present]
        n_steps = min(N_SORTED if self.is_sorted else 2, gains.shape[1])
        sums = gains.topk(n_steps, dim=1).values.cumsum(1)[:, 1:]
        further = _rest(logits[positive, None] - sums).sum() / max(1, len(positive))
        return first + (1.0 if self.is_sorted else SECOND_WEIGHT) * further


class _NetworkSteps(losses.AllOptMinus):
    """A network: rows whose best neighbour is still positive go on from there."""

    is_sorted = False

    def forward(
        self,
        scores: Callable[[Tensor], Tensor],
        rows: Tensor,
        *,
        logits: Tensor | None = None,
        weights: Tensor | None = None,
        assigned: Tensor | None = None,
        hint: Tensor | None = None,
        sweep: bool = True,
    ) -> Tensor:
        assert weights is None
        assert assigned is None
        assert logits is not None
        assert hint is not None
        first = super().forward(scores, rows, logits=logits, hint=hint, sweep=sweep)
        with torch.no_grad():
            positive = torch.nonzero(logits >= 0.0)[:, 0]
            start = neighbours(rows[positive], self.reference, self.column_feature, hint[positive], plus=False)
            open_ = scores(start) >= 0.0
            further = self._sorted(scores, rows[positive][open_]) if self.is_sorted else self._two(scores, start[open_])
        if not len(further):
            return first
        weight = 1.0 if self.is_sorted else SECOND_WEIGHT
        value: Tensor = first + weight * _rest(scores(further)).sum() / len(positive)
        return value

    def _two(self, scores: Callable[[Tensor], Tensor], start: Tensor) -> Tensor:
        best = self._table(scores, start).argmin(dim=1)
        return neighbours(start, self.reference, self.column_feature, self.allowed[best], plus=False)

    def _sorted(self, scores: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
        order = self.allowed[self._table(scores, rows).argsort(dim=1)]
        found = []
        current = rows
        for step in range(min(N_SORTED, order.shape[1])):
            current = neighbours(current, self.reference, self.column_feature, order[:, step], plus=False)
            if step:
                found.append(current)
        return torch.cat(found)

    def _table(self, scores: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
        p = len(self.allowed)
        repeated = rows.repeat_interleave(p, dim=0)
        changed = neighbours(repeated, self.reference, self.column_feature, self.allowed.repeat(len(rows)), plus=False)
        return scores(changed).reshape(len(rows), p)


class _TreeSteps(_trees._WeightLoss):
    """Re-weighted trees: the further neighbours are searched for every few steps and kept in between."""

    is_sorted = False

    def __init__(self, tables: _trees.TreeTables, settings: Any) -> None:
        super().__init__(tables, settings)
        self._ensemble, self._task = tables.ensemble, tables.task
        self._further = torch.zeros(0, tables.ensemble.n_trees)
        self._n_positive = 1
        self._n_calls = 0

    def step(self, batch: Tensor | None, with_sev: bool) -> losses.LossParts:
        parts = super().step(batch, with_sev)
        if self._n_calls % REFRESH == 0:
            with torch.no_grad():
                self._search()
        self._n_calls += 1
        weight = self._settings.sev_penalty * (1.0 if self.is_sorted else SECOND_WEIGHT)
        extra = _rest(self._compute_logits(self._further)).sum() / self._n_positive
        return parts._replace(total=parts.total + weight * extra, sev=parts.sev + extra)

    def _search(self) -> None:
        """Rows two and more steps away, for those that one step does not turn."""
        task = self._task
        rows = task.rows[(self._compute_logits(self._tables.outputs) >= 0.0).numpy()]
        self._n_positive = max(1, len(rows))
        table = self._table(rows)
        order = np.argsort(table, axis=1)
        is_open = table.min(axis=1) >= 0.0
        rows, order = rows[is_open], order[is_open]
        if not len(rows):
            self._further = torch.zeros(0, self._ensemble.n_trees)
            return
        if self.is_sorted:
            found, current = [], rows
            for step in range(min(N_SORTED, order.shape[1])):
                current = self._set(current, task.present[order[:, step]])
                found.append(current)
            further = np.concatenate(found[1:])
        else:
            start = self._set(rows, task.present[order[:, 0]])
            further = self._set(start, task.present[self._table(start).argmin(axis=1)])
        self._further = torch.from_numpy(_trees.tree_outputs(self._ensemble, task, further))

    def _table(self, rows: FloatArray) -> FloatArray:
        every = [self._set(rows, np.full(len(rows), feature)) for feature in self._task.present.tolist()]
        outputs = [torch.from_numpy(_trees.tree_outputs(self._ensemble, self._task, one)) for one in every]
        scores = [self._compute_logits(one).numpy() for one in outputs]
        return np.stack(scores, axis=1)

    def _set(self, rows: FloatArray, feature: IntArray) -> FloatArray:
        return np.where(self._task.column_feature == feature[:, None], self._task.reference, rows)


# -- growing -----------------------------------------------------------------------------------------------------------


def grown(base: Any, task: TrainingTask, given: dict[str, Any], seed: int) -> Any:
    """An ensemble with more trees, not re-weighted."""
    ensemble: Any = ensemble_of(base)
    return ensemble.with_trees(grow_trees(ensemble, task, settings_for("trees", {"schedule": "recipe", **given}, seed)))


@contextmanager
def splitting_freely() -> Iterator[None]:
    """Let grown trees split anywhere, to show what that does."""
    with patch("sev.training._growing._Bins", _NoBins):
        yield


class _NoBins:
    def __init__(self, rows: FloatArray, reference: FloatArray) -> None:
        pass

    def transform(self, rows: FloatArray) -> Any:
        return rows.astype(np.float32)

    def to_values(self, tree: Any) -> None:
        pass
