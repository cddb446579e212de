"""A sequence whose entries are made when they are first read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Generic, TypeVar, overload

T = TypeVar("T")
U = TypeVar("U")


class LazyList(Sequence[T], Generic[T]):
    """Entries that take time to make, made on demand, several at once where several are asked for, and kept.

    Pickling makes all entries: what makes them may not leave the process.

    Parameters
    ----------
    length : int
        Number of entries.
    make : callable
        Takes a list of places; returns their entries.

    Examples
    --------
    >>> from sev.core import LazyList
    >>> squares = LazyList(4, lambda places: [place**2 for place in places])
    >>> squares[3], list(squares.take([2, 0]))
    (9, [4, 0])
    """

    def __init__(self, length: int, make: Callable[[list[int]], Sequence[T]]) -> None:
        self._length = length
        self._make = make
        self._made: dict[int, T] = {}
        self._lock = threading.RLock()

    @classmethod
    def of(cls, entries: Iterable[T]) -> LazyList[T]:
        """A list whose entries are known.

        Parameters
        ----------
        entries : iterable
            The entries.

        Returns
        -------
        LazyList
            The list.
        """
        known = tuple(entries)
        return LazyList(len(known), lambda places: [known[place] for place in places])

    @classmethod
    def concatenate(cls, parts: Sequence[LazyList[T]]) -> LazyList[T]:
        """One list after the other.

        Parameters
        ----------
        parts : sequence of LazyList
            Lists.

        Returns
        -------
        LazyList
            One list.
        """
        starts = [0, *accumulate(map(len, parts))]

        def make(places: list[int]) -> list[T]:
            entries: dict[int, T] = {}
            for part, first, end in zip(parts, starts[:-1], starts[1:], strict=True):
                mine = [place for place in places if first <= place < end]
                entries.update(zip(mine, part.get(place - first for place in mine), strict=True))
            return [entries[place] for place in places]

        return LazyList(starts[-1], make)

    def get(self, places: Iterable[int]) -> list[T]:
        """Some entries, those that are not known yet made together.

        Parameters
        ----------
        places : iterable of int
            Places of entries.

        Returns
        -------
        list
            The entries, in the order of the places.
        """
        wanted = list(places)
        with self._lock:
            missing = [place for place in dict.fromkeys(wanted) if place not in self._made]
            if missing:
                self._made.update(zip(missing, self._make(missing), strict=True))
            return [self._made[place] for place in wanted]

    def take(self, places: Iterable[int]) -> LazyList[T]:
        """A list of some of the entries, without making them.

        Parameters
        ----------
        places : iterable of int
            Places of entries.

        Returns
        -------
        LazyList
            A list of the same entries.
        """
        chosen = [int(place) for place in places]
        return LazyList(len(chosen), lambda some: self.get(chosen[place] for place in some))

    def map(self, function: Callable[[T], U]) -> LazyList[U]:
        """A list of what a function returns for each entry, without making them.

        Parameters
        ----------
        function : callable
            Takes an entry.

        Returns
        -------
        LazyList
            A list of the same length.
        """
        return LazyList(len(self), lambda some: [function(one) for one in self.get(some)])

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> LazyList[T]: ...
    def __getitem__(self, place: int | slice) -> T | LazyList[T]:
        everything = range(self._length)
        return self.take(everything[place]) if isinstance(place, slice) else self.get([everything[place]])[0]

    def __iter__(self) -> Iterator[T]:
        return iter(self.get(range(self._length)))

    def __reduce__(self) -> tuple[Callable[..., LazyList[T]], tuple[tuple[T, ...]]]:
        return LazyList.of, (tuple(self),)
