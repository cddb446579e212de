"""A fitted tree ensemble as one flat forest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from scipy.special import expit

from sev.backends.trees._forest import Forest
from sev.backends.trees._proof_rows import planted_rows
from sev.backends.trees.search.solver import Solver
from sev.core import Problem, Solution
from sev.typing import FloatArray, NativeTable


@dataclass(frozen=True)
class Link:
    """From margins to scores: ``margin * scale``, or the logistic function of it."""

    kind: Literal["linear", "logistic"]
    scale: float

    def __call__(self, margins: FloatArray) -> FloatArray:
        """Scores of margins."""
        scaled = np.asarray(margins, dtype=np.float64) * self.scale
        return scaled if self.kind == "linear" else np.asarray(expit(scaled))


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeBackend:
    """A binary tree ensemble with an exact solver.

    Parameters
    ----------
    forest : Forest
        The trees; their leaves add up to the margin.
    encoder : callable
        From rows as the estimator takes them to numbers.
    link : Link
        From the margin to the model's own score.
    noise : float
        How far the model's own sum may be from the exact one, by rounding.
    score_noise : float
        The same for the rounding of the score itself.
    takes_missing : bool
        Whether the model scores rows with missing values.
    fixed_columns : tuple of int
        Columns whose values are categories, in which no numbers may be planted to prove the reading.
    """

    forest: Forest
    encoder: Callable[[NativeTable], FloatArray]
    link: Link
    noise: float
    score_noise: float = 1e-15
    takes_missing: bool = False
    fixed_columns: tuple[int, ...] = ()
    family: ClassVar[str] = "trees"
    lists_sets_later: ClassVar[bool] = False

    @property
    def n_columns(self) -> int:
        """Number of encoded columns."""
        return self.forest.n_columns

    @cached_property
    def score_tolerance(self) -> float:
        """How far scores may be from the model's own by rounding."""
        steepest = 1.0 if self.link.kind == "linear" else 0.25
        return self.score_noise + (self.noise + self.own_noise) * self.link.scale * steepest

    @property
    def own_noise(self) -> float:
        """How far sums in another order than the model's may be from the exact one."""
        return 1e-12 * self.forest.magnitude

    def encode(self, rows: NativeTable) -> FloatArray:
        """Rows as numbers, in the precision in which the model compares them."""
        return np.ascontiguousarray(self.encoder(rows), dtype=np.float64)

    def margins(self, encoded: FloatArray) -> FloatArray:
        """Sum of the leaves that each row reaches."""
        return self.forest.native.margins(np.ascontiguousarray(encoded, dtype=np.float64))

    def scores(self, margins: FloatArray) -> FloatArray:
        """The model's own scores for given margins."""
        return self.link(margins)

    def proof_rows(self, rows: NativeTable) -> NativeTable | None:
        """Rows at the thresholds, one step either side, and with missing values."""
        return planted_rows(rows, self.forest.thresholds(), self.fixed_columns, missing=self.takes_missing)

    def solve(self, problem: Problem) -> Solution:
        """Solve the problem exactly, within its limits."""
        return self._solver.solve(problem)

    @cached_property
    def _solver(self) -> Solver:
        return Solver(self.forest, self.noise + self.own_noise, 8.0 * self.own_noise)

    def __getstate__(self) -> dict[str, object]:
        """Without what is made on demand."""
        return {name: value for name, value in self.__dict__.items() if name != "_solver"}
