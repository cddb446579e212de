"""Flat buffers, as far as CatBoost uses them; every offset is checked before it is followed."""

from __future__ import annotations

import struct

import numpy as np

from sev.exceptions import ArchiveError


class Table:
    """A table of a flat buffer: fields by number, each found through a list of offsets."""

    def __init__(self, data: bytes, place: int) -> None:
        self._data = data
        self._place = place
        [back] = struct.unpack_from("<i", data, self._check_range(place, 4))
        self._fields = self._check_range(place - back, 4)
        [self._length] = struct.unpack_from("<H", data, self._fields)

    @classmethod
    def root(cls, data: bytes) -> Table:
        """The table that a buffer starts with."""
        [place] = struct.unpack_from("<I", data, 0)
        return cls(data, place)

    def _check_range(self, place: int, length: int) -> int:
        if place < 0 or place + length > len(self._data):
            raise ArchiveError("The CatBoost model is damaged: it refers to bytes outside itself.")
        return place

    def _find_field(self, number: int) -> int | None:
        """Where a field's value is, None if it is left out."""
        entry = 4 + 2 * number
        if entry + 2 > self._length:
            return None
        [offset] = struct.unpack_from("<H", self._data, self._check_range(self._fields + entry, 2))
        return self._place + offset if offset else None

    def integer(self, number: int, default: int) -> int:
        """A field of four bytes."""
        place = self._find_field(number)
        if place is None:
            return default
        return int(struct.unpack_from("<i", self._data, self._check_range(place, 4))[0])

    def octet(self, number: int, default: int) -> int:
        """A field of one byte."""
        place = self._find_field(number)
        return default if place is None else self._data[self._check_range(place, 1)]

    def _follow_offset(self, place: int) -> int:
        return place + int(struct.unpack_from("<I", self._data, self._check_range(place, 4))[0])

    def table(self, number: int) -> Table | None:
        """A field that is a table."""
        place = self._find_field(number)
        return None if place is None else Table(self._data, self._follow_offset(place))

    def _find_vector(self, number: int, itemsize: int) -> tuple[int, int]:
        place = self._find_field(number)
        if place is None:
            return 0, 0
        start = self._follow_offset(place)
        [count] = struct.unpack_from("<I", self._data, self._check_range(start, 4))
        return self._check_range(start + 4, count * itemsize), count

    def vector(self, number: int, dtype: str) -> np.ndarray:
        """A field that is a list of numbers."""
        start, count = self._find_vector(number, np.dtype(dtype).itemsize)
        return np.frombuffer(self._data, dtype=dtype, count=count, offset=start)

    def texts(self, number: int) -> list[bytes]:
        """A field that is a list of texts."""
        start, count = self._find_vector(number, 4)
        found = []
        for place in range(count):
            text = self._follow_offset(start + 4 * place)
            [length] = struct.unpack_from("<I", self._data, self._check_range(text, 4))
            found.append(self._data[self._check_range(text + 4, length) : text + 4 + length])
        return found

    def tables(self, number: int) -> list[Table]:
        """A field that is a list of tables."""
        start, count = self._find_vector(number, 4)
        return [Table(self._data, self._follow_offset(start + 4 * place)) for place in range(count)]
