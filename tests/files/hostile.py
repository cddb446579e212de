"""Changes to model files that an attacker could make: structures, numbers, arrays and the boosters' own formats."""

import io
import json
import random
import zipfile

import numpy as np

from sev.files._trusted import FUNCTIONS, OBJECTS
from sev.libraries.xgboost import ubjson as _ubjson

INTEGERS = (
    0,
    1,
    -1,
    -2,
    2,
    3,
    5,
    7,
    8,
    31,
    63,
    127,
    255,
    256,
    1000,
    65535,
    10**6,
    2**31 - 1,
    -(2**31),
    2**32,
    2**62,
    2**63 - 1,
)
FLOATS = (0.0, -1.0, 1e308, -1e308, 1e-320, float("nan"), float("inf"), 1e9)
WORDS = (
    "",
    "x",
    "brute",
    "kd_tree",
    "filename",
    "file",
    "precomputed",
    "euclidean",
    "/dev/zero",
    "rbf",
    "zero",
    "sparse",
)
LOADERS = (
    *("ObjectNode", "ConstructorFromReduceNode", "ListNode", "TupleNode", "SetNode", "DictNode", "NdArrayNode"),
    *("TypeNode", "FunctionNode", "MethodNode", "PartialNode", "OperatorFuncNode", "LossNode", "TreeNode", "JsonNode"),
    *("CachedNode", "RandomStateNode", "RandomGeneratorNode", "DTypeNode", "MaskedArrayNode", "SparseMatrixNode"),
)


