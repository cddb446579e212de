"""Where data files are looked for, and where downloaded ones are kept."""

import os
import sys
from pathlib import Path
from typing import TypeAlias

from sev._io import write_file
from sev.core import warn_user
from sev.datasets._dataset import DatasetNotFoundError
from sev.exceptions import SevWarning

DataHome: TypeAlias = str | os.PathLike[str] | None

VARIABLE = "SEV_DATA_HOME"


def cache_home() -> Path:
    """Return the folder of downloaded files; it need not exist."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return (Path(base) if base else Path.home() / "AppData" / "Local") / "sev" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "sev"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "sev"


def folders(data_home: DataHome) -> list[Path]:
    """Return the folders to look in, first one first."""
    places = []
    if data_home is not None:
        places.append(Path(data_home).expanduser())
        if not places[0].is_dir():
            raise DatasetNotFoundError(f"data_home={str(data_home)!r} is not a folder: pass one that exists.")
    if os.environ.get(VARIABLE):
        places.append(Path(os.environ[VARIABLE]).expanduser())
    return [*places, cache_home()]


def find(files: tuple[str, ...], data_home: DataHome) -> Path | None:
    """Return the first of ``files`` in the first folder that has one."""
    candidates = (folder / file for folder in folders(data_home) for file in files)
    return next((path for path in candidates if path.is_file()), None)


def not_found(title: str, files: tuple[str, ...], data_home: DataHome, advice: str) -> DatasetNotFoundError:
    """Return the error that says what was looked for, where, and how to get it."""
    places = ", ".join(str(folder) for folder in folders(data_home))
    return DatasetNotFoundError(
        f"{title}: no file {' or '.join(files)} in {places}.\n{advice}\n"
        f"Put it into one of these folders, or into any folder that data_home= or the environment variable {VARIABLE} "
        "names."
    )


def store(file: str, data: bytes) -> None:
    """Keep a file in the cache; where that cannot be written, say so and go on."""
    path = cache_home() / file
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, data)
    except OSError as error:
        warn_user(f"The downloaded {file} could not be kept in {path.parent}: {error}", SevWarning)
