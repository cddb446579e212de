"""How a search for an explanation ended."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How the search for one row ended; compares equal to its name as a plain string.

    - ``optimal``: the set works, and it is proven that no smaller set works (with ``minimise="cost"``, that no
      permitted change costs less).
    - ``feasible``: the set works, but a limit ended the search before it was proven to be smallest;
      ``lower_bound`` is the size that is proven.
    - ``unexplainable``: it is proven that no allowed set works.
    - ``undecided``: a limit ended the search before a set was found; there may be one.
    - ``not_target``: the row is not predicted as the class being explained, so there is nothing to explain.
    - ``error``: the model raised an error, or returned a score that is not finite.

    Examples
    --------
    >>> from sev import Status
    >>> Status.OPTIMAL == "optimal"
    True
    >>> [status.value for status in Status]
    ['optimal', 'feasible', 'unexplainable', 'undecided', 'not_target', 'error']
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    UNEXPLAINABLE = "unexplainable"
    UNDECIDED = "undecided"
    NOT_TARGET = "not_target"
    ERROR = "error"

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
