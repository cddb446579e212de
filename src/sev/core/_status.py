"""How a search for an explanation ended."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How a search ended; compares equal to its name as a plain string.

    Examples
    --------
    >>> from sev import Status
    >>> Status.OPTIMAL == "optimal"
    True
    """

    OPTIMAL = "optimal"  #: proven: no smaller set works
    FEASIBLE = "feasible"  #: the set works; a limit ended the search before the proof
    UNEXPLAINABLE = "unexplainable"  #: proven: no allowed set works
    UNDECIDED = "undecided"  #: a limit ended the search with nothing found
    NOT_TARGET = "not_target"  #: the row is not predicted as the class being explained
    ERROR = "error"  #: the model raised, or gave a score that is not finite

    @property
    def code(self) -> int:
        """Small number for arrays inside this package."""
        return _CODES[self]

    @classmethod
    def from_code(cls, code: int) -> Status:
        """Inverse of :attr:`code`."""
        return _MEMBERS[code]


_MEMBERS: tuple[Status, ...] = tuple(Status)
_CODES: dict[Status, int] = {status: code for code, status in enumerate(_MEMBERS)}
