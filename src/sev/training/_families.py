"""Which trainer knows which final estimator: the only file that knows every family."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sev._optional import require
from sev.exceptions import ModelError
from sev.training._settings import Family, Settings
from sev.training._task import Trained, Trainer, TrainingTask

_FAMILIES: dict[str, Family] = {
    "sklearn.LogisticRegression": "linear",
    "sklearn.LogisticRegressionCV": "linear",
    "sklearn.MLPClassifier": "network",
    "sklearn.GradientBoostingClassifier": "trees",
    "sklearn.HistGradientBoostingClassifier": "trees",
    "xgboost.XGBClassifier": "trees",
    "lightgbm.LGBMClassifier": "trees",
    "catboost.CatBoostClassifier": "trees",
}

_TRAINERS: dict[Family, str] = {
    "linear": "sev.training._linear:LinearTrainer",
    "network": "sev.training._network:NetworkTrainer",
    "trees": "sev.training._trees:TreeTrainer",
}


def family_of(estimator: Any) -> Family:
    """The family of a final estimator.

    Raises
    ------
    ModelError
        When models of this class cannot be tuned, and which can.
    """
    for cls in type(estimator).__mro__:
        family = _FAMILIES.get(f"{cls.__module__.partition('.')[0]}.{cls.__name__}")
        if family is not None:
            return family
    raise ModelError(
        f"{type(estimator).__name__} cannot be tuned for short explanations. These can: "
        f"{', '.join(sorted(key.partition('.')[2] for key in _FAMILIES))}; for a torch module use sev.losses."
    )


def trainer_for(base: Any, task: TrainingTask) -> Trainer:
    """What tunes a fitted final estimator on some rows, as often as wanted, with one penalty or another."""
    require("torch", extra="train", feature="Training for short explanations")
    module, _, name = _TRAINERS[family_of(base)].partition(":")
    trainer: Trainer = getattr(import_module(module), name)(base, task)
    return trainer


def train(base: Any, task: TrainingTask, settings: Settings) -> Trained:
    """Tune a fitted final estimator once; what comes back is of its own class."""
    return trainer_for(base, task).train(settings)
