"""Kernels as they lie beside their sources: LLVM's bitcode, and what one must know to call it."""

from __future__ import annotations

import hashlib
import json
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

#: Raised when archives of an earlier form cannot be called any more.
VERSION = 1


class Archive(NamedTuple):
    """Kernels of one module."""

    bitcode: bytes
    kernels: dict[str, list[str]]  # the kinds that each kernel takes, flattened
    sources: list[str]  # names of the files, all in one folder
    digest: str  # of these files
    built_with: str  # versions
    version: int = VERSION


def path_of(module: str) -> Path:
    """Where the archive of a module of kernels lies."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    return Path(spec.origin).with_suffix(".kernels.zip")


def digest_of(folder: Path, sources: list[str]) -> str:
    """Digest of some files, whatever their line ends."""
    digest = hashlib.sha256()
    for name in sources:
        digest.update(name.encode() + b"\0" + (folder / name).read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()


def write(path: Path, archive: Archive) -> None:
    """Write an archive that is the same, byte by byte, for the same kernels."""
    about = {name: value for name, value in archive._asdict().items() if name != "bitcode"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in (("about.json", json.dumps(about, indent=1).encode()), ("code.bc", archive.bitcode)):
            file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def read(path: Path) -> Archive:
    """Read an archive."""
    with zipfile.ZipFile(path) as file:
        return Archive(bitcode=file.read("code.bc"), **json.loads(file.read("about.json")))


def why_not(archive: Archive, folder: Path) -> str | None:
    """Why an archive cannot be used, None if it can. Without sources, nobody can have changed them."""
    if archive.version != VERSION:
        return "they were built for another version"
    there = [(folder / name).exists() for name in archive.sources]
    if any(there) and not (all(there) and digest_of(folder, archive.sources) == archive.digest):
        return "their sources have changed since they were built"
    return None
