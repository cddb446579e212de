"""XGBoost's boosters in files: their own format, checked and written anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sev._optional import require
from sev.exceptions import ArchiveError
from sev.libraries.xgboost.format import checked_bytes

if TYPE_CHECKING:
    from xgboost import Booster


def booster_to_bytes(booster: Booster) -> bytes:
    """A booster as its model file."""
    return bytes(booster.save_raw("ubj"))


def booster_from_bytes(data: bytes) -> Booster:
    """A booster from its model file."""
    checked, threads = checked_bytes(data)
    xgboost = require("xgboost", extra="boosters", feature="This model")
    booster = xgboost.Booster({"nthread": threads} if threads else None)
    booster.load_model(bytearray(checked))
    return booster


def booster_from_state(state: object, arguments: tuple[object, ...] = ()) -> Booster:
    """A booster from its state."""
    handle = state.get("handle") if isinstance(state, dict) else None
    if not isinstance(handle, (bytes, bytearray)):
        raise ArchiveError("The model holds an XGBoost booster that cannot be read.")
    return booster_from_bytes(bytes(handle))
