"""Which reader knows which ensemble."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sev.exceptions import ModelError
from sev.training._ensembles._protocol import Ensemble

_READERS: dict[str, str] = {
    "sklearn.GradientBoostingClassifier": "_sklearn:SklearnBoosting",
    "sklearn.HistGradientBoostingClassifier": "_sklearn:HistBoosting",
    "xgboost.XGBClassifier": "_xgboost:XGBoosting",
    "lightgbm.LGBMClassifier": "_lightgbm:LightBoosting",
    "catboost.CatBoostClassifier": "_catboost:CatBoosting",
}


def ensemble_of(model: Any) -> Ensemble:
    """A fitted ensemble in the form that re-weighting needs.

    Raises
    ------
    ModelError
        When no reader knows such models, or this one has something that cannot be re-weighted.
    """
    for cls in type(model).__mro__:
        reader = _READERS.get(f"{cls.__module__.partition('.')[0]}.{cls.__name__}")
        if reader is not None:
            module, _, name = reader.partition(":")
            ensemble: Ensemble = getattr(import_module(f"sev.training._ensembles.{module}"), name)(model)
            return ensemble
    raise ModelError(
        f"The trees of {type(model).__name__} cannot be re-weighted: use one of "
        f"{sorted(key.partition('.')[2] for key in _READERS)}."
    )
