"""Models as bytes: in skops, in a booster's own format, or, when both sides agree, pickled."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from sev._registry import find, libraries, load
from sev.exceptions import ArchiveError, UntrustedTypeError
from sev.files._container import read_member, refusing
from sev.files._skops import read_skops, untrusted_types
from sev.typing import FittedModel, JSONValue, Parsed

_OLDEST_DATE = (1980, 1, 1, 0, 0, 0)


def model_to_bytes(model: object, *, allow_pickle: bool) -> tuple[str, bytes]:
    """Name of a form and the model in it.

    Raises
    ------
    UntrustedTypeError
        When the model has no safe form and ``allow_pickle`` is not given.
    """
    match = find(model, "to_bytes")
    if match is not None and match.ancestor is type(model):
        return match.key.partition(".")[0], load(match.route)(model)
    try:
        return "skops", _to_skops(model)
    except UntrustedTypeError as error:
        if not allow_pickle:
            raise UntrustedTypeError(
                f"{error} Pass allow_pickle=True to pickle the model instead: whoever loads the file then runs "
                "whatever code is in it, and has to agree with trust_pickle=True."
            ) from error
    return "pickle", _to_pickle(model)


def model_from_bytes(form: Parsed, data: bytes, *, trust_pickle: bool = False) -> FittedModel:
    """Inverse of :func:`model_to_bytes`; nothing in ``data`` is run unless it is a pickle and trusted."""
    if form == "pickle" and not trust_pickle:
        raise UntrustedTypeError(
            "The model in this file is pickled, and loading it runs whatever code is in the file. If you know where it "
            "comes from, pass trust_pickle=True (--trust-pickle)."
        )
    reader = _reader_of(form) if isinstance(form, str) else None
    if reader is None:
        raise ArchiveError(f"The file holds a model in a form that is not known: {str(form)[:40]!r}.")
    with refusing(f"its {form} model is damaged"):
        return reader(data)


# -- skops -------------------------------------------------------------------------------------------------------------


def _import_skops() -> ModuleType:
    """The module ``skops.io``, without what it would import along the way.

    It walks through all of scikit-learn, which imports whole array libraries where they are installed: seconds for
    torch, in each worker, for nothing. A name that is None in ``sys.modules`` is passed over.
    """
    libraries = [name for name in ("torch", "dask", "cupy", "jax") if name not in sys.modules]
    held_back = [f"sklearn.externals.array_api_compat.{name}" for name in libraries]
    held_back = [name for name in held_back if name not in sys.modules]
    sys.modules.update(dict.fromkeys(held_back))  # type: ignore[arg-type]
    try:
        return import_module("skops.io")
    finally:
        for name in held_back:
            sys.modules.pop(name, None)


def _to_skops(model: object) -> bytes:
    try:
        data = _renumber_objects(_import_skops().dumps(model))
        _check_types(data)
    except UntrustedTypeError as error:
        raise UntrustedTypeError(f"This model cannot be saved safely: {error}") from error
    except Exception as error:  # skops meets objects that it cannot take apart
        raise UntrustedTypeError(
            f"This model cannot be saved safely: {type(model).__name__} has no form that skops can write "
            f"({str(error)[:200]})."
        ) from error
    return data


def _check_types(data: bytes) -> None:
    """Refuse what could not be read again, when it is saved and not when somebody needs it."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        strange = sorted(untrusted_types(json.loads(archive.read("schema.json"))))
    if strange:
        raise UntrustedTypeError(f"it holds types that are not on the list of safe ones: {', '.join(strange[:10])}.")


def _renumber_objects(data: bytes) -> bytes:
    """The same skops file with objects numbered in order instead of by memory address: same model, same bytes."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: read_member(archive, info) for info in archive.infolist()}
    schema = json.loads(members.pop("schema.json"))
    numbers: dict[int, int] = {}
    names: dict[str, str] = {}

    def renumber(node: Parsed) -> JSONValue:
        if isinstance(node, list):
            return [renumber(one) for one in node]
        if not isinstance(node, dict):
            return node
        fresh = {key: renumber(value) for key, value in node.items()}
        if isinstance(node.get("__id__"), int):
            fresh["__id__"] = numbers.setdefault(node["__id__"], len(numbers) + 1)
        if isinstance(node.get("file"), str) and node["file"] in members:
            suffix = node["file"].rpartition(".")[2]
            fresh["file"] = names.setdefault(node["file"], f"{len(names) + 1}.{suffix}")
        return fresh

    schema = renumber(schema)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for old, new in names.items():
            archive.writestr(zipfile.ZipInfo(new, _OLDEST_DATE), members[old])
        archive.writestr(zipfile.ZipInfo("schema.json", _OLDEST_DATE), json.dumps(schema, separators=(",", ":")))
    return buffer.getvalue()


# -- pickles -----------------------------------------------------------------------------------------------------------


def _to_pickle(model: object) -> bytes:
    try:
        import cloudpickle
    except ModuleNotFoundError:  # joblib had its own before it asked for the package
        from joblib.externals import cloudpickle
    try:
        data: bytes = cloudpickle.dumps(model)
    except Exception as error:
        raise UntrustedTypeError(f"This model cannot be pickled either: {type(error).__name__}: {error}.") from error
    return data


def _from_pickle(data: bytes) -> FittedModel:
    import pickle

    return pickle.loads(data)


_READERS: dict[str, Callable[[bytes], FittedModel]] = {"skops": read_skops, "pickle": _from_pickle}


def _reader_of(form: str) -> Callable[[bytes], FittedModel] | None:
    """What reads a form: one of these, or the format of a library."""
    library = libraries().get(form)
    if library is None or library.from_bytes is None:
        return _READERS.get(form)
    reader: Callable[[bytes], FittedModel] = library.load(library.from_bytes)
    return reader
