"""What is known of the rows of one call: answers to all of them, from those that were searched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from sev.core import Answers, Solution, Status
from sev.explainers._query_proof import Doubts
from sev.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from sev.explainers._task import Task
    from sev.explainers._work import Work

_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """Answers to some rows, and how far the reading of the model was right about them.

    Parameters
    ----------
    answers : Answers
        One for each row.
    read : ndarray of bool
        Rows that were answered by the reading.
    strange : ndarray of bool
        Rows that hold something that no background row does.
    doubts : Doubts
        Where reading and model differ; its rows are answered without the reading already.
    """

    answers: Answers
    read: BoolArray
    strange: BoolArray
    doubts: Doubts

    def __len__(self) -> int:
        return len(self.read)


def gather_outcome(
    task: Task,
    work: Work,
    solution: Solution,
    result_scores: FloatArray,
    scores: FloatArray,
    rows: IntArray,
    reasons: dict[int, str],
    *,
    later: bool,
) -> Outcome:
    """Put what was found for some rows among all rows that were scored.

    Parameters
    ----------
    task : Task
        The class that is explained.
    work : Work
        The rows that were searched, after their search.
    solution : Solution
        What was found for them.
    result_scores : ndarray
        The model's own scores after the first change of each.
    scores : ndarray
        The model's own scores of all rows.
    rows : ndarray of int
        Places of the searched rows among all.
    reasons : dict of int to str
        Rows that could not be scored, and why.
    later : bool
        Whether sets beside the first wait until somebody asks for them.

    Returns
    -------
    Outcome
        One answer for each row that was scored.
    """
    n_rows = len(scores)
    waits = np.zeros(len(rows), dtype=np.bool_)
    if later:
        waits = work.read & solution.has_set & ((np.diff(solution.offsets) > 1) | ~solution.complete)

    def among_all(values: NDArray[_Number], otherwise: float) -> NDArray[_Number]:
        """One value for each row that was scored, from those of the rows that were searched."""
        if len(rows) == n_rows:
            return values
        everything = np.full(n_rows, otherwise, dtype=values.dtype)
        everything[rows] = values
        return everything

    status = among_all(solution.status, Status.NOT_TARGET.code)
    status[list(reasons)] = Status.ERROR.code
    found = among_all(np.diff(solution.offsets), 0)
    answers = Answers(
        status=status,
        lower_bound=among_all(solution.lower_bound, 0),
        score=scores,
        result_score=among_all(result_scores, np.nan),
        target=np.full(n_rows, task.number, dtype=np.int64),
        reference=among_all(work.assigned, 0) + task.first_reference,
        offsets=np.concatenate([[0], np.cumsum(found)]),
        masks=solution.masks,
        complete=among_all(solution.complete, True),
        listed=among_all(~waits, True),
        size_without_limit=np.full(n_rows, np.nan),
        first_of_all=among_all(solution.complete, True),
        reasons={**reasons, **{int(rows[row]): reason for row, reason in solution.reasons.items()}},
    )
    return Outcome(
        answers=answers,
        read=among_all(work.read, False),
        strange=among_all(work.strange, False),
        doubts=replace(work.doubts, rows={int(rows[row]): reason for row, reason in work.doubts.rows.items()}),
    )
