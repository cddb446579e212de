"""What an explainer knows of its background, as JSON holds it, and back."""

from __future__ import annotations

from typing import cast

import numpy as np

from sev.actions import ChoiceGround, FeatureGround, Ground, NumberGround
from sev.exceptions import ArchiveError
from sev.files._plain import value_from_plain, value_to_plain
from sev.typing import JSONObject, Parsed


def ground_to_plain(ground: Ground | None) -> list[JSONObject] | None:
    """One entry a feature."""
    return None if ground is None else [_feature_to_plain(one) for one in ground.features]


def ground_from_plain(plain: Parsed, n_features: int, n_references: int) -> Ground | None:
    """Inverse of :func:`ground_to_plain`, checked against the features and references that it belongs to."""
    if plain is None:
        return None
    if not isinstance(plain, list) or len(plain) != n_features:
        raise ArchiveError(
            "The file's statistics of the background do not match its features: save the explainer again."
        )
    return Ground(tuple(_feature_from_plain(one, n_references) for one in plain))


def _feature_to_plain(one: FeatureGround) -> JSONObject:
    if isinstance(one, NumberGround):
        return {
            **{name: value_to_plain(getattr(one, name)) for name in ("low", "high", "scale", "step")},
            "observed": [value_to_plain(value) for value in one.observed.tolist()],
            "band": [[value_to_plain(end) for end in band] for band in one.band.tolist()],
        }
    return {
        "choices": [[value_to_plain(cell) for cell in choice] for choice in one.choices],
        "names": [value_to_plain(name) for name in one.names],
        "ordered": one.is_ordered,
        "missing": [value_to_plain(cell) for cell in one.missing],
    }


def _feature_from_plain(plain: Parsed, n_references: int) -> FeatureGround:
    if "band" in plain:
        low, high, scale = (cast("float", value_from_plain(plain[name])) for name in ("low", "high", "scale"))
        step = cast("float | None", value_from_plain(plain["step"]))
        band = np.array([[value_from_plain(end) for end in one] for one in plain["band"]], dtype=np.float64)
        if not float(scale) > 0 or not (step is None or float(step) > 0) or band.shape != (n_references, 2):
            raise ArchiveError(
                "The file's statistics of the background contradict each other: save the explainer again."
            )
        observed = np.array([value_from_plain(value) for value in plain["observed"]], dtype=np.float64)
        if not (np.diff(observed) > 0).all():
            raise ArchiveError(
                "The file's statistics of the background contradict each other: save the explainer again."
            )
        return NumberGround(
            float(low), float(high), float(scale), None if step is None else float(step), band, observed
        )
    choices = tuple(tuple(value_from_plain(cell) for cell in choice) for choice in plain["choices"])
    names = tuple(value_from_plain(name) for name in plain["names"])
    missing = tuple(value_from_plain(cell) for cell in plain["missing"])
    if len(names) != len(choices) or any(len(choice) != len(missing) for choice in choices):
        raise ArchiveError("The file's statistics of the background contradict each other: save the explainer again.")
    return ChoiceGround(choices, names, plain["ordered"] is True, missing)
