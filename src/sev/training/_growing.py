"""Boosted trees: more of them, each fitted to the gradient of the whole loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.tree import DecisionTreeRegressor
from tqdm.auto import tqdm

from sev.training._ensembles import Ensemble
from sev.training._settings import Settings
from sev.training._task import TrainingTask, positive_rate
from sev.typing import BoolArray, FloatArray, IntArray

#: Share of the rows that must lie between the reference and a split; see ``_Bins``.
_BETWEEN = 0.1
_N_BINS = 20
#: What a new tree's output is multiplied by.
_STEP = 0.1
_DEPTH = 3
_MIN_ROWS_IN_LEAF = 20
#: The longest Newton step: where a model is sure, the curvature is next to nothing.
_LONGEST = 4.0
_LEAST_CURVATURE = 1e-3
#: Rows that the base model gives less than this are taken never to become positive.
_MAY_BE_POSITIVE = -0.5
#: Values of neighbours that are kept, about 240 MB; more rows than fit are sampled.
_MAX_VALUES = 60_000_000
_ROWS_AT_ONCE = 50_000


def grow_trees(ensemble: Ensemble, task: TrainingTask, settings: Settings) -> list[DecisionTreeRegressor]:
    """Trees to add to an ensemble, whose outputs count as they are.

    Each is a Newton step on the loss that re-weighting minimises: cross-entropy against the ensemble's own
    probabilities, the SEV term at the best neighbours of the moment, the reference term and the rate guard.
    """
    bins = _Bins(task.rows, task.reference)
    rows = _Scored(bins, ensemble, task.rows)
    reference = _Scored(bins, ensemble, task.reference[None])
    kinds = {"plus": [True], "minus": [False], "both": [True, False]}[settings.objective]
    room = _MAX_VALUES // (len(task.present) * task.rows.shape[1] * len(kinds))
    chosen = candidates(rows.logits, max(1, room), settings.seed)
    sides = [_Side(bins, ensemble, task, chosen, plus=plus) for plus in kinds]
    targets, rate = expit(rows.logits), positive_rate(rows.logits)
    trees = []
    for number in tqdm(range(settings.grow), disable=not settings.progress, desc="growing", unit="tree"):
        pulls = [
            _pull_of_rows(rows, targets, rate, settings),
            _pull_of_reference(reference, len(task.rows), settings),
            *(side.pull(rows.logits, settings) for side in sides),
        ]
        tree = _fitted(pulls, settings.seed + number)
        for scored in (rows, reference, *(side.neighbours for side in sides)):
            scored.add(tree)
        bins.to_values(tree)
        trees.append(tree)
    return trees


class _Bins:
    """Where a new tree may split: not next to the reference.

    The reference is often a mean, a value that no row need have. A tree that is free to split cuts out exactly that
    value, and every decision has one reason while the model is the same on all real rows: a reason that says nothing.
    """

    def __init__(self, rows: FloatArray, reference: FloatArray) -> None:
        columns = rows.astype(np.float32).T  # as the trees compare
        self._edges = [_edges(*pair) for pair in zip(columns, reference.astype(np.float32), strict=True)]

    def transform(self, rows: FloatArray) -> Any:
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


def _edges(column: Any, reference: Any) -> Any:
    """Values between quantiles that have enough rows between themselves and the reference."""
    seen = np.unique(np.quantile(column, np.linspace(0.0, 1.0, _N_BINS + 1), method="nearest"))
    edges = ((seen[:-1] + seen[1:]) / 2).astype(np.float32)
    between = [
        (
            (column > edge) & (column <= reference) if edge < reference else (column >= reference) & (column <= edge)
        ).mean()
        for edge in edges
    ]
    return edges[np.array(between, dtype=float) >= _BETWEEN]


class _Scored:
    """Binned rows with their logits, which every new tree moves."""

    def __init__(self, bins: _Bins, ensemble: Ensemble, rows: FloatArray) -> None:
        parts = [rows[k : k + _ROWS_AT_ONCE] for k in range(0, len(rows), _ROWS_AT_ONCE)]
        self.logits = ensemble.offset + np.concatenate([ensemble.outputs(part).sum(axis=1) for part in parts])
        self.bins = bins.transform(rows)

    def add(self, tree: DecisionTreeRegressor) -> None:
        """Take a new tree, while it is still on bins, into account."""
        self.logits = self.logits + tree.tree_.predict(self.bins)[:, 0]


#: Binned rows, and first and second derivative of the loss by their logits.
_Pull = tuple[Any, FloatArray, FloatArray]


class _Side:
    """The one-step neighbours of rows that are or may become positive, for SEV+ or SEV-."""

    def __init__(self, bins: _Bins, ensemble: Ensemble, task: TrainingTask, rows: IntArray, *, plus: bool) -> None:
        chosen = task.rows[rows]
        inside, outside = (chosen, task.reference) if plus else (task.reference, chosen)
        every = [np.where(task.column_feature == feature, inside, outside) for feature in task.present.tolist()]
        self.neighbours = _Scored(bins, ensemble, np.concatenate(every))
        self._shape = len(every), len(rows)
        self._rows = rows
        self._plus = plus

    def pull(self, logits: FloatArray, settings: Settings) -> _Pull:
        """What the SEV term asks of the best neighbour of each row that is positive now."""
        columns = np.flatnonzero(logits[self._rows] >= 0.0)
        table = self.neighbours.logits.reshape(self._shape)[:, columns]
        best = table.argmax(axis=0) if self._plus else table.argmin(axis=0)
        score = expit(table[best, np.arange(len(columns))])
        force = settings.sev_penalty * len(logits) / max(1, len(columns)) * score * (1.0 - score)
        open_ = score < 0.5 + settings.margin if self._plus else score > 0.5 - settings.margin
        places = best * self._shape[1] + columns
        return self.neighbours.bins[places], (-force if self._plus else force) * open_, force


def _pull_of_rows(rows: _Scored, targets: FloatArray, rate: float, settings: Settings) -> _Pull:
    """Cross-entropy, and the rate guard."""
    score, soft = expit(rows.logits), expit(10.0 * rows.logits)
    guard = 2.0 * settings.rate_penalty * (soft.mean() - rate) * 10.0 * soft * (1.0 - soft)
    return rows.bins, score - targets + guard, score * (1.0 - score)


def _pull_of_reference(reference: _Scored, n_rows: int, settings: Settings) -> _Pull:
    score = expit(reference.logits)
    open_: BoolArray = score > 0.5 - settings.reference_margin
    force = settings.reference_penalty * n_rows * score * (1.0 - score) * open_
    return reference.bins, force, force


def _fitted(pulls: list[_Pull], seed: int) -> DecisionTreeRegressor:
    bins, first, second = (np.concatenate(parts) for parts in zip(*pulls, strict=True))
    weights = np.maximum(second, _LEAST_CURVATURE)
    tree = DecisionTreeRegressor(max_depth=_DEPTH, min_samples_leaf=_MIN_ROWS_IN_LEAF, random_state=seed)
    tree.fit(bins, np.clip(-first / weights, -_LONGEST, _LONGEST), sample_weight=weights)
    tree.tree_.value[...] *= _STEP
    return tree


def candidates(logits: FloatArray, room: int, seed: int) -> IntArray:
    """Rows that are or may become positive, a sample of them if there are too many."""
    rows: IntArray = np.flatnonzero(logits >= _MAY_BE_POSITIVE)
    if len(rows) > room:
        rows = np.sort(np.random.default_rng(seed).choice(rows, room, replace=False))
    return rows
