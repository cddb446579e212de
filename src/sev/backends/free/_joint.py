"""Rules between features, exactly: features that rules tie together move as one, with the values that keep the rules.

Which of them change is chosen first. For each choice the family's own search sees one feature in their place, whose
values are the permitted combinations that change just these and break no rule. A set that it finds has as many
features as the combination changes, and the others. So the smallest over all choices is the smallest of all, and no
choice has to be searched further than the smallest set that is known.
"""

from __future__ import annotations

import numpy as np

from sev.backends._reading import Reading
from sev.backends.free._joint_blocks import TooManyValuesError, make_block
from sev.backends.free._joint_groups import RowGroup, group_rows
from sev.backends.free._joint_run import JointRun
from sev.backends.free._joint_space import MakeSearch, MergedFeatures
from sev.backends.free._problem import ExactSearch, FreeProblem, FreeSolution
from sev.space import FeatureSpace
from sev.typing import IntArray

#: Choices of the features that change which are gone through.
_MOST_CHOICES = 64


class JointSearch:
    """Searches permitted values that keep rules between features.

    Parameters
    ----------
    reading : Reading
        The model.
    search : ExactSearch
        The family's own search.
    make : callable
        Makes the family's search for other features.
    """

    def __init__(self, reading: Reading, search: ExactSearch, make: MakeSearch) -> None:
        self._reading = reading
        self._search = search
        self._make = make
        self._known: dict[tuple[tuple[int, ...], ...], MergedFeatures] = {}

    def solve(self, problem: FreeProblem, known: FreeSolution) -> tuple[IntArray, FreeSolution] | None:
        """Solve the problem exactly, within its limits; None where the rules tie too many values together.

        Rows that the family's search cannot answer have reasons. Other rows may be left out.

        Parameters
        ----------
        problem : FreeProblem
            The rows, with what is proven about them.
        known : FreeSolution
            Sets of theirs that keep the rules, as small or as little costly as any without rules.

        Raises
        ------
        CannotReadError
            As the family's search.
        """
        parts = []
        for group in group_rows(problem):
            if 2 ** sum(map(len, group.blocks)) <= _MOST_CHOICES:
                parts += self._solve_group(problem, known, group)
        if not parts:
            return None
        rows = np.sort(np.concatenate([rows for rows, _ in parts]))
        return rows, FreeSolution.merge([(np.searchsorted(rows, some), one) for some, one in parts])

    def _solve_group(
        self, problem: FreeProblem, known: FreeSolution, group: RowGroup
    ) -> list[tuple[IntArray, FreeSolution]]:
        """Rows that are searched in the same way; fewer at once where their values are too many together."""
        mine = problem.take(group.rows)
        try:
            blocks = [
                make_block(mine, features, wide, self._search)
                for features, wide in zip(group.blocks, group.wide, strict=True)
            ]
        except TooManyValuesError:
            halves = group.halves(problem.destinations)
            return [part for half in halves for part in self._solve_group(problem, known, half)]
        if any(one is None for one in blocks):
            return []
        merged = self._merged(problem.space, group.blocks)
        run = JointRun(mine, merged, [one for one in blocks if one is not None])
        return [(group.rows, run.solve(known.take(group.rows)))]

    def _merged(self, space: FeatureSpace, blocks: tuple[tuple[int, ...], ...]) -> MergedFeatures:
        known = self._known.get(blocks)
        if known is None:
            known = self._known[blocks] = MergedFeatures.of(self._reading, space, blocks, self._make)
        return known