def unzip(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def nodes(tree):
    """All nodes of a schema."""
    found, waiting = [], [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend(one.values())
            if "__loader__" in one:
                found.append(one)
        elif isinstance(one, list):
            waiting.extend(one)
    return found


def names_in(data):
    """Full names of all types in a skops file."""
    schema = json.loads(unzip(data)["schema.json"])
    return {f"{node['__module__']}.{node['__class__']}" for node in nodes(schema)}


def changed_skops(data, generator):
    """A skops file with one to three things about it changed."""
    members = unzip(data)
    for _ in range(generator.randint(1, 3)):
        others = [name for name in members if name != "schema.json"]
        if not others or generator.random() < 0.5:
            schema = json.loads(members["schema.json"])
            _change_schema(schema, members, generator)
            members["schema.json"] = json.dumps(schema).encode()
        else:
            name = generator.choice(others)
            members[name] = _changed_member(name, members[name], generator)
    return zipped(members)


def _change_schema(schema, members, generator):
    every = nodes(schema)
    node = generator.choice(every)
    what = generator.random()
    if what < 0.45:
        plain = [one for one in every if one["__loader__"] == "JsonNode" and _is_json(one.get("content"))]
        if plain:
            one = generator.choice(plain)
            value = json.loads(one["content"])
            if isinstance(value, str) and value.startswith("tree\n"):
                one["content"] = json.dumps(changed_text(value, generator))
            else:
                one["content"] = json.dumps(_other_value(value, generator))
    elif what < 0.65:  # a node in another's place
        other = json.loads(json.dumps(generator.choice(every)))
        node.clear()
        node.update(other)
    elif what < 0.75:
        files = [one for one in every if "file" in one]
        if files:
            generator.choice(files)["file"] = generator.choice(list(members))
    elif what < 0.85:
        name = generator.choice([*sorted(OBJECTS), *sorted(FUNCTIONS), "builtins.eval", "os.system", "builtins.open"])
        node["__module__"], _, node["__class__"] = name.rpartition(".")
        if generator.random() < 0.5:
            node["__loader__"] = generator.choice(LOADERS)
    elif what < 0.9:
        node["__loader__"] = generator.choice(LOADERS)
    else:
        inner = node.get("content")
        if isinstance(inner, dict) and inner:
            inner.pop(generator.choice(list(inner)))
        elif isinstance(inner, list) and inner:
            inner.pop(generator.randrange(len(inner)))


def _is_json(text):
    try:
        json.loads(text)
    except (TypeError, ValueError):
        return False
    return True


def _other_value(value, generator):
    if isinstance(value, str) or generator.random() < 0.1:
        return generator.choice(WORDS)
    if isinstance(value, float) and generator.random() < 0.7:
        return generator.choice(FLOATS)
    return generator.choice([*INTEGERS, None, True, False])


def _changed_member(name, content, generator):
    if name.endswith(".npy"):
        return changed_array(content, generator)
    if content.startswith(b"{L"):
        return changed_ubjson(content, generator)
    return changed_bytes(content, generator)


def changed_bytes(content, generator):
    content = bytearray(content)
    for _ in range(generator.randint(1, 4)):
        if len(content) < 8:
            break
        place = generator.randrange(len(content) - 4)
        if generator.random() < 0.5:
            content[place] ^= 1 << generator.randrange(8)
        else:
            place -= place % 4
            value = generator.choice(INTEGERS) & 0xFFFFFFFF
            content[place : place + 4] = value.to_bytes(4, "little")
    return bytes(content)


@np.errstate(all="ignore")
def changed_array(content, generator):
    array = np.load(io.BytesIO(content), allow_pickle=False)
    what = generator.random()
    if what < 0.6 and array.size:
        array = array.copy()
        flat = array.reshape(-1)
        for _ in range(generator.randint(1, 3)):
            place = generator.randrange(len(flat))
            if array.dtype.names:
                field = generator.choice(array.dtype.names)
                flat[field][place] = _number_for(array.dtype[field], generator)
            elif array.dtype.kind in "biuf":
                flat[place] = _number_for(array.dtype, generator)
    elif what < 0.7 and array.ndim:
        array = array[: generator.randint(0, len(array))]
    elif what < 0.8 and array.ndim:
        array = np.concatenate([array, array])
    elif what < 0.85:
        array = array.T
    elif what < 0.9:
        array = array.reshape(-1)
    elif what < 0.95 and array.dtype.kind in "biuf":
        array = array.astype(generator.choice(["f4", "f8", "i4", "i8", "u1", "u8", "?", "S3", "M8[s]"]))
    else:
        array = array[..., None]
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _number_for(dtype, generator):
    if dtype.kind == "f":
        return generator.choice(FLOATS)
    if dtype.kind == "b":
        return generator.random() < 0.5
    limits = np.iinfo(dtype)
    return generator.choice([value for value in INTEGERS if limits.min <= value <= limits.max])


def changed_text(text, generator):
    """A LightGBM model text with numbers, spaces and lines changed."""
    lines = text.split("\n")
    for _ in range(generator.randint(1, 3)):
        place = generator.randrange(len(lines))
        what = generator.random()
        if what < 0.6:
            listed = [number for number, line in enumerate(lines) if "=" in line]
            place = generator.choice(listed)
            key, _, values = lines[place].partition("=")
            values = values.split(" ")
            values[generator.randrange(len(values))] = str(
                generator.choice([*INTEGERS, "", "x", "\t", "0 0", "1e400", "nan"])
            )
            lines[place] = f"{key}{generator.choice(['=', '=', ' =', '= ', '=='])}{' '.join(values)}"
        elif what < 0.75:
            lines.insert(place, generator.choice(lines))
        elif what < 0.9:
            lines.pop(place)
        else:
            lines[place] += generator.choice([" ", "\r", "\0", "\\", "\t"])
    return "\n".join(lines)


def changed_ubjson(content, generator):
    """An XGBoost model with numbers, lengths and entries changed, in its own format; sometimes just bytes."""
    if generator.random() < 0.15:
        return changed_bytes(content, generator)
    document = _ubjson.read(bytes(content))
    for _ in range(generator.randint(1, 3)):
        _change_value(document, generator)
    return _ubjson.write(document)


def _change_value(document, generator):
    places, waiting = [], [document]
    while waiting:
        one = waiting.pop()
        items = one.items() if isinstance(one, dict) else enumerate(one)
        for key, value in list(items):
            places.append((one, key))
            if isinstance(value, (dict, list)):
                waiting.append(value)
    holder, key = generator.choice(places)
    value = holder[key]
    if isinstance(value, np.ndarray) and len(value) and generator.random() < 0.7:
        value = value.copy()
        with np.errstate(over="ignore"):
            value[generator.randrange(len(value))] = _number_for(value.dtype, generator)
        holder[key] = value
    elif isinstance(value, np.ndarray):
        holder[key] = generator.choice([value[:1], np.concatenate([value, value]), value[:0], np.zeros(3, np.float32)])
    elif isinstance(value, str):
        holder[key] = generator.choice(
            [str(number) for number in INTEGERS] + [*WORDS, "multi:softprob", "gblinear", "dart"]
        )
    elif isinstance(value, np.generic):
        holder[key] = np.int64(generator.choice(INTEGERS))
    elif isinstance(value, list):
        holder[key] = generator.choice([value[:1], value + value, []])
    elif isinstance(value, dict) and value:
        value.pop(generator.choice(list(value)))


def seeded(name, seed):
    return random.Random(f"{name} {seed}")
