"""Maps that a wrapper applies to the score of the model inside it, each shown to rise or to fall everywhere.

A decision of the wrapper is a decision about the margin of the model inside only if the map between them is monotone.
The folder of a library reads that from the fitted parameters of the map, and refuses a map of another kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from sev.backends._protocol import Backend
from sev.core import Problem, Solution
from sev.typing import FloatArray, NativeTable


@dataclass(frozen=True)
class Link:
    """A monotone map of scores.

    Parameters
    ----------
    apply : callable
        Scores of the model inside, to scores of the wrapper.
    direction : {-1, 1}
        1 when it never falls, -1 when it never rises.
    """

    apply: Callable[[FloatArray], FloatArray]
    direction: Literal[-1, 1]


def orient_backend(backend: Backend, direction: int) -> Backend:
    """The backend itself, or, behind a link that falls, the same with margins of the other sign."""
    return backend if direction == 1 else _NegatedBackend(backend)


def inner_backend(backend: Backend) -> tuple[Backend, int]:
    """The backend behind a link that falls, and -1; else the backend itself, and 1."""
    return (backend._backend, -1) if isinstance(backend, _NegatedBackend) else (backend, 1)


class _NegatedBackend:
    """A backend whose margins have the other sign, so that they grow with the score after a link that falls.

    ``scores`` still returns what the estimator inside returns, and therefore falls with these margins.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @property
    def family(self) -> str:
        """Name for people."""
        return self._backend.family

    @property
    def n_columns(self) -> int:
        """Number of encoded columns."""
        return self._backend.n_columns

    @property
    def score_tolerance(self) -> float:
        """How far scores may be off by rounding."""
        return self._backend.score_tolerance

    @property
    def lists_sets_later(self) -> bool:
        """Whether the solver leaves out further sets when only the first is wanted."""
        return self._backend.lists_sets_later

    def encode(self, rows: NativeTable) -> FloatArray:
        """Rows in the columns of the backend inside."""
        return self._backend.encode(rows)

    def margins(self, encoded: FloatArray) -> FloatArray:
        """Margins, sign-flipped."""
        return -self._backend.margins(encoded)

    def scores(self, margins: FloatArray) -> FloatArray:
        """The estimator's own scores for given sign-flipped margins."""
        return self._backend.scores(-margins)

    def proof_rows(self, rows: NativeTable) -> NativeTable | None:
        """As the backend inside chooses them."""
        return self._backend.proof_rows(rows)

    def solve(self, problem: Problem) -> Solution:
        """Solve the same problem on the margins of the backend inside."""
        flipped = replace(problem, direction=-problem.direction, low=-problem.high, high=-problem.low)
        solution = self._backend.solve(flipped)
        queries, sets = solution.query_margins, solution.set_margins
        return replace(
            solution,
            query_margins=None if queries is None else -queries,
            set_margins=None if sets is None else -sets,
        )
