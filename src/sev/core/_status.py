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
    >>> [status.value for status in Status]
    ['optimal', 'feasible', 'unexplainable', 'undecided', 'not_target', 'error']
    """

    OPTIMAL = "optimal"  #: proven: no smaller set works
    FEASIBLE = "feasible"  #: the set works; a limit ended the search before the proof
    UNEXPLAINABLE = "unexplainable"  #: proven: no allowed set works
    UNDECIDED = "undecided"  #: a limit ended the search with nothing found
    NOT_TARGET = "not_target"  #: the row is not predicted as the class being explained
    ERROR = "error"  #: the model raised, or gave a score that is not finite

    code: int  #: small number for arrays inside this package

    def __new__(cls, name: str) -> Status:
        """A member, numbered in the order of the class."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.code = len(cls.__members__)
        return member

    @classmethod
    def from_code(cls, code: int) -> Status:
        """Inverse of :attr:`code`.

        Parameters
        ----------
        code : int
            As in :attr:`sev.core.Solution.status`.

        Returns
        -------
        Status
            The status with this code.

        Examples
        --------
        >>> from sev import Status
        >>> Status.from_code(Status.OPTIMAL.code).value
        'optimal'
        """
        return _MEMBERS[code]


_MEMBERS: tuple[Status, ...] = tuple(Status)
