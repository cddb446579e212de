"""What a batch's folder holds: for which explainer, settings and input, and whether it is complete."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sev._io import TEMPORARY_SUFFIX, open_regular, read_regular_file, write_file
from sev.exceptions import BatchError

FORMAT = "sev.batch"
FORMAT_VERSION = 1
_MANIFEST = "_manifest.json"
_LOCK = "_lock"
_MOST_BYTES = 1 << 28


def open_manifest(folder: Path, wanted: dict[str, Any]) -> dict[str, Any]:
    """Begin a batch in a folder, or go on with the one that is there.

    Raises
    ------
    BatchError
        When the folder holds something else.
    """
    path = folder / _MANIFEST
    if not path.exists():
        strange = [one.name for one in folder.iterdir() if not one.name.startswith(("_", "."))]
        if strange:
            raise BatchError(
                f"{folder} is not empty and is not the folder of a batch (it has {strange[0]}): choose another folder."
            )
        write_manifest(folder, wanted)
        return wanted
    try:
        held = json.loads(read_regular_file(path, _MOST_BYTES).decode("utf-8"))
        if held.get("format") != FORMAT or held["format_version"] > FORMAT_VERSION:
            raise ValueError("it has another format")
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise BatchError(f"{path} is not the manifest of a batch: {error}.") from error
    different = [name for name in wanted if held.get(name) != wanted[name]]
    if different:
        raise BatchError(
            f"{folder} holds results of another batch, which differs in {_differences(held, wanted, different)}. "
            "Choose another folder, or remove this one."
        )
    return dict(held)


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Put a manifest in its place, whole or not at all."""
    write_file(folder / _MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1).encode())


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder; the system lets go of the lock whatever ends this process."""
    try:
        import fcntl
    except ImportError:  # no such lock on this system
        yield
        return
    with os.fdopen(open_regular(folder / _LOCK, os.O_RDWR | os.O_CREAT), "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BatchError(f"Another run is using {folder}.") from error
        yield


def sweep(folder: Path) -> None:
    """Remove what runs that were ended left half-written."""
    for path in folder.glob(f".*{TEMPORARY_SUFFIX}"):
        path.unlink(missing_ok=True)


def clear(folder: Path) -> None:
    """Remove a batch's folder, but nothing that the batch did not write."""
    sweep(folder)
    for pattern in ("part-*.parquet", "_manifest.json", "_explainer.sev", "_lock", "_unpacked-*"):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)
    if not os.listdir(folder):
        folder.rmdir()


def _differences(held: dict[str, Any], wanted: dict[str, Any], names: list[str]) -> str:
    words: list[str] = []
    for name in names:
        if name == "settings" and isinstance(held.get(name), dict):
            inner = [key for key in wanted[name] if held[name].get(key) != wanted[name][key]]
            words.extend(f"{key} ({held[name].get(key)!r}, now {wanted[name][key]!r})" for key in inner)
        else:
            words.append({"explainer": "the explainer", "inputs": "the input"}.get(name, name))
    return ", ".join(words)
