"""Our own reader of skops files: from a table of allowed types, with every state checked before it is set.

skops decides by the name of a type. That is not enough here: a trusted name may be put into any kind of node, so that
its constructor is called with arguments of the attacker's choice, and compiled code trusts the numbers in a state
blindly. This reader knows for each kind of node which names may stand in it, builds states as plain values first, and
hands a state to an object only after :mod:`sev.files._states` has checked it. It reads each member of the file once
and works on what it has parsed, so that nothing else can be loaded than what was checked.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import TypeAlias, cast

import numpy as np

from sev.exceptions import ArchiveError, UntrustedTypeError
from sev.files._container import check_contents, read_member
from sev.files._random import generator_from_state, random_state_from_state
from sev.files._states import build
from sev.files._trusted import KEY_TYPES, SCALARS, TYPES, find_class, find_function, is_trusted
from sev.typing import FittedModel, Parsed, PlainValue

#: What a node is turned into: a value of a trusted type.
Built: TypeAlias = object

_MEMBER_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\.(json|npy|npz|bin)")
_MOST_MEMBERS = 1_000_000
_NEWEST_PROTOCOL = 2
_LARGEST_HEADER = 10_000
_MOST_DIMENSIONS = 8


def read_skops(data: bytes) -> FittedModel:
    """The object in a skops file.

    Parameters
    ----------
    data : bytes
        The file.

    Raises
    ------
    UntrustedTypeError
        When it holds types that are not on the list of trusted ones.
    ArchiveError
        When something in it is not as skops writes it, or a state could make compiled code read foreign memory, loop
        for ever, open a file or run code.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        check_contents(archive.infolist(), _MEMBER_NAME, _MOST_MEMBERS)
        members = {info.filename: read_member(archive, info) for info in archive.infolist()}
    schema = json.loads(members["schema.json"])
    protocol = schema.get("protocol")
    if type(protocol) is not int or not 0 <= protocol <= _NEWEST_PROTOCOL:
        raise ArchiveError(f"The model has skops protocol {str(protocol)[:20]}; up to {_NEWEST_PROTOCOL} is read.")
    strange = sorted(untrusted_types(schema))
    if strange:
        raise UntrustedTypeError(f"it holds types that are not on the list of safe ones: {', '.join(strange[:10])}.")
    return _Reader(members).read(schema)


def untrusted_types(schema: Parsed) -> set[str]:
    """Names in a skops schema that are not trusted in the kind of node that they stand in."""
    found: set[str] = set()
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            waiting.extend(node.values())
            if "__loader__" in node:
                name = f"{node.get('__module__')}.{node.get('__class__')}"
                if not is_trusted(str(node["__loader__"]), name):
                    found.add(name)
    return found


