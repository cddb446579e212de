"""Models that predict the class with the highest score: the scores of the classes, and what a row becomes.

Such a decision is searched by the lead over the best other class, a number that means nothing to a reader. What people
are told are the model's own scores of the class, before and after the change, and the class that is then the highest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sev.core import Status, unpack
from sev.typing import FloatArray, IntArray, JSONObject, Parsed

if TYPE_CHECKING:
    from sev.explanations._columns import ExplanationColumns


@dataclass(frozen=True, eq=False)
class ClassScores:
    """The scores of the class being explained, and the class of each row with the change made.

    Attributes
    ----------
    before, after : ndarray of shape (n_rows,)
        The model's own score of the class, of the row and of the row with the change of the first set; NaN where there
        is none.
    becomes : ndarray of int, shape (n_rows,)
        Number of the class with the highest score after the change; -1 where there is no change.
    are_probabilities : bool
        Whether these scores are probabilities.
    """

    before: FloatArray
    after: FloatArray
    becomes: IntArray
    are_probabilities: bool

    def take(self, rows: IntArray) -> ClassScores:
        """Those of some rows."""
        return ClassScores(self.before[rows], self.after[rows], self.becomes[rows], self.are_probabilities)

    def to_plain(self) -> JSONObject:
        """Plain values, ready for JSON."""
        return {
            "before": [None if np.isnan(one) else one for one in self.before.tolist()],
            "after": [None if np.isnan(one) else one for one in self.after.tolist()],
            "becomes": self.becomes.tolist(),
            "are_probabilities": self.are_probabilities,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Parsed]) -> ClassScores:
        """Inverse of :meth:`to_plain`."""
        return cls(
            before=np.array(plain["before"], dtype=np.float64),
            after=np.array(plain["after"], dtype=np.float64),
            becomes=np.array(plain["becomes"], dtype=np.int64),
            are_probabilities=plain["are_probabilities"] is True,
        )


def class_scores_of(many: ExplanationColumns) -> ClassScores | None:
    """Score the classes of all rows, before and after; None for a model that decides by a threshold."""
    if many.source is None or not many.source.decides_by_lead:
        return None
    answers = many.answers
    place = {one: number for number, one in enumerate(many.classes)}
    column = np.array([place[target] for target in many.targets], dtype=np.int64)[answers.target]
    n_rows = len(many)
    before, after = np.full(n_rows, np.nan), np.full(n_rows, np.nan)
    becomes = np.full(n_rows, -1, dtype=np.int64)
    vertices = many.source.vertices(many.queries, many.references, answers.reference, many.kind, many.targets[0])
    scored = np.flatnonzero(answers.status != Status.ERROR.code)
    probable = True
    if scored.size:
        # nothing of the row is changed: for "plus", the reference has all values of the row
        unchanged = np.full((len(scored), len(many.feature_names)), many.kind == "plus")
        outputs = vertices.class_outputs(scored, unchanged)
        before[scored] = outputs[np.arange(len(scored)), column[scored]]
        probable = bool(((outputs >= 0) & (outputs <= 1)).all() and np.allclose(outputs.sum(axis=1), 1, atol=1e-3))
    found = np.flatnonzero(answers.has_set)
    if found.size:
        first = unpack(answers.masks[answers.offsets[found]], len(many.feature_names))
        outputs = vertices.class_outputs(found, first)
        after[found] = outputs[np.arange(len(found)), column[found]]
        becomes[found] = outputs.argmax(axis=1)
    return ClassScores(before, after, becomes, probable)
