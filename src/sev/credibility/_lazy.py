"""Credibility that is fitted when it is first needed."""

from __future__ import annotations

from threading import Lock

from sev.credibility._function import Function
from sev.credibility._protocol import Measure, OtherRows
from sev.credibility._ranks import Credibility, CredibilityLike, as_measure


class LazyCredibility:
    """Rows of the other class, with a measure that is fitted on them when it is first needed.

    Parameters
    ----------
    given : object
        As for :func:`as_measure`; it is checked now.
    others : OtherRows
        The rows.
    """

    def __init__(self, given: CredibilityLike, others: OtherRows) -> None:
        self._measure: Measure | Function | None = as_measure(given)
        self._others: OtherRows | None = others
        self._fitted: Credibility | None = None
        self._lock = Lock()

    @classmethod
    def of_fitted(cls, credibility: Credibility) -> LazyCredibility:
        """What was fitted before.

        Parameters
        ----------
        credibility : Credibility
            The fitted measure.

        Returns
        -------
        LazyCredibility
            One that need not be fitted.
        """
        self = cls.__new__(cls)
        self._measure, self._others, self._fitted, self._lock = None, None, credibility, Lock()
        return self

    def get(self) -> Credibility:
        """The fitted credibility.

        Returns
        -------
        Credibility
            Fitted at the first call.
        """
        with self._lock:  # threads that ask at once wait for one fit
            if self._fitted is None:
                assert self._others is not None
                self._fitted = Credibility.of(self._measure, self._others)
            return self._fitted

    def __getstate__(self) -> dict[str, object]:
        state = {name: value for name, value in self.__dict__.items() if name != "_lock"}
        return {**state, "_measure": None, "_others": None} if self._fitted is not None else state

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, _lock=Lock())
