"""Which columns of the background a model takes as categories, though they may hold numbers.

A mean of category codes is no category: models and encoders refuse it, or take it for a category never seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sev._registry import is_among, look_up
from sev.typing import ColumnLabel, FittedModel

_MOST_NESTED = 8


def category_columns(model: object, columns: Sequence[ColumnLabel]) -> frozenset[ColumnLabel]:
    """Columns that some part of a model takes as categories, as far as it tells.

    Parameters
    ----------
    model : object
        Fitted model; wrappers, pipelines and ensembles are searched.
    columns : sequence
        Columns of the rows that it takes.

    Returns
    -------
    frozenset of object
        Empty where no part names any.
    """
    found: set[ColumnLabel] = set()
    for part in parts_on_raw_rows(model, _MOST_NESTED):
        for place in _places_of_categories(part, len(columns)):
            if 0 <= place < len(columns):
                found.add(columns[place])
    return frozenset(found)


def parts_on_raw_rows(model: FittedModel, depth: int) -> Iterator[FittedModel]:
    """Estimators and transformers inside a model that are given its rows as they are."""
    if model is None or isinstance(model, str) or depth == 0:
        return
    if is_among(model, {"sklearn.Pipeline"}):
        steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
        yield from parts_on_raw_rows(steps[0] if steps else None, depth - 1)
        return
    yield model
    if is_among(model, {"sklearn.ColumnTransformer"}):
        return
    members = [getattr(model, name, None) for name in ("best_estimator_", "estimator_")]
    if is_among(model, {"sklearn.FrozenEstimator"}):
        members = [model.estimator]
    members += [one.estimator for one in getattr(model, "calibrated_classifiers_", ())]
    if is_among(model, {"sklearn.VotingClassifier", "sklearn.StackingClassifier", "sklearn.OneVsRestClassifier"}):
        members += list(model.estimators_)
    for member in members:
        yield from parts_on_raw_rows(member, depth - 1)


def _places_of_categories(part: object, n_columns: int) -> Iterable[int]:
    places = look_up(part, "categories")
    return () if places is None else places(part, n_columns)