class _Reader:
    """Builds values from nodes; members are turned into arrays once, however often they are named."""

    def __init__(self, members: dict[str, bytes]) -> None:
        self._members = members
        self._arrays: dict[str, np.ndarray] = {}

    def read(self, node: Parsed) -> Built:
        """The value of a node."""
        loader, name = str(node["__loader__"]), f"{node['__module__']}.{node['__class__']}"
        if not is_trusted(loader, name):  # seen before; but nothing is built that was not looked at here
            raise UntrustedTypeError(f"it holds a {loader} of a type that is not on the list of safe ones: {name}.")
        return _LOADERS[loader](self, node, name)

    # -- plain values --------------------------------------------------------------------------------------------------

    def _read_json(self, node: Parsed, name: str) -> PlainValue:
        value = json.loads(node["content"])
        if not isinstance(value, (str, bool, int, float, type(None))):
            raise ArchiveError("The model holds an object where a number, a text or a list is expected.")
        return value

    def _read_items(self, node: Parsed) -> list[Built]:
        if not isinstance(node["content"], list):
            raise ArchiveError("The model holds a list that is not valid.")
        return [self.read(item) for item in node["content"]]

    def _read_list(self, node: Parsed, name: str) -> list[Built]:
        return self._read_items(node)

    def _read_tuple(self, node: Parsed, name: str) -> tuple[Built, ...]:
        return tuple(self._read_items(node))

    def _read_set(self, node: Parsed, name: str) -> set[Built]:
        return set(self._read_items(node))

    def _read_dict(self, node: Parsed, name: str) -> dict[Built, Built]:
        content, key_types = node["content"], self.read(node["key_types"])
        if not isinstance(content, dict) or not isinstance(key_types, list) or len(key_types) != len(content):
            raise ArchiveError("The model holds a mapping that does not have one type per key.")
        pairs = [
            (_read_key(kind, key), self.read(item))
            for kind, (key, item) in zip(key_types, content.items(), strict=True)
        ]
        if len({key for key, _ in pairs}) != len(pairs):
            raise ArchiveError("The model holds a mapping with a duplicate key.")
        if name == "builtins.dict":
            return dict(pairs)
        if name == "collections.OrderedDict":
            return OrderedDict(pairs)
        return find_class(name)(**cast("dict[str, Built]", dict(pairs)))  # scikit-learn's Bunch: keys as attributes

    def _read_defaultdict(self, node: Parsed, name: str) -> defaultdict[Built, Built]:
        content = node["content"]
        main, factory = self.read(content["main"]), self.read(content["default_factory"])
        if type(main) is not dict or factory not in (None, list, dict, set, int, float, str, OrderedDict):
            raise ArchiveError("The model holds a mapping with an unknown default.")
        return defaultdict(factory, main)

    def _read_bytes(self, node: Parsed, name: str) -> bytes | bytearray:
        content = self._members[node["file"]]
        return content if name == "builtins.bytes" else bytearray(content)

    def _read_slice(self, node: Parsed, name: str) -> slice:
        parts = [node["content"][part] for part in ("start", "stop", "step")]
        # older files hold nodes here, newer ones the numbers themselves
        parts = [self.read(part) if isinstance(part, dict) else part for part in parts]
        if not all(part is None or type(part) in (int, str) for part in parts):
            raise ArchiveError("The model holds a slice whose bounds are not integers.")
        return slice(*parts)

    def _read_type(self, node: Parsed, name: str) -> type:
        return TYPES[name]

    def _read_function(self, node: Parsed, name: str) -> Callable[..., object]:
        return find_function(name)

    # -- arrays --------------------------------------------------------------------------------------------------------

    def _read_array(self, node: Parsed, name: str) -> np.ndarray | np.generic:
        if node["type"] == "json":
            return self._object_array(node)
        if node["type"] != "numpy":
            raise ArchiveError("The model holds an array of a kind that is not known.")
        file = node["file"]
        if file not in self._arrays:
            self._arrays[file] = array_from_bytes(self._members[file])
        array = self._arrays[file]
        if name == "numpy.ndarray":
            return array
        if array.shape != () or not isinstance(array[()], SCALARS[name]):
            raise ArchiveError(f"The model holds a {name} that is not valid.")
        return array[()]

    def _object_array(self, node: Parsed) -> np.ndarray:
        shape = self.read(node["shape"])
        if not isinstance(shape, tuple) or not all(type(length) is int and length >= 0 for length in shape):
            raise ArchiveError("The model holds an array whose shape is not valid.")
        items = self._read_items(node)
        for _ in shape[1:]:
            if not all(isinstance(item, list) for item in items):
                raise ArchiveError("The model holds an array that does not have its declared shape.")
            items = [inner for item in items for inner in cast("list[Built]", item)]
        array = np.empty(len(items), dtype=object)
        for place, item in enumerate(items):
            array[place] = item
        if len(items) != int(np.prod(shape, dtype=object)) or len(shape) > _MOST_DIMENSIONS:
            raise ArchiveError("The model holds an array that does not have its declared shape.")
        return array.reshape(shape)

    def _read_masked_array(self, node: Parsed, name: str) -> np.ma.MaskedArray:
        data, mask = self.read(node["content"]["data"]), self.read(node["content"]["mask"])
        if not isinstance(data, np.ndarray) or not isinstance(mask, (np.ndarray, np.bool_)):
            raise ArchiveError("The model holds a masked array that is not made of arrays.")
        return np.ma.MaskedArray(data, mask)

    def _read_dtype(self, node: Parsed, name: str) -> np.dtype:
        array = self.read(node["content"])
        if not isinstance(array, np.ndarray):
            raise ArchiveError("The model holds a dtype that is not valid.")
        return array.dtype

    # -- objects -------------------------------------------------------------------------------------------------------

    def _random_state(self, node: Parsed, name: str) -> np.random.RandomState:
        return random_state_from_state(self.read(node["content"]))

    def _read_generator(self, node: Parsed, name: str) -> np.random.Generator:
        content = node["content"]
        seed = self.read(content["seed_seq"]) if "seed_seq" in content else None
        return generator_from_state(self.read(content["bit_generator"]), seed)

    def _read_reduced(self, node: Parsed, name: str) -> Built:
        arguments, state = self.read(node["__reduce__"]["args"]), self.read(node["content"])
        if not isinstance(arguments, tuple):
            raise ArchiveError(f"The model holds a {name} whose arguments are not known.")
        return build(name, state, arguments)

    def _read_object(self, node: Parsed, name: str) -> Built:
        content = node.get("content")
        return build(name, None if content is None else self.read(content))


