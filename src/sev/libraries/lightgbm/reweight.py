"""LightGBM's classifier."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np

from sev.exceptions import ModelError
from sev.typing import FloatArray, NativeTable

if TYPE_CHECKING:
    from lightgbm import LGBMClassifier


class LightBoosting:
    """A fitted binary ``LGBMClassifier``; the average that boosting starts from is inside its first tree."""

    def __init__(self, model: LGBMClassifier) -> None:
        if model.n_classes_ != 2:
            raise ModelError(
                f"LGBMClassifier has {model.n_classes_} classes: only models with two classes can be tuned."
            )
        settings = model.booster_.params
        if model.boosting_type == "rf":
            raise ModelError("LGBMClassifier with boosting_type='rf' averages its trees and cannot be re-weighted.")
        if settings.get("linear_tree"):
            raise ModelError("LGBMClassifier with linear_tree=True cannot be re-weighted: its leaves are not constant.")
        self._model = model
        best = int(model.best_iteration_ or 0)
        self._n_trees = best if best > 0 else int(model.booster_.current_iteration())

    @property
    def n_trees(self) -> int:
        """Number of trees that predictions use."""
        return self._n_trees

    @property
    def offset(self) -> float:
        """Zero."""
        return 0.0

    def outputs(self, rows: NativeTable) -> FloatArray:
        """Output of each tree on each row."""
        booster = self._model.booster_
        found = np.empty((len(rows), self.n_trees))
        for number in range(self.n_trees):
            found[:, number] = booster.predict(rows, raw_score=True, start_iteration=number, num_iteration=1)
        return found

    def reweighted(self, weights: FloatArray, bias: float) -> LGBMClassifier:
        """A copy with scaled leaves."""
        copy = deepcopy(self._model)
        booster = copy.booster_
        trees = booster.dump_model()["tree_info"]
        for number, weight in enumerate(weights.tolist()):
            for leaf in range(int(trees[number]["num_leaves"])):
                value = booster.get_leaf_output(number, leaf) * weight
                booster.set_leaf_output(number, leaf, value + (bias if number == 0 else 0.0))
        return copy
