"""Boosted trees: more of them, each fitted to the gradient of the whole loss."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.tree import DecisionTreeRegressor
from torch import Tensor

from sev.training._ensembles import Ensemble
from sev.training._progress import progress_bar
from sev.training._settings import Settings
from sev.training._task import TrainingTask, positive_rate
from sev.training.losses import Batch, LossFormula
from sev.typing import FloatArray, IntArray

#: Share of the rows that must lie between the reference and a split; see ``_Bins``.
_BETWEEN = 0.1
_N_BINS = 20
#: So many references could each be cut out.
_FEW_REFERENCES = 50
#: What a new tree's output is multiplied by.
_STEP = 0.1
_DEPTH = 3
_MIN_ROWS_IN_LEAF = 20
#: The longest Newton step: where a model is sure, the curvature is next to nothing.
_LONGEST = 4.0
_LEAST_CURVATURE = 1e-3
#: Rows that the base model scores below this are taken never to become positive.
_MAY_BE_POSITIVE = -0.5
#: Values of neighbours that are kept, about 240 MB; more rows than fit are sampled.
_MAX_VALUES = 60_000_000
_ROWS_AT_ONCE = 50_000


def grow_trees(ensemble: Ensemble, task: TrainingTask, settings: Settings) -> list[DecisionTreeRegressor]:
    """Trees to add to an ensemble, whose outputs count as they are.

    Each is a Newton step on the loss that re-weighting minimises: cross-entropy against the ensemble's own
    probabilities, the SEV term at the best neighbours of the moment, the reference term and the rate guard.
    """
    bins = _Bins(task.rows, task.references)
    rows = _Scored(bins, ensemble, task.rows)
    references = _Scored(bins, ensemble, task.references)
    kinds = neighbour_kinds(settings.objective)
    most_rows = _MAX_VALUES // (len(task.present) * task.n_candidates * task.rows.shape[1] * len(kinds))
    chosen = candidates(rows.logits, max(1, most_rows), settings.seed)
    sides = [_Side(bins, ensemble, task, chosen, plus=plus) for plus in kinds]
    formula = settings.formula(positive_rate(rows.logits, task.weights))
    target = _Target(expit(rows.logits), task.weights, (rows.logits >= 0.0).astype(np.float64), task.assigned)
    trees = []
    with progress_bar(settings.grow, "growing", "tree", settings.progress) as bar:
        for number in range(settings.grow):
            tree = _fit_tree(_pulls_of(formula, target, rows, references, sides), settings.seed + number)
            for scored in (rows, references, *(side.neighbours for side in sides)):
                scored.add(tree)
            bins.to_values(tree)
            trees.append(tree)
            bar.update()
    return trees


def neighbour_kinds(objective: str) -> list[bool]:
    """Whose neighbours an objective is about: True the reference's (SEV+), False the rows' (SEV-)."""
    return {"plus": [True], "minus": [False], "both": [True, False]}[objective]


class _Bins:
    """Where a new tree may split: not next to the reference.

    The reference is often a mean, a value that no row need have. A tree that is free to split cuts out exactly that
    value, and every decision has one reason while the model is the same on all real rows: a reason that says nothing.
    """

    def __init__(self, rows: FloatArray, references: FloatArray) -> None:
        columns = rows.astype(np.float32).T  # as the trees compare
        # many references, as real rows near the queries, lie among the rows: no tree can cut them out
        every = np.atleast_2d(references)
        few = every if len(every) <= _FEW_REFERENCES else every[:0]
        self._edges = [_find_edges(*pair) for pair in zip(columns, few.astype(np.float32).T, strict=True)]

    def transform(self, rows: FloatArray) -> NDArray[np.float32]:
        """The number of the bin of each value, as trees take it."""
        found = np.empty(rows.shape, dtype=np.float32)
        for column, edges in enumerate(self._edges):
            found[:, column] = np.searchsorted(edges, rows[:, column].astype(np.float32))
        return found

    def to_values(self, tree: DecisionTreeRegressor) -> None:
        """Let a tree on bins compare values."""
        inside = tree.tree_
        for node in np.flatnonzero(inside.children_left >= 0):
            inside.threshold[node] = self._edges[inside.feature[node]][int(inside.threshold[node])]


def _find_edges(column: NDArray[np.float32], references: NDArray[np.float32]) -> NDArray[np.float32]:
    """Values between quantiles that have enough rows between themselves and each reference."""
    seen = np.unique(np.quantile(column, np.linspace(0.0, 1.0, _N_BINS + 1), method="nearest"))
    edges = ((seen[:-1] + seen[1:]) / 2).astype(np.float32)
    for reference in np.unique(references):
        between = [
            (
                (column > edge) & (column <= reference)
                if edge < reference
                else (column >= reference) & (column <= edge)
            ).mean()
            for edge in edges
        ]
        edges = edges[np.array(between, dtype=float) >= _BETWEEN]
    return edges


class _Scored:
    """Binned rows with their logits, which every new tree moves."""

    def __init__(self, bins: _Bins, ensemble: Ensemble, rows: FloatArray) -> None:
        parts = [rows[k : k + _ROWS_AT_ONCE] for k in range(0, len(rows), _ROWS_AT_ONCE)]
        self.logits = ensemble.offset + np.concatenate([ensemble.outputs(part).sum(axis=1) for part in parts])
        self.bins = bins.transform(rows)

    def add(self, tree: DecisionTreeRegressor) -> None:
        """Take a new tree, while it is still on bins, into account."""
        self.logits = self.logits + tree.tree_.predict(self.bins)[:, 0]


class _Pull(NamedTuple):
    """Binned rows, and first and second derivative of the loss by their logits, in units of one row."""

    bins: NDArray[np.float32]
    first: FloatArray
    second: FloatArray


class _Target(NamedTuple):
    """What the rows should keep: the base model's probabilities and decisions; their weights and references."""

    probabilities: FloatArray
    weights: FloatArray | None
    decisions: FloatArray
    assigned: IntArray | None = None


