"""Hashes of tables and fitted models that depend on what they hold alone: not on process, object identity or file."""

from __future__ import annotations

import hashlib
import types
from collections.abc import Iterable

import numpy as np
import pandas as pd

from sev.core import python_value


def table_hash(frame: pd.DataFrame) -> str:
    """SHA-256 of names, dtypes and values of a table, its index aside.

    Examples
    --------
    >>> import pandas as pd
    >>> from sev.explainers._hashing import table_hash
    >>> one, other = pd.DataFrame({"a": ["x", None]}), pd.DataFrame({"a": ["x", "None"]})
    >>> table_hash(one) == table_hash(one.set_index([[7, 8]])), table_hash(one) == table_hash(other)
    (True, False)
    """
    digest = hashlib.sha256()
    for column in frame.columns:
        values = frame[column]
        digest.update(repr((str(column), str(values.dtype), len(values))).encode())
        if isinstance(values.dtype, np.dtype) and values.dtype.kind in "fiubmM":
            digest.update(np.ascontiguousarray(values.to_numpy()).tobytes())
            continue
        codes, uniques = pd.factorize(values, use_na_sentinel=True)
        digest.update(codes.astype(np.int64).tobytes())
        digest.update(repr([(type(one).__name__, str(one)) for one in uniques]).encode())
    return digest.hexdigest()


def model_hash(model: object) -> str | None:
    """SHA-256 of a fitted model's state; None for a model whose state cannot be read.

    A model and its copy from a file have the same hash, which pickles and their hashes do not give: these also
    record which parts are one object.

    Examples
    --------
    >>> import pickle
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sev.explainers._hashing import model_hash
    >>> model = LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"])
    >>> model_hash(model) == model_hash(pickle.loads(pickle.dumps(model)))
    True
    """
    try:
        return _Walk().digest(model).hex()
    except Exception:  # whatever a foreign object raises when it is asked for its state
        return None


class _Walk:
    """One way through an object and all that it holds."""

    def __init__(self) -> None:
        self._known: dict[int, bytes] = {}
        self._alive: list[object] = []  # so that no number of an object is given out twice
        self._open: set[int] = set()

    def digest(self, value: object) -> bytes:
        """Hash of a value, of whatever type."""
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            return _hash_class("plain", repr(python_value(value)).encode())
        if id(value) in self._open:
            return _hash_class("itself")
        if id(value) not in self._known:
            self._open.add(id(value))
            self._known[id(value)] = self._digest_parts(value)
            self._alive.append(value)
            self._open.discard(id(value))
        return self._known[id(value)]

    def _digest_parts(self, value: object) -> bytes:
        if isinstance(value, np.ndarray):
            return self._digest_array(value)
        if isinstance(value, (pd.DataFrame, pd.Series, pd.Index)):
            frame = value if isinstance(value, pd.DataFrame) else pd.DataFrame({"": pd.Series(value).to_numpy()})
            return _hash_class("table", table_hash(frame).encode())
        if isinstance(value, (list, tuple)):
            return _hash_class("sequence", *map(self.digest, value))
        if isinstance(value, (set, frozenset)):
            return _hash_class("set", *sorted(map(self.digest, value)))
        if type(value) is dict:
            return _hash_class("map", *sorted(self.digest(key) + self.digest(held) for key, held in value.items()))
        if isinstance(value, type):
            return _hash_class("type", f"{value.__module__}.{value.__qualname__}".encode())
        if isinstance(value, types.FunctionType):
            return self._digest_function(value)
        if isinstance(value, np.dtype):
            return _hash_class("dtype", str(value).encode())
        return self._hash_parts(value)

    def _digest_array(self, array: np.ndarray) -> bytes:
        head = repr((array.shape, str(array.dtype))).encode()
        if array.dtype.names is not None:
            # field by field: the bytes between fields are not part of the value
            return _hash_class("array", head, *(self._digest_array(array[name]) for name in array.dtype.names))
        if array.dtype.kind in "fiubcmMSU":
            return _hash_class("array", head, np.ascontiguousarray(array).tobytes())
        return _hash_class("array", head, *map(self.digest, array.ravel().tolist()))

    def _digest_function(self, function: types.FunctionType) -> bytes:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        constants = [one for one in function.__code__.co_consts if not isinstance(one, types.CodeType)]
        held = [function.__defaults__, function.__kwdefaults__, cells, constants, list(function.__code__.co_names)]
        name = f"{function.__module__}.{function.__qualname__}".encode()
        return _hash_class("function", name, function.__code__.co_code, *map(self.digest, held))

    def _hash_parts(self, value: object) -> bytes:
        """An object by the parts that a pickle would hold."""
        reduced = value.__reduce_ex__(4)
        if isinstance(reduced, str):
            return _hash_class("name", reduced.encode())
        parts = [list(part) if _is_stream(part) else part for part in reduced]
        return _hash_class("object", self.digest(type(value)), *map(self.digest, parts))


def _is_stream(part: object) -> bool:
    return isinstance(part, Iterable) and not isinstance(part, (list, tuple, dict, str, bytes))


def _hash_class(kind: str, *parts: bytes) -> bytes:
    digest = hashlib.sha256(kind.encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()
