"""What a data file must look like, and whether it is the published one."""

import gzip
import hashlib
import io
import warnings
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from sev.core import warn_user
from sev.exceptions import InputError, SevWarning

#: What stands for a missing number. In text columns every word is a value, ``None`` and ``?`` included.
_MISSING_NUMBER = ("", "NA", "NaN", "nan", "NULL", "null", "None")


class Column(NamedTuple):
    """One column of a file: its name, what its cells are, and a name to show to people."""

    name: str
    kind: Literal["integer", "number", "text"] = "integer"
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The form of one data file.

    Attributes
    ----------
    features : tuple of Column
        In the order of the published file.
    target : str
        Name of the label, which is the last column of the published file.
    classes : mapping of str to int
        The words of the label column, as published, and the 0 or 1 each stands for.
    spellings : mapping of str to str
        Other words for the same classes, and the published word of each.
    n_rows : int
        Rows of the published file.
    sha256 : str
        Checksum of the published file, unpacked. Empty: there is none to compare with.
    header, separator, newline, ending
        How the published file is written; ``ending`` follows its last line.
    """

    features: tuple[Column, ...]
    target: str
    classes: Mapping[str, int]
    spellings: Mapping[str, str] = field(default_factory=dict)
    n_rows: int
    sha256: str = ""
    header: bool = True
    separator: str = ","
    newline: str = "\n"
    ending: str = ""

    @property
    def names(self) -> list[str]:
        """Names of all columns, the label last."""
        return [*(column.name for column in self.features), self.target]

    @property
    def labels(self) -> dict[str, str]:
        """For each feature a name to show to people."""
        return {c.name: c.label or c.name.replace("_", " ").replace("-", " ") for c in self.features}

    def read(self, data: bytes, where: str) -> pd.DataFrame:
        """Return the table in ``data``, typed; warn where it is not the published one."""
        frame = self.typed(parse(data, where, header=self.header, separator=self.separator), where)
        self.compare(frame, where, data)
        return frame

    def typed(self, cells: pd.DataFrame, where: str) -> pd.DataFrame:
        """Return our columns of a table of text, in our order and types."""
        if self.header:
            missing = [name for name in self.names if name not in cells.columns]
            if missing:
                raise InputError(f"{where} lacks the columns {missing}; it has {list(cells.columns)}.")
            twice = [name for name in self.names if list(cells.columns).count(name) > 1]
            if twice:
                raise InputError(f"{where} has the columns {twice} more than once.")
            cells = cells[self.names]
        elif cells.shape[1] != len(self.names):
            raise InputError(
                f"{where} has {cells.shape[1]} columns where {len(self.names)} are expected: {', '.join(self.names)}."
            )
        else:
            cells = cells.set_axis(self.names, axis=1)
        if cells.empty:
            raise InputError(f"{where} has no rows.")
        columns = {column.name: _read_column(cells[column.name], column, where) for column in self.features}
        target = cells[self.target].replace(dict(self.spellings))
        _refuse_cells(~target.isin(list(self.classes)), target, f"one of {list(self.classes)}", where)
        return pd.DataFrame({**columns, self.target: target})

    def split(self, frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
        """Return the features, and the label as 0 and 1."""
        y = frame[self.target].map(dict(self.classes)).astype("int64")
        return frame.drop(columns=self.target), y

    def write(self, frame: pd.DataFrame) -> bytes:
        """Write a typed table exactly as the published file is written."""
        rows = zip(*(frame[name].astype(str).tolist() for name in self.names), strict=True)
        lines = [self.separator.join(row) for row in rows]
        if self.header:
            lines.insert(0, self.separator.join(self.names))
        return (self.newline.join(lines) + self.newline + self.ending).encode()

    def compare(self, frame: pd.DataFrame, where: str, data: bytes | None = None) -> None:
        """Warn unless the bytes, or else the cells however they were written, are the published ones."""
        if not self.sha256 or (data is not None and sha256(data) == self.sha256):
            return
        if sha256(self.write(frame)) == self.sha256:
            return
        warn_user(
            f"{where} has the right columns but is not the published file: it has {len(frame):,} rows (published: "
            f"{self.n_rows:,}), and its sha256 is not {self.sha256}. Results may differ from the paper's.",
            SevWarning,
        )


def sha256(data: bytes) -> str:
    """Return the checksum of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def read_bytes(path: Path) -> bytes:
    """Return a file's content, unpacked where its name ends in ``.gz``."""
    data = path.read_bytes()
    if path.suffix != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path} is damaged and cannot be unpacked ({error}): download it again.") from error


def parse(data: bytes, where: str, *, header: bool = True, separator: str = ",") -> pd.DataFrame:
    """Return a table of text, every cell as it is written."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # lines longer than the header
            return pd.read_csv(
                io.BytesIO(data),
                sep=separator.strip() or r"\s+",
                header=0 if header else None,
                index_col=False,
                dtype=str,
                keep_default_na=False,
                skipinitialspace=True,
            )
    except (ValueError, pd.errors.ParserWarning) as error:  # parser errors and undecodable text are ValueErrors
        raise InputError(f"{where} cannot be read as a table: {error}") from error


def translate(cells: pd.Series, words: Mapping[str, str | int], where: str) -> pd.Series:
    """Return what each cell stands for; a cell that stands for nothing is refused."""
    _refuse_cells(~cells.isin(list(words)), cells, f"one of {list(words)}", where)
    return cells.map(dict(words))


def _read_column(cells: pd.Series, column: Column, where: str) -> pd.Series:
    if column.kind == "text":
        return cells
    numbers = pd.to_numeric(cells, errors="coerce").astype("float64")
    if column.kind == "integer":
        _refuse_cells(~np.isfinite(numbers) | (numbers % 1 != 0), cells, "an integer", where)
        return numbers.astype("int64")
    _refuse_cells(
        ~np.isfinite(numbers) & ~cells.isin(_MISSING_NUMBER), cells, "a finite number or an empty cell", where
    )
    return numbers


def _refuse_cells(bad: pd.Series, cells: pd.Series, expected: str, where: str) -> None:
    if bad.any():
        row = int(np.argmax(bad.to_numpy()))
        raise InputError(f"{where}, row {row + 1}, column {cells.name!r}: {cells.iloc[row]!r} is not {expected}.")