class _Side:
    """The one-step neighbours of rows that are or may become positive, for SEV+ or SEV-."""

    def __init__(self, bins: _Bins, ensemble: Ensemble, task: TrainingTask, rows: IntArray, *, plus: bool) -> None:
        every = list(task.one_step(rows, plus=plus))
        self.neighbours = _Scored(bins, ensemble, np.concatenate(every))
        self._shape = len(every), len(rows)
        self._rows = rows
        self.plus = plus

    def best_neighbours(self, logits: FloatArray) -> tuple[IntArray, IntArray]:
        """Places of the best neighbour of each row that is positive now, and those rows."""
        columns = np.flatnonzero(logits[self._rows] >= 0.0)
        table = self.neighbours.logits.reshape(self._shape)[:, columns]
        best = table.argmax(axis=0) if self.plus else table.argmin(axis=0)
        return best * self._shape[1] + columns, self._rows[columns]


def _pulls_of(
    formula: LossFormula, target: _Target, rows: _Scored, references: _Scored, sides: list[_Side]
) -> list[_Pull]:
    """Derivatives of the loss by the logits of the rows, of the reference and of the best neighbours."""
    n_rows = len(rows.logits)
    weights = None if target.weights is None else torch.from_numpy(target.weights)
    logits, at_reference = _make_variable(rows.logits), _make_variable(references.logits)
    best = [side.best_neighbours(rows.logits) for side in sides]
    at_best = [_make_variable(side.neighbours.logits[places]) for side, (places, _) in zip(sides, best, strict=True)]
    mine = [None if weights is None else weights[torch.from_numpy(of)] for _, of in best]
    batch = Batch(logits, torch.from_numpy(target.probabilities), weights, torch.from_numpy(target.decisions))

    def sev_terms(some: LossFormula) -> list[Tensor]:
        every = zip(at_best, sides, mine, strict=True)
        return [some.sev_term(one[:, None], plus=side.plus, weights=weight) for one, side, weight in every]

    by_row = at_reference if target.assigned is None else at_reference[torch.from_numpy(target.assigned)]
    total = formula.combine(batch, sev_terms(formula), by_row).total
    first = [n_rows * one for one in _compute_gradients(total, [logits, at_reference, *at_best])]
    # without a margin no neighbour is far enough: those that are now hold the new tree back
    free = formula.sev_penalty * sum(sev_terms(replace(formula, margin=0.5)), torch.zeros(()))
    holds = [n_rows * np.abs(one) for one in _compute_gradients(free, at_best)]
    score = expit(rows.logits)
    curvature = score * (1.0 - score) * (1.0 if target.weights is None else target.weights)
    return [
        _Pull(rows.bins, first[0], curvature),
        _Pull(references.bins, first[1], np.abs(first[1])),
        *(
            _Pull(side.neighbours.bins[places], one, hold)
            for side, (places, _), one, hold in zip(sides, best, first[2:], holds, strict=True)
        ),
    ]


def _make_variable(values: FloatArray) -> Tensor:
    return torch.from_numpy(values.copy()).requires_grad_()


def _compute_gradients(value: Tensor, by: list[Tensor]) -> list[FloatArray]:
    found = torch.autograd.grad(value, by, allow_unused=True)
    return [
        np.zeros(len(one)) if gradient is None else gradient.numpy() for gradient, one in zip(found, by, strict=True)
    ]


def _fit_tree(pulls: list[_Pull], seed: int) -> DecisionTreeRegressor:
    bins, first, second = (np.concatenate(parts) for parts in zip(*pulls, strict=True))
    weights = np.maximum(second, _LEAST_CURVATURE)
    tree = DecisionTreeRegressor(max_depth=_DEPTH, min_samples_leaf=_MIN_ROWS_IN_LEAF, random_state=seed)
    tree.fit(bins, np.clip(-first / weights, -_LONGEST, _LONGEST), sample_weight=weights)
    tree.tree_.value[...] *= _STEP
    return tree


def candidates(logits: FloatArray, most: int, seed: int) -> IntArray:
    """Rows that are or may become positive, a sample of them if there are too many."""
    rows: IntArray = np.flatnonzero(logits >= _MAY_BE_POSITIVE)
    if len(rows) > most:
        rows = np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
    return rows
