"""One sealed zip file: members of known names, with a checksum each and one over the whole file.

The order of checks matters. Size first, then the seal over all bytes, so that a file that was cut or changed by
accident is refused before any parser sees it. Then the zip's own table of contents is held to be hostile: names,
sizes and ratios are checked before anything is unpacked, and checksums before anything is handed on.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sev.exceptions import ArchiveError, SevError
from sev.typing import JSONValue, Parsed

FORMAT = "sev.explainer"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"

#: Nothing larger than this is unpacked.
MOST_BYTES = 4 << 30
#: A member that unpacks to much more than it takes on disk is taken for a bomb.
_MOST_RATIO = 200
_RATIO_FROM_BYTES = 1 << 20
_MOST_MEMBERS = 64
_MEMBER_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}\.[a-z]{1,8}")
_SEAL = re.compile(rb"sev archive 1, sha256 of all before: ([0-9a-f]{64})")
_SEAL_BYTES = 101
_OLDEST_DATE = (1980, 1, 1, 0, 0, 0)


def pack(members: Mapping[str, bytes], description: Mapping[str, JSONValue]) -> bytes:
    """Bytes of an archive; the same members give the same bytes.

    Parameters
    ----------
    members : mapping of str to bytes
        Content by name.
    description : mapping
        Further entries of the manifest, as JSON holds them.
    """
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        **description,
        "members": {
            name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in members.items()
        },
    }
    text = json.dumps(manifest, ensure_ascii=False, allow_nan=False, indent=1).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in {MANIFEST: text, **members}.items():
            _write_member(archive, name, data)
        archive.comment = b" " * _SEAL_BYTES  # its length is part of what is sealed
    head = buffer.getvalue()[:-_SEAL_BYTES] + b"sev archive 1, sha256 of all before: "
    return head + hashlib.sha256(head).hexdigest().encode()


def unpack(data: bytes) -> tuple[dict[str, Parsed], dict[str, bytes]]:
    """Manifest and members of an archive that is whole.

    Raises
    ------
    ArchiveError
        When anything about it is not as :func:`pack` makes it.
    """
    _check_seal(data)
    with refusing("it is not a readable zip file"):
        archive = zipfile.ZipFile(io.BytesIO(data))
        infos = {info.filename: info for info in archive.infolist()}
        check_contents(archive.infolist(), _MEMBER_NAME)
        if MANIFEST not in infos:
            raise ArchiveError(f"The file has no {MANIFEST}: it is not a sev file.")
        manifest = json.loads(read_member(archive, infos[MANIFEST]))
        _check_manifest(manifest, set(infos) - {MANIFEST})
        members = {name: read_member(archive, info) for name, info in infos.items() if name != MANIFEST}
        for name, content in members.items():
            entry = manifest["members"][name]
            if entry["size"] != len(content) or entry["sha256"] != hashlib.sha256(content).hexdigest():
                raise ArchiveError(f"The file is damaged: {name} does not match its checksum.")
    return manifest, members


def read_whole(path: str | Path) -> bytes:
    """All bytes of a file that is not too large to be an archive.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    bytes
        Its content.

    Raises
    ------
    ArchiveError
        If it is too large.
    """
    size = os.stat(path).st_size
    if size > MOST_BYTES:
        raise ArchiveError(f"The file has {size:,} bytes, more than the limit of {MOST_BYTES:,}.")
    return Path(path).read_bytes()


def check_contents(
    infos: list[zipfile.ZipInfo], allowed_name: re.Pattern[str], most_members: int = _MOST_MEMBERS
) -> None:
    """Refuse a zip by its table of contents: strange names, names twice, too much content, bombs."""
    names = [info.filename for info in infos]
    strange = [name for name in names if not allowed_name.fullmatch(name)]
    if strange:
        raise ArchiveError(f"The file has a member whose name is not allowed: {strange[0][:80]!r}.")
    if len(names) > most_members:
        raise ArchiveError(f"The file has {len(names):,} members, more than the limit of {most_members:,}.")
    if len(names) != len(set(names)):
        raise ArchiveError("The file has two members of the same name.")
    if sum(info.file_size for info in infos) > MOST_BYTES:
        raise ArchiveError(f"The file would unpack to more than {MOST_BYTES:,} bytes.")
    for info in infos:
        if info.flag_bits & 0x1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveError(f"{info.filename} is encrypted or packed in a way that is not allowed.")
        if info.file_size > _RATIO_FROM_BYTES and info.file_size > _MOST_RATIO * max(info.compress_size, 1):
            raise ArchiveError(
                f"{info.filename} would unpack from {info.compress_size:,} to {info.file_size:,} bytes, more than "
                f"{_MOST_RATIO:,} times its size."
            )


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Content of a member, never more than it declares; zip's own checksum is checked on the way."""
    with archive.open(info) as member:
        content = member.read(info.file_size)
        if len(content) != info.file_size or member.read(1):
            raise ArchiveError(f"{info.filename} does not have its declared length.")
    return content


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Turn whatever a parser raises about hostile bytes into one error.

    Parameters
    ----------
    what : str
        What is read, for the message.

    Yields
    ------
    None
        Once, for the block.

    Raises
    ------
    ArchiveError
        If the block raises anything else than an error of this package.
    """
    try:
        yield
    except SevError:
        raise
    except (Exception, RecursionError, MemoryError) as error:
        raise ArchiveError(f"The file cannot be read: {what} ({type(error).__name__}: {str(error)[:200]}).") from error


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Add the name of a file to errors that are raised in the block.

    Parameters
    ----------
    path : path-like
        The file.

    Yields
    ------
    None
        Once, for the block.

    Raises
    ------
    ArchiveError
        What the block raised, with the file before the message.
    """
    try:
        yield
    except ArchiveError as error:
        raise type(error)(f"{path}: {error}") from error


def _check_seal(data: bytes) -> None:
    if not data.startswith(b"PK"):
        raise ArchiveError("This is not a sev file: pass one that Explainer.save or sev fit has written.")
    seal = _SEAL.fullmatch(data[-_SEAL_BYTES:])
    if seal is None:
        raise ArchiveError(
            "The file is truncated, or is not a sev file: the checksum at its end is missing. Copy or save it again."
        )
    if hashlib.sha256(data[:-64]).hexdigest().encode() != seal.group(1):
        raise ArchiveError(
            "The file is damaged: its content does not match the checksum at its end. Copy or save it again."
        )


def _check_manifest(manifest: Parsed, names: set[str]) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ArchiveError(f"The file's format is not {FORMAT!r}: it is not a sev file.")
    version = manifest.get("format_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ArchiveError("The file does not state its format version.")
    if version > FORMAT_VERSION:
        raise ArchiveError(
            f"The file has format version {version}, written by sev {str(manifest.get('sev_version'))[:20]}; this sev "
            f"reads up to version {FORMAT_VERSION}: install a newer one."
        )
    entries = manifest.get("members")
    if not isinstance(entries, dict) or set(entries) != names:
        raise ArchiveError("The file's members are not those that its manifest names.")


def _write_member(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, _OLDEST_DATE)
    packed = zipfile.ZIP_DEFLATED
    if len(data) > _RATIO_FROM_BYTES and _compression_ratio(data) > _MOST_RATIO // 2:
        packed = zipfile.ZIP_STORED  # so well packed that reading it would look like a bomb
    archive.writestr(info, data, compress_type=packed, compresslevel=6)


def _compression_ratio(data: bytes) -> float:
    import zlib

    return len(data) / len(zlib.compress(data, 6))
