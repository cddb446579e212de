"""Answers of a search over permitted values, with the rows that their sets lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sev.core import Answers, LazyList, ragged_take
from sev.explanations import EnoughValues
from sev.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class FreeAnswers:
    """Answers of rows, with the rows that their sets lead to.

    Parameters
    ----------
    answers : Answers
        One for each row; where ``listed`` says that the sets after the first are left out, they can be listed later.
    results : DataFrame
        The changed row of each set, in the common form.
    searched : ndarray of str
        For each row "all" ("reference" where that is all) or "candidates": which of the permitted values were searched.
    enough : LazyList of dict
        For each set and feature, values that do: a pair of ends or a tuple of values.
    costs : ndarray
        The cost of each row's first set; NaN where there is none, and where it is no longer known.
    """

    answers: Answers
    results: pd.DataFrame
    searched: NDArray[np.str_]
    enough: LazyList[Mapping[str, EnoughValues]]
    costs: FloatArray

    @classmethod
    def concatenate(cls, parts: list[FreeAnswers]) -> FreeAnswers:
        """Answers of consecutive rows as one."""
        if len(parts) == 1:
            return parts[0]
        filled = [part.results for part in parts if len(part.results)] or [parts[0].results]
        return cls(
            answers=Answers.concatenate([part.answers for part in parts]),
            results=pd.concat(filled, ignore_index=True),
            searched=np.concatenate([part.searched for part in parts]),
            enough=LazyList.concatenate([part.enough for part in parts]),
            costs=np.concatenate([part.costs for part in parts]),
        )

    def take(self, rows: IntArray) -> FreeAnswers:
        """The same for some rows, in the given order."""
        _, items = ragged_take(self.answers.offsets, rows)
        return FreeAnswers(
            answers=self.answers.take(rows),
            results=self.results.iloc[items].reset_index(drop=True),
            searched=self.searched[rows],
            enough=self.enough.take(items.tolist()),
            costs=self.costs[rows],
        )

    def with_others(self, found: FreeAnswers) -> FreeAnswers:
        """The first sets as they are, followed by the others of the same rows.

        Parameters
        ----------
        found : FreeAnswers
            All sets of the rows, of each of which one is known.
        """
        n_rows = len(self.answers)
        owner = np.repeat(np.arange(n_rows), np.diff(found.answers.offsets))
        others = np.flatnonzero((found.answers.masks != self.answers.masks[owner]).any(axis=1))
        owners = np.concatenate([np.arange(n_rows), owner[others]])
        order = np.argsort(owners, kind="stable")
        items = np.concatenate([np.arange(n_rows), n_rows + others])[order]
        answers = replace(
            self.answers,
            offsets=np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n_rows))]).astype(np.int64),
            masks=np.concatenate([self.answers.masks, found.answers.masks])[items],
            complete=found.answers.complete,
            first_of_all=found.answers.first_of_all,
            listed=np.ones(n_rows, dtype=np.bool_),
            set_margins=None,
        )
        return replace(
            self,
            answers=answers,
            results=pd.concat([self.results, found.results], ignore_index=True).iloc[items].reset_index(drop=True),
            enough=LazyList.concatenate([self.enough, found.enough]).take(items.tolist()),
        )


class RowFeatures(NamedTuple):
    """What is said about the features of each row.

    Parameters
    ----------
    usable : ndarray of bool, shape (n_rows, n_features), default=None
        Those that each row may use, of those that all rows may; None: all of these.
    firsts : ndarray of bool, shape (n_rows, n_features), default=None
        Those of the first set of each row, where it is known and only the others are to be listed.
    """

    usable: BoolArray | None = None
    firsts: BoolArray | None = None

    def take(self, rows: IntArray | slice) -> RowFeatures:
        """The same for some rows."""
        return RowFeatures(*(None if one is None else one[rows] for one in self))


#: Nothing in particular.
NO_FEATURES = RowFeatures()


def place_results(answers: Answers, references: pd.DataFrame, results: pd.DataFrame) -> tuple[Answers, pd.DataFrame]:
    """The references followed by the changed row of each set, and answers that name the row of their first set."""
    number = answers.reference.copy()
    number[answers.has_set] = len(references) + answers.offsets[:-1][answers.has_set]
    rows = pd.concat([references, results], ignore_index=True) if len(results) else references.copy()
    return replace(answers, reference=number), rows
