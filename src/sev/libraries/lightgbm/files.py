"""LightGBM's boosters in files: their own format, checked and written anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sev._optional import require
from sev.exceptions import ArchiveError
from sev.libraries._checks import is_plain
from sev.libraries.lightgbm.format import checked_text

if TYPE_CHECKING:
    from lightgbm import Booster


_STATE = frozenset(
    (
        *("best_iteration", "best_score", "name_valid_sets", "pandas_categorical", "params", "train_set_version"),
        *("_network", "_train_data_name", "_Booster__need_reload_eval_info", "_Booster__set_objective_to_none"),
        *("_Booster__num_dataset", "_Booster__num_class", "_Booster__inner_predict_buffer", "_Booster__init_predictor"),
        *("_Booster__is_predicted_cur_iter", "_Booster__num_inner_eval", "_Booster__name_inner_eval"),
        *("_Booster__higher_better_inner_eval", "_Booster__attr", "_free_raw_data", "_attr"),
    )
)


def booster_to_bytes(booster: Booster) -> bytes:
    """A booster as its model file."""
    return bytes(booster.model_to_string(num_iteration=-1).encode())


def booster_from_bytes(data: bytes) -> Booster:
    """A booster from its model file."""
    text = checked_text(data.decode())
    lightgbm = require("lightgbm", extra="boosters", feature="This model")
    return lightgbm.Booster(model_str=text)


def booster_from_state(state: object, arguments: tuple[object, ...] = ()) -> Booster:
    """A booster from its state."""
    held = state if isinstance(state, dict) else {}
    text = held.get("_handle", held.get("handle"))
    kept = {name: value for name, value in held.items() if name in _STATE}
    if not isinstance(text, str) or not all(is_plain(value) for value in kept.values()):
        raise ArchiveError("The model holds a LightGBM booster that cannot be read.")
    lightgbm = require("lightgbm", extra="boosters", feature="This model")
    booster = lightgbm.Booster.__new__(lightgbm.Booster)
    booster.__setstate__({**kept, "_handle": checked_text(text)})
    return booster
