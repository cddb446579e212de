"""CatBoost's models in files: their own binary format, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sev._optional import require
from sev.exceptions import ArchiveError
from sev.libraries._checks import is_plain
from sev.libraries.catboost.format import check_bytes

if TYPE_CHECKING:
    from catboost import CatBoost, CatBoostClassifier


def classifier_from_bytes(data: bytes) -> CatBoostClassifier:
    """A classifier from its model file."""
    check_bytes(data)
    catboost = require("catboost", extra="boosters", feature="This model")
    return catboost.CatBoostClassifier().load_model(blob=data)


def model_from_state(state: object, arguments: tuple[object, ...] = ()) -> CatBoost:
    """A model from its state."""
    return _from_state("CatBoost", state)


def classifier_from_state(state: object, arguments: tuple[object, ...] = ()) -> CatBoostClassifier:
    """A classifier from its state."""
    return _from_state("CatBoostClassifier", state)


def _from_state(kind: str, state: object) -> CatBoost:
    held = dict(state) if isinstance(state, dict) else {}
    data = held.pop("__model", None)
    # evaluations of the training are of no use here, and compiled code takes them as they are
    for name in ("_test_eval", "_test_evals"):
        held.pop(name, None)
    known = isinstance(data, bytes) and all(isinstance(key, str) for key in held)
    if not known or not all(is_plain(value) for value in held.values()):
        raise ArchiveError("The model holds a CatBoost model that cannot be read.")
    check_bytes(data)
    catboost = require("catboost", extra="boosters", feature="This model")
    model = getattr(catboost, kind).__new__(getattr(catboost, kind))
    model.__setstate__({**held, "__model": data})
    return model