def array_from_bytes(data: bytes) -> np.ndarray:
    """An array from numpy's own format, if it has exactly the size that it declares and holds no objects."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read: Callable[..., tuple[tuple[int, ...], bool, np.dtype]] | None = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ArchiveError("The model holds an array in a format that is not known.")
    shape, fortran, dtype = read(stream, max_header_size=_LARGEST_HEADER)
    if dtype.hasobject or len(shape) > _MOST_DIMENSIONS or any(length < 0 for length in shape):
        raise ArchiveError("The model holds an array of objects, or of too many dimensions.")
    count = 1
    for length in shape:  # Python's integers do not overflow
        count *= length
    if not dtype.itemsize or stream.tell() + count * dtype.itemsize != len(data):
        raise ArchiveError("The model holds an array that does not have its declared size.")
    flat = np.frombuffer(data, dtype=dtype, count=count, offset=stream.tell())
    # a copy: aligned, writable, as numpy's own reader returns it
    return flat.reshape(shape, order="F" if fortran else "C").copy(order="K")


def _read_key(kind: Built, key: str) -> Built:
    if kind not in KEY_TYPES:
        raise ArchiveError("The model holds a mapping with keys of a type that is not known.")
    if kind is bool:
        return key == "true"
    return None if kind is type(None) else kind(key)


_LOADERS: dict[str, Callable[[_Reader, Parsed, str], Built]] = {
    "JsonNode": _Reader._read_json,
    "ListNode": _Reader._read_list,
    "TupleNode": _Reader._read_tuple,
    "SetNode": _Reader._read_set,
    "DictNode": _Reader._read_dict,
    "DefaultDictNode": _Reader._read_defaultdict,
    "BytesNode": _Reader._read_bytes,
    "BytearrayNode": _Reader._read_bytes,
    "SliceNode": _Reader._read_slice,
    "TypeNode": _Reader._read_type,
    "FunctionNode": _Reader._read_function,
    "NdArrayNode": _Reader._read_array,
    "MaskedArrayNode": _Reader._read_masked_array,
    "DTypeNode": _Reader._read_dtype,
    "RandomStateNode": _Reader._random_state,
    "RandomGeneratorNode": _Reader._read_generator,
    "TreeNode": _Reader._read_reduced,
    "LossNode": _Reader._read_reduced,
    "ObjectNode": _Reader._read_object,
}
