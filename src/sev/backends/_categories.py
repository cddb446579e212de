"""Which columns of the background a model takes as categories, though they may hold numbers.

A mean of category codes is no category: models and encoders refuse it, or take it for a category never seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from sev.backends._wrappers import class_is_among

_MOST_NESTED = 8


def category_columns(model: Any, columns: Sequence[Any]) -> frozenset[Any]:
    """Columns that some part of a model takes as categories, as far as it tells.

    Parameters
    ----------
    model : object
        Fitted model; wrappers, pipelines and ensembles are searched.
    columns : sequence
        Columns of the rows that it takes.
    """
    found: set[Any] = set()
    for part in _parts_on_raw_rows(model, _MOST_NESTED):
        for place in _places_of_categories(part, len(columns)):
            if 0 <= place < len(columns):
                found.add(columns[place])
    return frozenset(found)


def _parts_on_raw_rows(model: Any, depth: int) -> Iterator[Any]:
    """Estimators and transformers inside a model that are given its rows as they are."""
    if model is None or isinstance(model, str) or depth == 0:
        return
    if class_is_among(model, {"sklearn.Pipeline"}):
        steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
        yield from _parts_on_raw_rows(steps[0] if steps else None, depth - 1)
        return
    yield model
    if class_is_among(model, {"sklearn.ColumnTransformer"}):
        return
    members = [getattr(model, name, None) for name in ("best_estimator_", "estimator_")]
    if class_is_among(model, {"sklearn.FrozenEstimator"}):
        members = [model.estimator]
    members += [one.estimator for one in getattr(model, "calibrated_classifiers_", ())]
    if class_is_among(model, {"sklearn.VotingClassifier", "sklearn.StackingClassifier", "sklearn.OneVsRestClassifier"}):
        members += list(model.estimators_)
    for member in members:
        yield from _parts_on_raw_rows(member, depth - 1)


def _places_of_categories(part: Any, n_columns: int) -> Iterable[int]:
    for key, places in _PLACES.items():
        if class_is_among(part, {key}):
            return places(part, n_columns)
    return range(n_columns) if _is_category_encoder(part) else ()


def _places_in_transformer(transformer: Any, n_columns: int) -> Iterable[int]:
    given = transformer._transformer_to_input_indices
    for name, step, _ in transformer.transformers_:
        inner = [one for _, one in step.steps] if class_is_among(step, {"sklearn.Pipeline"}) else [step]
        if any(_is_category_encoder(one) for one in inner):
            yield from given.get(name, ())


def _is_category_encoder(step: Any) -> bool:
    package = type(step).__module__.partition(".")[0]
    return package == "category_encoders" or class_is_among(
        step, {"sklearn.OneHotEncoder", "sklearn.OrdinalEncoder", "sklearn.TargetEncoder"}
    )


def _places_in_catboost(model: Any, n_columns: int) -> Iterable[int]:
    return [int(place) for place in model.get_cat_feature_indices()]


def _places_in_lightgbm(model: Any, n_columns: int) -> Iterable[int]:
    booster = getattr(model, "booster_", model)
    for line in booster.model_to_string(num_iteration=1).splitlines():
        if line.startswith("feature_infos="):
            # numbers have a range in brackets, categories the list of their codes
            infos = line.partition("=")[2].split(" ")
            return [place for place, info in enumerate(infos) if info != "none" and not info.startswith("[")]
    return ()


def _places_in_xgboost(model: Any, n_columns: int) -> Iterable[int]:
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    return [place for place, kind in enumerate(booster.feature_types or ()) if kind == "c"]


def _places_in_hist_boosting(model: Any, n_columns: int) -> Iterable[int]:
    mask = model.is_categorical_
    return () if mask is None else np.flatnonzero(mask).tolist()


def _places_in_additive_boosting(model: Any, n_columns: int) -> Iterable[int]:
    kinds = getattr(model, "feature_types_in_", None) or ()
    return [place for place, kind in enumerate(kinds) if kind in ("nominal", "ordinal")]


_PLACES: dict[str, Callable[[Any, int], Iterable[int]]] = {
    "sklearn.ColumnTransformer": _places_in_transformer,
    "sklearn.HistGradientBoostingClassifier": _places_in_hist_boosting,
    "sklearn.CategoricalNB": lambda model, n_columns: range(n_columns),
    "catboost.CatBoost": _places_in_catboost,
    "lightgbm.LGBMModel": _places_in_lightgbm,
    "lightgbm.Booster": _places_in_lightgbm,
    "xgboost.XGBModel": _places_in_xgboost,
    "xgboost.Booster": _places_in_xgboost,
    "interpret.ExplainableBoostingClassifier": _places_in_additive_boosting,
}
