"""What actions make of the rows of one call: permitted reference values, rules to keep, and the cost of each change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.actions import KeptRules, Rule, column_of, move_costs
from sev.core import Answers, Solution, Status, unpack, warn_user
from sev.exceptions import RuleWarning
from sev.explainers._work import Settings
from sev.space import FeatureSpace
from sev.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from sev.explainers._task import Task

#: Two costs that differ by less than this share are equal.
_SAME_COST = 1e-12
_EXPLAINED = [status.code for status in (Status.OPTIMAL, Status.FEASIBLE, Status.UNEXPLAINABLE, Status.UNDECIDED)]


@dataclass(frozen=True, eq=False)
class Permitted:
    """Rules to keep and costs of moves, for the rows of one call.

    Parameters
    ----------
    rules : KeptRules
        What results must not break.
    costs : ndarray of shape (n_rows, n_features)
        Cost of moving each feature to its permitted value.
    assigned : ndarray of int
        Number of each row's row of permitted values.
    """

    rules: KeptRules
    costs: FloatArray
    assigned: IntArray

    def kept(self, rows: IntArray, sets: BoolArray) -> BoolArray:
        """Which vertices keep the rules."""
        return self.rules.kept(rows, sets)

    def arrange(self, solution: Solution, rows: IntArray) -> tuple[Solution, IntArray]:
        """The same solution without sets that break a rule, the sets of least cost first.

        Parameters
        ----------
        solution : Solution
            Found without the rules.
        rows : ndarray of int
            The row of this call that each row of the solution is.

        Returns
        -------
        solution : Solution
            Rows all of whose sets were left out have the status undecided, with the bound that this proves.
        open : ndarray of int
            The places of these rows: a larger set may keep the rules.
        """
        counts = np.diff(solution.offsets)
        owner = np.repeat(np.arange(len(solution), dtype=np.int64), counts)
        sets = unpack(solution.masks, self.costs.shape[1])
        kept = self.kept(rows[owner], sets) if self.rules else np.ones(len(owner), dtype=np.bool_)
        order = self._order_by_cost(owner, (self.costs[rows[owner]] * sets).sum(axis=1))
        order = order[kept[order]]
        left = np.bincount(owner[order], minlength=len(solution))
        opened = np.flatnonzero((left == 0) & (counts > 0))
        status, lower_bound = solution.status.copy(), solution.lower_bound.copy()
        status[opened] = Status.UNDECIDED.code
        complete = solution.complete.copy()
        # where all sets of a size were seen to break a rule, the next size is the smallest that can keep them
        sizes = solution.sizes()[opened].astype(np.int64)  # these had sets
        seen = complete[opened] & (lower_bound[opened] == sizes)
        lower_bound[opened] = np.where(seen, sizes + 1, lower_bound[opened])
        complete[opened] = False
        return replace(
            solution,
            status=status,
            lower_bound=lower_bound,
            offsets=np.concatenate([[0], np.cumsum(left)]).astype(np.int64),
            masks=solution.masks[order],
            complete=complete,
            set_margins=None if solution.set_margins is None else solution.set_margins[order],
        ), opened.astype(np.int64)

    @staticmethod
    def _order_by_cost(owner: IntArray, costs: FloatArray) -> IntArray:
        """Sets of each row by cost; of equal ones in the order in which they came."""
        scale = float(costs.max(initial=0.0)) * _SAME_COST
        rounded = np.round(costs / scale) if scale > 0 else costs
        return np.lexsort((np.arange(len(owner)), rounded, owner))


def permit(
    task: Task, queries: pd.DataFrame, settings: Settings, assigned: IntArray
) -> tuple[Task, Settings, Permitted | None]:
    """The task and the settings under which the rows of one call are searched.

    The destinations of ``values="reference"`` are reference rows like others: each query gets one whose values are
    permitted for it, and the features that it may use.
    """
    bound = task.bound
    if not task.has_actions or bound is None or settings.kind != "minus":
        return task, settings, None
    found = task.nearest.permit(queries, assigned)
    if found.rows is not task.reference.rows:
        task = task.compared_with(found)
    permitted = Permitted(
        KeptRules(bound.rules, task.space, queries, found.rows, found.assigned),
        move_costs(bound, queries, found.rows.iloc[found.assigned]),
        found.assigned,
    )
    # which set comes first depends on all of them
    return task, replace(settings, allowed=settings.allowed & found.usable, settled=True), permitted


def is_explained(answers: Answers) -> BoolArray:
    """Rows that were searched."""
    return np.isin(answers.status, _EXPLAINED)


def warn_of_broken_rules(rules: Sequence[Rule], space: FeatureSpace, queries: pd.DataFrame, answers: Answers) -> None:
    """Report explained rows that break a rule themselves."""
    explained = queries.iloc[np.flatnonzero(is_explained(answers))]
    for rule in rules:
        cells = {name: explained[column_of(space, name)].reset_index(drop=True) for name in rule.names}
        count = int(rule.broken(cells).sum())
        if count:
            rows = f"{count} rows break" if count > 1 else "1 row breaks"
            warn_user(
                f"{rows} the rule {rule.text!r} before any change; it is not applied to "
                f"{'them' if count > 1 else 'it'}. Correct the rows or the rule.",
                RuleWarning,
            )
