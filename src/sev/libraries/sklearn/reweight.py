"""scikit-learn's two gradient boosting classifiers."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier

from sev.exceptions import ModelError
from sev.typing import FloatArray, NativeTable

if TYPE_CHECKING:
    from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
    from sklearn.tree import DecisionTreeRegressor


class SklearnBoosting:
    """A fitted ``GradientBoostingClassifier``."""

    def __init__(self, model: GradientBoostingClassifier) -> None:
        if model.estimators_.shape[1] != 1:
            raise ModelError(
                f"GradientBoostingClassifier has {len(model.classes_)} classes: only models with two classes "
                "can be tuned."
            )
        if not isinstance(model.init_, (DummyClassifier, str)):
            raise ModelError(
                "GradientBoostingClassifier with an estimator as init cannot be re-weighted: leave init out."
            )
        if model.loss != "log_loss":
            raise ModelError(
                f'GradientBoostingClassifier with loss={model.loss!r} cannot be re-weighted: use "log_loss".'
            )
        self._model = model

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self._model.estimators_)

    @property
    def offset(self) -> float:
        """Log odds of the training labels, or zero."""
        if isinstance(self._model.init_, str):
            return 0.0
        positive = float(self._model.init_.class_prior_[1])
        # the same clip as the library's
        tiny = float(np.finfo(np.float32).eps)
        positive = min(max(positive, tiny), 1.0 - tiny)
        return float(np.log(positive / (1.0 - positive)))

    def outputs(self, rows: NativeTable) -> FloatArray:
        """Output of each tree on each row."""
        single = np.ascontiguousarray(rows, dtype=np.float32)
        found = np.empty((len(rows), self.n_trees))
        for number, tree in enumerate(self._model.estimators_[:, 0]):
            found[:, number] = tree.tree_.predict(single)[:, 0]
        return found * float(self._model.learning_rate)

    def reweighted(self, weights: FloatArray, bias: float) -> GradientBoostingClassifier:
        """A copy with scaled leaves."""
        copy = deepcopy(self._model)
        for number, tree in enumerate(copy.estimators_[:, 0]):
            tree.tree_.value[...] *= weights[number]
        # a tree has one leaf for every row, so the bias can go there
        copy.estimators_[0, 0].tree_.value[...] += bias / float(self._model.learning_rate)
        return copy

    def with_trees(self, trees: list[DecisionTreeRegressor]) -> GradientBoostingClassifier:
        """A copy with more trees, whose outputs count as they are."""
        copy = deepcopy(self._model)
        more = np.empty((len(trees), 1), dtype=object)
        for number, tree in enumerate(trees):
            more[number, 0] = deepcopy(tree)
            more[number, 0].tree_.value[...] /= float(self._model.learning_rate)
        copy.estimators_ = np.concatenate([copy.estimators_, more])
        copy.n_estimators_ = copy.n_estimators = len(copy.estimators_)
        return copy


class HistBoosting:
    """A fitted ``HistGradientBoostingClassifier``."""

    def __init__(self, model: HistGradientBoostingClassifier) -> None:
        if model.n_trees_per_iteration_ != 1:
            raise ModelError(
                f"HistGradientBoostingClassifier has {len(model.classes_)} classes: only models with two classes "
                "can be tuned."
            )
        self._model = model

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self._model._predictors)

    @property
    def offset(self) -> float:
        """The baseline."""
        return float(np.ravel(self._model._baseline_prediction)[0])

    def outputs(self, rows: NativeTable) -> FloatArray:
        """Output of each tree on each row."""
        model = self._model
        names = getattr(model, "feature_names_in_", None)
        if names is not None and not isinstance(rows, pd.DataFrame):
            rows = pd.DataFrame(rows, columns=names)
        ready = model._preprocess_X(rows, reset=False)
        known, numbers = model._bin_mapper.make_known_categories_bitsets()
        found = np.empty((len(rows), self.n_trees))
        for number, (predictor,) in enumerate(model._predictors):
            found[:, number] = predictor.predict(ready, known, numbers, 1)
        return found

    def reweighted(self, weights: FloatArray, bias: float) -> HistGradientBoostingClassifier:
        """A copy with scaled leaves and another baseline."""
        copy = deepcopy(self._model)
        for number, (predictor,) in enumerate(copy._predictors):
            predictor.nodes["value"] *= weights[number]
        copy._baseline_prediction = copy._baseline_prediction + bias
        return copy
