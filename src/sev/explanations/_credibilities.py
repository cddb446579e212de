"""How credible results are, and how far they are from the rows that they were made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.core import Answers, unpack
from sev.explanations._changes import Change, Efforts
from sev.space import MixedRows
from sev.typing import FloatArray, JSONObject

if TYPE_CHECKING:
    from sev.explanations._columns import ExplanationColumns


@dataclass(frozen=True)
class ChangeDistance:
    """How far a set takes a row.

    Parameters
    ----------
    largest, total : float
        The largest change of a number and the sum of all, in standard deviations of the background.
    categories : int
        Number of changes that have no such distance: of categories, of features with several columns, and from or to a
        missing value.
    """

    largest: float
    total: float
    categories: int

    def to_dict(self) -> JSONObject:
        """Plain values, ready for JSON."""
        return {"largest": self.largest, "total": self.total, "categories": self.categories}


def distance_of(changes: Mapping[str, Change], efforts: Efforts) -> ChangeDistance:
    """The distance of some changes."""
    far, categories = [], 0
    for name, change in changes.items():
        scale = efforts.get(name, (1.0, None))[1]
        if scale is None or isinstance(change.old, Mapping) or pd.isna(change.old) or pd.isna(change.new):
            categories += 1
        else:
            far.append(abs(float(change.new) - float(change.old)) / scale)
    return ChangeDistance(max(far, default=0.0), float(np.sum(far)), categories)


def find_credibilities(many: ExplanationColumns, answers: Answers, references: pd.DataFrame) -> FloatArray:
    """The credibility of the result of each row's first set; NaN where there is none.

    ``references`` are the rows that the answers name, whether or not all sets are listed.
    """
    found = np.full(len(answers), np.nan)
    rows = np.flatnonzero(answers.has_set)
    source = many.source
    if source is None or many.kind == "plus" or not rows.size:
        return found
    sets = unpack(answers.masks[answers.offsets[:-1][rows]], len(many.feature_names))
    mixed = MixedRows(many.space, many.queries, references, answers.reference)
    for number, target in enumerate(many.targets):
        mine = answers.target[rows] == number
        if mine.any():
            found[rows[mine]] = source.credibilities(mixed.frame(rows[mine], sets[mine]), target)
    return found
