"""The references of a training run: the same rows that explanations will use."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.exceptions import InputError, PositiveReferenceError
from sev.references import Background, FittedReference, as_reference
from sev.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from sev.references import ReferenceLike


@dataclass(frozen=True, eq=False)
class TaskReference:
    """What :class:`sev.Explainer` would compare rows with, given the base model and the training rows.

    Parameters
    ----------
    given : str, row or object of :mod:`sev.references`
        As for the explainer.
    background : Background
        The training rows, with the base model's decisions.
    """

    given: ReferenceLike
    background: Background

    @cached_property
    def _fitted(self) -> FittedReference:
        return as_reference(self.given).fit(self.background)

    @property
    def rows(self) -> pd.DataFrame:
        """The reference rows, raw."""
        return self._fitted.rows

    @cached_property
    def assigned(self) -> IntArray | None:
        """Numbers of the references of each training row, shape (n_rows, n_candidates); None: one for all."""
        if len(self.rows) == 1:
            return None
        return np.ascontiguousarray(self._fitted.candidates(self.background.rows))

    def refuse_several(self, purpose: str) -> None:
        """Refuse more than one reference row for what is defined for one only."""
        if len(self.rows) != 1:
            raise InputError(
                f"The reference ({self._fitted.name}) has {len(self.rows)} rows, but {purpose} is defined for one "
                'row: use reference="mean", or objective="plus".'
            )

    def highest_score(self, score: Callable[[pd.DataFrame], FloatArray]) -> float:
        """The highest score, under a tuned model, of the reference that its explanations will have.

        One row stays what it is. Several are chosen again with the tuned model's decisions: groups and neighbours
        that it predicts as the class being explained are left out.
        """
        rows = self.rows
        if len(rows) > 1:
            tuned = replace(self.background, is_positive=lambda some: score(some) >= 0.5)
            with suppress(PositiveReferenceError):  # none is left: the scores of those before show it
                rows = as_reference(self.given).fit(tuned).rows
        return float(np.max(score(rows)))
