"""CatBoost's classifier."""

from __future__ import annotations

import tempfile
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sev.exceptions import ModelError
from sev.typing import FloatArray, NativeTable

if TYPE_CHECKING:
    from catboost import CatBoostClassifier


_LOSSES = ("Logloss", "CrossEntropy")


class CatBoosting:
    """A fitted binary ``CatBoostClassifier``."""

    def __init__(self, model: CatBoostClassifier) -> None:
        if len(model.classes_) != 2:
            raise ModelError(
                f"CatBoostClassifier has {len(model.classes_)} classes: only models with two classes can be tuned."
            )
        loss = model.get_all_params().get("loss_function", "Logloss")
        if loss not in _LOSSES:
            raise ModelError(
                f"CatBoostClassifier with loss_function={loss!r} cannot be re-weighted: use one of {list(_LOSSES)}."
            )
        scale, bias = model.get_scale_and_bias()
        if scale != 1.0:
            raise ModelError(
                f"CatBoostClassifier with a scale of {scale:g} cannot be re-weighted: set it to 1 with "
                "set_scale_and_bias."
            )
        self._model = model
        self._offset = float(bias)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return int(self._model.tree_count_)

    @property
    def offset(self) -> float:
        """The bias."""
        return self._offset

    def outputs(self, rows: NativeTable) -> FloatArray:
        """Output of each tree on each row."""
        found = np.empty((len(rows), self.n_trees))
        for number in range(self.n_trees):
            found[:, number] = self._model.predict(
                rows, prediction_type="RawFormulaVal", ntree_start=number, ntree_end=number + 1, thread_count=1
            )
        found[:, 0] -= self._offset  # the library adds it to the first tree
        return found

    def reweighted(self, weights: FloatArray, bias: float) -> CatBoostClassifier:
        """A copy with scaled leaves and another bias."""
        copy = type(self._model)(**deepcopy(self._model.get_params()))
        # a copy made in memory cannot be changed, one that was read from a file can
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.cbm"
            self._model.save_model(str(path))
            copy.load_model(str(path))
        counts = self._model.get_tree_leaf_counts()
        copy.set_leaf_values(self._model.get_leaf_values() * np.repeat(weights, counts))
        copy.set_scale_and_bias(1.0, self._offset + bias)
        return copy
