"""Fitted objects made of plain values, as JSON holds them, and back."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from sev.exceptions import ArchiveError, InputError
from sev.typing import Cell, JSONValue, Parsed

#: Dtypes of arrays that are written; little-endian on every machine.
_DTYPES = ("<f8", "<i8", "<i4", "<u8")


class PlainObjects:
    """Writes and reads dataclasses of a closed list of types.

    Parameters
    ----------
    types : mapping of str to type
        The dataclasses; their fields hold such dataclasses, tuples, arrays of numbers, and cells.
    what : str
        What the objects are, for errors.
    """

    def __init__(self, types: Mapping[str, type], what: str) -> None:
        self._types = dict(types)
        self._what = what

    def to_plain(self, value: object, encode: Callable[[Cell], JSONValue]) -> JSONValue:
        """An object as lists, mappings and cells; ``encode`` writes a cell.

        Parameters
        ----------
        value : object
            A dataclass of the list.
        encode : callable
            Writes a cell.

        Returns
        -------
        object
            Ready for JSON.

        Raises
        ------
        InputError
            If a field holds what has no form to be saved in.
        """
        if is_dataclass(value) and self._types.get(type(value).__name__) is type(value):
            parts = {one.name: self.to_plain(getattr(value, one.name), encode) for one in fields(value)}
            return {"type": type(value).__name__, **parts}
        if isinstance(value, tuple):
            return [self.to_plain(one, encode) for one in value]
        if isinstance(value, np.ndarray):
            dtype = value.dtype.newbyteorder("<").str
            if dtype not in _DTYPES:
                raise InputError(f"An array of dtype {value.dtype} cannot be saved: use one of {sorted(_DTYPES)}.")
            data = np.ascontiguousarray(value, dtype=dtype).tobytes()
            return {"array": base64.b64encode(data).decode("ascii"), "dtype": dtype, "shape": list(value.shape)}
        return {"cell": encode(value)}

    def from_plain(self, plain: Parsed, decode: Callable[[Parsed], Cell]) -> Any:
        """Inverse of :meth:`to_plain`.

        Parameters
        ----------
        plain : object
            What :meth:`to_plain` returned.
        decode : callable
            Reads a cell.

        Returns
        -------
        object
            The object.

        Raises
        ------
        ArchiveError
            If the content is damaged, or of an unknown kind.
        """
        if isinstance(plain, list):
            return tuple(self.from_plain(one, decode) for one in plain)
        if not isinstance(plain, dict) or sum(key in plain for key in ("cell", "type", "array")) != 1:
            raise ArchiveError(f"The file's {self._what} is damaged: save the explainer again.")
        if "cell" in plain:
            return decode(plain["cell"])
        if "array" in plain:
            return self._read_array(plain)
        cls = self._types.get(plain["type"]) if isinstance(plain["type"], str) else None
        if cls is None or {one.name for one in fields(cls)} != set(plain) - {"type"}:
            shown = str(plain["type"])[:40]
            raise ArchiveError(
                f"The file's {self._what} is of the kind {shown!r}, which this version of sev does not know: load it "
                "with the version that saved it."
            )
        return cls(**{name: self.from_plain(part, decode) for name, part in plain.items() if name != "type"})

    def _read_array(self, plain: dict[str, Parsed]) -> np.ndarray:
        shape, dtype = plain.get("shape"), plain.get("dtype")
        known = dtype in _DTYPES and isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
        if not known or set(plain) != {"array", "dtype", "shape"} or not isinstance(plain["array"], str):
            raise ArchiveError(f"The file's {self._what} holds a damaged array: save the explainer again.")
        try:
            values = np.frombuffer(base64.b64decode(plain["array"], validate=True), dtype=dtype).reshape(shape)
        except ValueError as error:
            raise ArchiveError(f"The file's {self._what} holds a damaged array: save the explainer again.") from error
        return values.astype(values.dtype.newbyteorder("="))  # a copy that may be written to
