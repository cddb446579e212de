"""The same explainer with another reference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from sev.backends import category_columns
from sev.exceptions import InputError
from sev.files import ExplainerParts
from sev.references import Background, ReferenceLike, as_reference
from sev.typing import BoolArray

if TYPE_CHECKING:
    from sev.explainers._setup import ExplainerSetup
    from sev.explainers._task import Task


def parts_with_reference(
    explainer: ExplainerSetup, reference: ReferenceLike, rows: pd.DataFrame | None
) -> ExplainerParts:
    """What the explainer is made of, with a reference that is chosen from rows.

    Parameters
    ----------
    explainer : ExplainerSetup
        The explainer.
    reference : object
        As for :func:`sev.references.as_reference`.
    rows : DataFrame or None
        Rows to choose it from; None: the background rows that the explainer was saved with.
    """
    parts = explainer.parts()
    # labels name the rows of the reference, as those of the background do
    some = explainer.sample if rows is None else rows if rows.index.is_unique else rows.reset_index(drop=True)
    wanted = as_reference(reference)
    targets = []
    for task, target in zip(explainer.tasks, parts.targets, strict=True):
        background = _background_of(explainer, task, some)
        fitted = wanted.fit(background)
        ground = None if target.ground is None else target.ground.around(background, fitted.rows)
        targets.append(replace(target, reference=fitted, ground=ground))
    return replace(parts, targets=tuple(targets))


def _background_of(explainer: ExplainerSetup, task: Task, rows: pd.DataFrame) -> Background:
    def is_positive(some: pd.DataFrame) -> BoolArray:
        return task.scorer.is_positive(task.scorer.scores(explainer.form.to_native(some)))

    negatives = ~is_positive(rows)
    if not negatives.any():
        raise InputError(
            f"The model predicts every row as {task.scorer.target!r}, the class being explained: a reference needs "
            "rows of the other class. Pass rows as X that include some."
        )
    categories = category_columns(explainer.model, explainer.form.columns)
    return Background(rows, negatives, explainer.form, explainer.space, is_positive, categories)
