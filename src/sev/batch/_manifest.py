"""What a batch's folder holds: for which explainer, settings and input, which parts of it are done, and whether it is
complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sev._io import TEMPORARY_SUFFIX, open_regular, read_regular_file, write_file
from sev.exceptions import BatchError
from sev.typing import Parsed

FORMAT = "sev.batch"
FORMAT_VERSION = 1
_MANIFEST = "_manifest.json"
_LOCK = "_lock"
_PARTS = "_parts.jsonl"
_MOST_BYTES = 1 << 28
_PART_NAME = re.compile(r"part-(\d+)-\d+\.parquet")


def open_manifest(folder: Path, wanted: dict[str, Parsed]) -> dict[str, Parsed]:
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
            raise ValueError("its format is not known")
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise BatchError(f"{path} is not the manifest of a batch: {error}.") from error
    different = [name for name in wanted if held.get(name) != wanted[name]]
    if different == ["inputs"] and "finished" not in held and _same_files(held["inputs"], wanted["inputs"]):
        # a run that stopped on a file that somebody has repaired since: only the results of that file are made again
        for number, (before, now) in enumerate(zip(held["inputs"], wanted["inputs"], strict=True)):
            if before != now:
                for left in (*folder.glob(f"part-{number:05d}-*.parquet"), *folder.glob(f"_unpacked-{number:05d}.*")):
                    left.unlink(missing_ok=True)
        write_manifest(folder, wanted)
        return wanted
    if different and "finished" not in held and not any(folder.glob("part-*.parquet")):
        # a run that stopped before its first part, such as one on an unreadable file, has nothing to keep
        for left in (*folder.glob("_unpacked-*"), *folder.glob("_explainer.sev")):
            left.unlink(missing_ok=True)
        write_manifest(folder, wanted)
        return wanted
    if different:
        raise BatchError(
            f"{folder} holds results of another batch, which differs in {_tell_differences(held, wanted, different)}. "
            "Choose another folder, or remove this one."
        )
    return dict(held)


def write_manifest(folder: Path, manifest: dict[str, Parsed]) -> None:
    """Put a manifest in its place, whole or not at all."""
    write_file(folder / _MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1).encode())


class FinishedParts:
    """The parts that a batch has finished, each with its digest, in a file that grows by a line for each.

    A file of results is taken over from an earlier run only if it has the very bytes that this batch wrote. Any other
    one is replaced.

    Parameters
    ----------
    folder : Path
        The folder of the batch.
    wanted : dict
        What the batch is for; parts of another one are not taken.
    schema : bytes
        Columns of the results.
    """

    def __init__(self, folder: Path, wanted: dict[str, Parsed], schema: bytes) -> None:
        self._path = folder / _PARTS
        # each part by its own file, so that a file which is repaired costs the parts of no other
        shared = {name: value for name, value in wanted.items() if name != "inputs"}
        common = json.dumps([shared, len(wanted["inputs"]), hashlib.sha256(schema).hexdigest()], sort_keys=True)
        self._batches = [
            hashlib.sha256((common + json.dumps(one, sort_keys=True)).encode()).hexdigest() for one in wanted["inputs"]
        ]
        held = {name: kept for name, kept in self._read_lines().items() if file_digest(folder / name) == kept[1]}
        self._rows = {name: rows for name, (rows, _) in held.items()}
        lines = [self._format_part(name, rows, digest) for name, (rows, digest) in held.items()]
        write_file(self._path, "".join(lines).encode())  # without lines that were half-written

    @property
    def n_rows(self) -> int:
        """Rows of all finished parts that are still what they were."""
        return sum(self._rows.values())

    def is_done(self, name: str, n_rows: int) -> bool:
        """Whether a part was finished before this run, with so many rows, and is still what it was."""
        return self._rows.get(name) == n_rows

    def add(self, name: str, n_rows: int, digest: str) -> None:
        """Note a part that is in place."""
        with os.fdopen(open_regular(self._path, os.O_WRONLY | os.O_APPEND), "ab") as file:
            file.write(self._format_part(name, n_rows, digest).encode())
            file.flush()
            os.fsync(file.fileno())

    def _format_part(self, name: str, rows: int, digest: str) -> str:
        return json.dumps({"batch": self._batch_of(name), "part": name, "rows": rows, "sha256": digest}) + "\n"

    def _read_lines(self) -> dict[str, tuple[int, str]]:
        try:
            lines = read_regular_file(self._path, _MOST_BYTES).decode("utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise BatchError(f"{self._path} cannot be read: {error.strerror}.") from error
        found: dict[str, tuple[int, str]] = {}
        for line in lines:
            try:
                held = json.loads(line)
                name, rows, digest = str(held["part"]), int(held["rows"]), str(held["sha256"])
            except (ValueError, KeyError, TypeError, RecursionError):
                continue  # the run that wrote it was ended
            batch = self._batch_of(name)
            if batch is not None and held.get("batch") == batch:
                found[name] = rows, digest
        return found

    def _batch_of(self, name: str) -> str | None:
        """Digest of what the results of a part were made from; None if no file of this batch has such a part."""
        matched = _PART_NAME.fullmatch(name)
        number = -1 if matched is None else int(matched[1])
        return self._batches[number] if 0 <= number < len(self._batches) else None


def file_digest(path: Path) -> str | None:
    """SHA-256 of a regular file; None if there is none of this name."""
    try:
        with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


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
            raise BatchError(f"Another run is using {folder}: wait until it ends, or choose another folder.") from error
        yield


def sweep(folder: Path) -> None:
    """Remove what runs that were ended left half-written."""
    for path in folder.glob(f".*{TEMPORARY_SUFFIX}"):
        path.unlink(missing_ok=True)


def clear(folder: Path) -> None:
    """Remove a batch's folder, but nothing that the batch did not write."""
    sweep(folder)
    for pattern in ("part-*.parquet", "_manifest.json", "_parts.jsonl", "_explainer.sev", "_lock", "_unpacked-*"):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)
    if not os.listdir(folder):
        folder.rmdir()


def _same_files(held: object, wanted: list[dict[str, Parsed]]) -> bool:
    """Whether two lists of input files have the same names in the same order."""
    return isinstance(held, list) and [one.get("file") for one in held] == [one["file"] for one in wanted]


def _tell_differences(held: dict[str, Parsed], wanted: dict[str, Parsed], names: list[str]) -> str:
    words: list[str] = []
    for name in names:
        if name == "settings" and isinstance(held.get(name), dict):
            inner = [key for key in wanted[name] if held[name].get(key) != wanted[name][key]]
            words.extend(f"{key} ({held[name].get(key)!r}, now {wanted[name][key]!r})" for key in inner)
        else:
            words.append({"explainer": "the explainer", "inputs": "the input"}.get(name, name))
    return ", ".join(words)
