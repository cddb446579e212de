"""Which trainer tunes which final estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sev._optional import require
from sev._registry import find, load, routes
from sev.exceptions import ModelError
from sev.training._settings import Family, Settings
from sev.training._task import Trained, Trainer, TrainingTask

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


_TRAINERS: dict[Family, str] = {
    "linear": "sev.training._linear:LinearTrainer",
    "network": "sev.training._network:NetworkTrainer",
    "trees": "sev.training._trees:TreeTrainer",
}


def family_of(estimator: object) -> Family:
    """The family of a final estimator.

    Raises
    ------
    ModelError
        When models of this class cannot be tuned, and which can.
    """
    match = find(estimator, "train")
    if match is None:
        raise ModelError(
            f"{type(estimator).__name__} cannot be tuned for short explanations. These can: "
            f"{', '.join(sorted(key.partition('.')[2] for key in routes('train')))}; for a torch module use sev.losses."
        )
    return cast(Family, match.route)


def trainer_for(base: BaseEstimator, task: TrainingTask) -> Trainer:
    """What tunes a fitted final estimator on some rows, as often as wanted, with one penalty or another."""
    require("torch", extra="train", feature="Training for short explanations")
    trainer: Trainer = load(_TRAINERS[family_of(base)])(base, task)
    return trainer


def train(base: BaseEstimator, task: TrainingTask, settings: Settings) -> Trained:
    """Tune a fitted final estimator once; what comes back is of its own class."""
    return trainer_for(base, task).train(settings)
