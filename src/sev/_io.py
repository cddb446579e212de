"""Reading and writing files in folders that other people may write to.

Every file that this package writes in place of another one goes through :func:`replacing`: readers see the old file or
the new one, never half of it, and nobody can guess the name it has until then.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from sev.exceptions import FolderNotFoundError

#: How the names of unfinished files end; they start with a dot.
TEMPORARY_SUFFIX = ".tmp"
_LONGEST_STEM = 100
# flags that some systems do not have
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_BLOCK = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a new binary file that replaces ``path`` when the block ends without an error.

    The data are on disk before the file gets its name. Until then it lies beside ``path`` under a random name, is
    created only if nothing of that name exists, and never through a link, so that a file or link put there by somebody
    else is neither written to nor followed. Its permissions are those of any new file of the user.

    Parameters
    ----------
    path : path-like
        The file to create or replace. If it is a link, the link is replaced, not what it points to.

    Yields
    ------
    binary file
        Open for writing.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name[:_LONGEST_STEM]}.{secrets.token_hex(8)}{TEMPORARY_SUFFIX}")
    # the mode is 0o666 less the umask; tempfile's own 0o600 would keep colleagues out of shared results
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def write_file(path: str | Path, data: bytes) -> None:
    """Create or replace a file at once; see :func:`replacing`.

    Raises
    ------
    FolderNotFoundError
        When its folder does not exist; the error names the folder.
    """
    folder = Path(path).parent
    if not folder.is_dir():
        raise FolderNotFoundError(errno.ENOENT, "This folder does not exist: create it first", str(folder))
    with replacing(path) as file:
        file.write(data)


def write_texts(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write texts as UTF-8 files of a folder, which is made where it does not exist; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_file(folder / name, text.encode("utf-8"))
    return [folder / name for name in texts]


def read_regular_file(path: str | Path, most_bytes: int) -> bytes:
    """Read a file from a folder that others may write to.

    Parameters
    ----------
    path : path-like
        The file. Links, pipes and devices are refused: a pipe would block the caller for ever.
    most_bytes : int
        Larger files are refused.

    Raises
    ------
    OSError
        When it is not a regular file, too large, or cannot be read.
    """
    with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > most_bytes:
            raise OSError(errno.EFBIG, f"The file has {size:,} bytes, at most {most_bytes:,} are read", str(path))
        return file.read(most_bytes)


def open_regular(path: str | Path, flags: int, mode: int = 0o666) -> int:
    """Open a regular file by descriptor, without following a link in its last place.

    Parameters
    ----------
    path : path-like
        The file.
    flags, mode : int
        As for :func:`os.open`.
    """
    try:
        handle = os.open(path, flags | _NO_FOLLOW | _NO_BLOCK | _BINARY, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO):
            raise _not_regular(path) from error
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _not_regular(path)
    return handle


def _not_regular(path: object) -> OSError:
    return OSError(errno.EINVAL, "This is a link, a pipe or a device where a regular file is expected", str(path))
