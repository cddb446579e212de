"""UBJSON as XGBoost writes it: read to plain values, and written again."""

from __future__ import annotations

import struct
from typing import TypeAlias

import numpy as np

from sev.exceptions import ArchiveError
from sev.typing import Parsed

_DEEPEST = 64
#: Numbers by their mark; big-endian.
_NUMBERS: dict[bytes, str] = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
_MARKS = {np.dtype(kind).newbyteorder("="): mark for mark, kind in _NUMBERS.items()}
_LONG = struct.Struct(">q")
#: What UBJSON can hold; XGBoost writes lists of numbers as arrays.
Value: TypeAlias = "bool | str | np.generic | np.ndarray | list[Value] | dict[str, Value] | None"


def read(data: bytes) -> Parsed:
    """The value in some bytes: mappings, lists, texts, Python numbers, and arrays where XGBoost wrote typed ones.

    Raises
    ------
    ArchiveError
        When the bytes are not exactly one such value, or a mapping has a key twice.
    """
    reader = _Reader(data)
    try:
        value = reader.value(reader.mark(), 0)
    except ArchiveError:
        raise
    except (IndexError, ValueError, struct.error) as error:
        raise ArchiveError(f"The XGBoost model is cut off or damaged: {error}.") from error
    if reader.place != len(data):
        raise ArchiveError("The XGBoost model has data after its end.")
    return value


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def take(self, length: int) -> bytes:
        if length < 0 or self.place + length > len(self._data):
            raise ArchiveError("The XGBoost model is cut off or damaged.")
        found = self._data[self.place : self.place + length]
        self.place += length
        return found

    def mark(self) -> bytes:
        return self.take(1)

    def integer(self) -> int:
        mark = self.mark()
        if mark not in (b"i", b"U", b"I", b"l", b"L"):
            raise ArchiveError("The XGBoost model has a length that is not a number.")
        return int(self.number(mark))

    def number(self, mark: bytes) -> np.number:
        dtype = np.dtype(_NUMBERS[mark])
        return np.frombuffer(self.take(dtype.itemsize), dtype=dtype)[0].astype(dtype.newbyteorder("="))

    def text(self) -> str:
        return self.take(self.integer()).decode()

    def value(self, mark: bytes, depth: int) -> Value:
        if depth > _DEEPEST:
            raise ArchiveError("The XGBoost model is nested too deeply.")
        if mark in _NUMBERS:
            return self.number(mark)
        if mark == b"S":
            return self.text()
        if mark in (b"T", b"F", b"Z"):
            return {b"T": True, b"F": False, b"Z": None}[mark]
        if mark == b"{":
            return self.mapping(depth)
        if mark == b"[":
            return self.array(depth)
        raise ArchiveError(f"The XGBoost model has an unknown type marker: {mark!r}.")

    def mapping(self, depth: int) -> dict[str, Value]:
        found: dict[str, Value] = {}
        while self._data[self.place : self.place + 1] != b"}":
            key = self.text()
            if key in found:
                raise ArchiveError(f"The XGBoost model has the entry {key[:40]!r} twice.")
            found[key] = self.value(self.mark(), depth + 1)
        self.place += 1
        return found

    def array(self, depth: int) -> Value:
        after = self._data[self.place : self.place + 1]
        if after == b"$":
            self.place += 1
            mark = self.mark()
            if mark not in _NUMBERS or self.mark() != b"#":
                raise ArchiveError("The XGBoost model has an array of a type that is not known.")
            dtype = np.dtype(_NUMBERS[mark])
            count = self.integer()
            return np.frombuffer(self.take(count * dtype.itemsize), dtype=dtype).astype(dtype.newbyteorder("="))
        if after == b"#":
            self.place += 1
            count = self.integer()
            if not 0 <= count <= len(self._data):
                raise ArchiveError("The XGBoost model has an array whose length cannot be right.")
            return [self.value(self.mark(), depth + 1) for _ in range(count)]
        found = []
        while self._data[self.place : self.place + 1] != b"]":
            found.append(self.value(self.mark(), depth + 1))
        self.place += 1
        return found


def write(value: Value) -> bytes:
    """Inverse of :func:`read`."""
    pieces: list[bytes] = []
    _write_value(value, pieces)
    return b"".join(pieces)


def _write_value(value: Value, pieces: list[bytes]) -> None:
    if isinstance(value, dict):
        pieces.append(b"{")
        for key, item in value.items():
            _write_text(key, pieces)
            _write_value(item, pieces)
        pieces.append(b"}")
    elif isinstance(value, list):
        pieces.append(b"[#L" + _LONG.pack(len(value)))
        for item in value:
            _write_value(item, pieces)
    elif isinstance(value, np.ndarray):
        kind = np.dtype(_NUMBERS[_MARKS[value.dtype]])
        pieces.append(b"[$" + _MARKS[value.dtype] + b"#L" + _LONG.pack(len(value)) + value.astype(kind).tobytes())
    elif isinstance(value, str):
        pieces.append(b"S")
        _write_text(value, pieces)
    elif isinstance(value, np.generic):
        mark = _MARKS[value.dtype]
        pieces.append(mark + np.array(value, dtype=_NUMBERS[mark]).tobytes())
    else:
        pieces.append({True: b"T", False: b"F", None: b"Z"}[value])


def _write_text(text: str, pieces: list[bytes]) -> None:
    data = text.encode()
    pieces.append(b"L" + _LONG.pack(len(data)) + data)
