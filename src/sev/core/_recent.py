"""Things that are made on demand and kept while they are used."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Made = TypeVar("Made")


class Recent:
    """Keeps what was used last; safe in threads.

    Parameters
    ----------
    most : int
        How many things are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def __reduce__(self) -> tuple[type[Recent], tuple[int]]:
        return Recent, (self._most,)  # what is kept can be made again

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What is kept under a key, made when there is nothing.

        Parameters
        ----------
        key : hashable
            Its name.
        make : callable
            Makes it; two threads may do so at the same time.

        Returns
        -------
        object
            The same one as last time, where it is still kept.
        """
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                kept: Made = self._kept[key]
                return kept
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made
