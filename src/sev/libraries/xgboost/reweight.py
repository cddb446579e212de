"""XGBoost's classifier."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np

from sev.exceptions import ModelError
from sev.libraries.xgboost import schema
from sev.typing import FloatArray, NativeTable

if TYPE_CHECKING:
    from xgboost import XGBClassifier


class XGBoosting:
    """A fitted binary ``XGBClassifier`` of the tree booster.

    The unit of weight is a boosting round, which is one tree unless ``num_parallel_tree`` says otherwise.
    """

    def __init__(self, model: XGBClassifier) -> None:
        booster = model.get_booster()
        config = json.loads(booster.save_config())["learner"]
        name = config["gradient_booster"]["name"]
        objective = config["objective"]["name"]
        if name != "gbtree":
            raise ModelError(f"XGBClassifier with booster={name!r} cannot be re-weighted: use booster='gbtree'.")
        if objective != "binary:logistic":
            raise ModelError(
                f"XGBClassifier with objective={objective!r} cannot be re-weighted: use 'binary:logistic'."
            )
        base = float(str(config["learner_model_param"]["base_score"]).strip("[]"))
        self._offset = float(np.log(base / (1.0 - base)))
        self._model = model
        try:
            self._n_rounds = int(model.best_iteration) + 1
        except AttributeError:  # trained without early stopping
            self._n_rounds = int(booster.num_boosted_rounds())

    @property
    def n_trees(self) -> int:
        """Number of rounds that predictions use."""
        return self._n_rounds

    @property
    def offset(self) -> float:
        """The base score, as log odds."""
        return self._offset

    def outputs(self, rows: NativeTable) -> FloatArray:
        """Output of each round on each row."""
        found = np.empty((len(rows), self.n_trees))
        for number in range(self.n_trees):
            margins = self._model.predict(rows, output_margin=True, iteration_range=(number, number + 1))
            found[:, number] = margins - np.float32(self._offset)
        return found

    def reweighted(self, weights: FloatArray, bias: float) -> XGBClassifier:
        """A copy with scaled leaves."""
        document = json.loads(self._model.get_booster().save_raw("json"))
        model = document["learner"]["gradient_booster"]["model"]
        rounds = model["iteration_indptr"]
        for number, weight in enumerate(weights.tolist()):
            for tree in range(rounds[number], rounds[number + 1]):
                extra = bias if tree == 0 else 0.0
                _scale_leaves(model["trees"][tree], weight, extra)
        copy = deepcopy(self._model)
        copy.get_booster().load_model(bytearray(json.dumps(document), "utf-8"))
        return copy


def _scale_leaves(tree: schema.Tree, weight: float, extra: float) -> None:
    for node, left in enumerate(tree["left_children"]):
        if left == -1:  # a leaf keeps its value where a split keeps its threshold
            tree["split_conditions"][node] = tree["split_conditions"][node] * weight + extra
            tree["base_weights"][node] = tree["split_conditions"][node]
