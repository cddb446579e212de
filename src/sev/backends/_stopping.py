"""Searches that somebody else may end: a person who has gone, a request whose time is over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sev import _native

_checks = threading.local()


class SearchStopped(BaseException):
    """A search was ended from outside; not an error of a model, which searches survive."""


@contextmanager
def stopping_when(is_over: Callable[[], bool]) -> Iterator[None]:
    """End the searches of this thread, by :class:`SearchStopped`, when there is nobody left to wait for them.

    Compiled searches look every few milliseconds, all others whenever they call the model.

    Parameters
    ----------
    is_over : callable
        Whether to stop; quick, and called from the thread that searches.

    Yields
    ------
    None
        Once, for the block.

    Raises
    ------
    SearchStopped
        In the block, when ``is_over`` returns True.
    """

    def check() -> None:
        if is_over():
            raise SearchStopped

    before = getattr(_checks, "check", None)
    _checks.check = check
    _native.set_poll(check)
    try:
        yield
    finally:
        _checks.check = before
        _native.set_poll(before)


def check_stopped() -> None:
    """Raise :class:`SearchStopped` where the searches of this thread are to end."""
    check = getattr(_checks, "check", None)
    if check is not None:
        check()
