"""Boosters from their states: each library gets its own format back, checked and written anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from sev._optional import require
from sev.exceptions import ArchiveError
from sev.files import _catboost, _lightgbm, _xgboost

_LIGHTGBM_STATE = frozenset(
    (
        *("best_iteration", "best_score", "name_valid_sets", "pandas_categorical", "params", "train_set_version"),
        *("_network", "_train_data_name", "_Booster__need_reload_eval_info", "_Booster__set_objective_to_none"),
        *("_Booster__num_dataset", "_Booster__num_class", "_Booster__inner_predict_buffer", "_Booster__init_predictor"),
        *("_Booster__is_predicted_cur_iter", "_Booster__num_inner_eval", "_Booster__name_inner_eval"),
        *("_Booster__higher_better_inner_eval", "_Booster__attr", "_free_raw_data", "_attr"),
    )
)


def lightgbm_booster(state: Any, arguments: tuple[Any, ...] = ()) -> Any:
    """A LightGBM booster from its state."""
    if not isinstance(state, dict):
        raise ArchiveError("The model holds a LightGBM booster that cannot be read.")
    text = state.get("_handle", state.get("handle"))
    kept = {name: value for name, value in state.items() if name in _LIGHTGBM_STATE}
    if not isinstance(text, str) or not all(is_plain(value) for value in kept.values()):
        raise ArchiveError("The model holds a LightGBM booster that cannot be read.")
    lightgbm = require("lightgbm", extra="boosters", feature="This model")
    booster = lightgbm.Booster.__new__(lightgbm.Booster)
    booster.__setstate__({**kept, "_handle": _lightgbm.checked_text(text)})
    return booster


def lightgbm_from_text(data: bytes) -> Any:
    """A LightGBM booster from its model file."""
    text = _lightgbm.checked_text(data.decode())
    lightgbm = require("lightgbm", extra="boosters", feature="This explainer")
    return lightgbm.Booster(model_str=text)


def xgboost_booster(state: Any, arguments: tuple[Any, ...] = ()) -> Any:
    """An XGBoost booster from its state."""
    handle = state.get("handle") if isinstance(state, dict) else None
    if not isinstance(handle, (bytes, bytearray)):
        raise ArchiveError("The model holds an XGBoost booster that cannot be read.")
    return xgboost_from_bytes(bytes(handle))


def xgboost_from_bytes(data: bytes) -> Any:
    """An XGBoost booster from its model file."""
    checked, threads = _xgboost.checked_bytes(data)
    xgboost = require("xgboost", extra="boosters", feature="This explainer")
    booster = xgboost.Booster({"nthread": threads} if threads else None)
    booster.load_model(bytearray(checked))
    return booster


def catboost_model(state: Any, arguments: tuple[Any, ...] = ()) -> Any:
    """A CatBoost model from its state."""
    return _catboost_of("CatBoost", state)


def catboost_classifier(state: Any, arguments: tuple[Any, ...] = ()) -> Any:
    """A CatBoost classifier from its state."""
    return _catboost_of("CatBoostClassifier", state)


def _catboost_of(kind: str, state: Any) -> Any:
    if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
        raise ArchiveError("The model holds a CatBoost model that cannot be read.")
    held = dict(state)
    data = held.pop("__model", None)
    # evaluations of the training are of no use here, and compiled code takes them as they are
    for name in ("_test_eval", "_test_evals"):
        held.pop(name, None)
    if not isinstance(data, bytes) or not all(is_plain(value) for value in held.values()):
        raise ArchiveError("The model holds a CatBoost model that cannot be read.")
    _catboost.check_bytes(data)
    catboost = require("catboost", extra="boosters", feature="This model")
    model = getattr(catboost, kind).__new__(getattr(catboost, kind))
    model.__setstate__({**held, "__model": data})
    return model


def catboost_from_bytes(data: bytes) -> Any:
    """A CatBoost classifier from its model file."""
    _catboost.check_bytes(data)
    catboost = require("catboost", extra="boosters", feature="This explainer")
    return catboost.CatBoostClassifier().load_model(blob=data)


def is_plain(value: Any) -> bool:
    """Whether a value is made of numbers, texts and containers only."""
    if isinstance(value, dict):
        return all(is_plain(key) and is_plain(item) for key, item in value.items())
    if isinstance(value, (list, tuple, set)):
        return all(is_plain(item) for item in value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind != "O" or all(is_plain(item) for item in value.ravel().tolist())
    return isinstance(value, (str, bytes, bool, int, float, type(None), np.generic))
