"""From Python into machine code.

The arguments of a call are written into one block of eight-byte slots: a number takes one, an array one for its address
and one for each dimension. Machine code trusts the block, so each argument is checked first.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np

from sev.kernels._kinds import split

#: What machine code gives when all went well, with a result and without. All else means that there was no room.
_WELL = (0, -2)

_address_of, _first_byte = ctypes.addressof, ctypes.c_char.from_buffer
_Entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)


class Kernel:
    """A kernel that can be called; it releases the interpreter's lock.

    Parameters
    ----------
    name : str
        For messages.
    address : int
        Of its machine code.
    kinds : list of str
        What it takes, flattened.
    """

    def __init__(self, name: str, address: int, kinds: list[str]) -> None:
        if not address:  # of a name that LLVM does not know
            raise LookupError(f"no machine code for {name}")
        self._name = name
        self._enter = _Entry(address)
        parts = [split(kind) for kind in kinds]
        self._kinds = [(np.dtype("bool" if element == "boolean" else element), n) for element, n in parts]
        codes = (("P" + "q" * n) if n else ("d" if element == "float64" else "q") for element, n in parts)
        self._block = struct.Struct("".join(codes))

    def __call__(self, *arguments: Any) -> int:
        """Call the kernel; gives its result, 0 if it has none."""
        flat = [one for some in arguments for one in (some if isinstance(some, tuple) else (some,))]
        if len(flat) != len(self._kinds):
            raise TypeError(f"{self._name} takes {len(self._kinds)} numbers and arrays, got {len(flat)}")
        slots: list[Any] = []
        for one, (dtype, n_dimensions) in zip(flat, self._kinds, strict=True):
            if n_dimensions == 0:
                slots.append(one)
                continue
            flags, shape = one.flags, one.shape
            if not flags.c_contiguous or len(shape) != n_dimensions or one.dtype != dtype:
                raise TypeError(f"{self._name} takes {dtype} of {n_dimensions} dimensions in C order, got {one!r}")
            if 0 in shape:
                slots.append(0)
            elif flags.writeable:  # by far the quickest way to the address
                slots.append(_address_of(_first_byte(one)))
            else:
                slots.append(one.__array_interface__["data"][0])
            slots += shape
        result = ctypes.c_int64(0)
        if self._enter(self._block.pack(*slots), ctypes.byref(result)) not in _WELL:
            raise MemoryError(f"no room for {self._name}")
        return result.value
