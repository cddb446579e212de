"""Copies of the published files, through scikit-learn's OpenML client."""

import re
from collections.abc import Callable
from http.client import HTTPException

import pandas as pd

from sev.datasets._dataset import DatasetNotFoundError
from sev.datasets._home import DataHome, find, not_found, store
from sev.datasets._schema import Schema, read_bytes
from sev.exceptions import InputError


def load_or_download(
    schema: Schema,
    *,
    title: str,
    files: tuple[str, ...],
    data_home: DataHome,
    download_if_missing: bool,
    data_id: int,
    advice: str,
    pick: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame,
) -> pd.DataFrame:
    """Return the typed table from a file, or else from OpenML, keeping what was downloaded.

    Parameters
    ----------
    schema : Schema
        Form of the published file.
    title : str
        Name of the data, for messages.
    files : tuple of str
        File names to look for; a download is kept under the first.
    data_home : path or None
        Folder to look in first.
    download_if_missing : bool
        Whether to ask OpenML.
    data_id : int
        OpenML's number of the data.
    advice : str
        Where people get the file.
    pick : callable
        Takes the published rows from OpenML's table.
    """
    path = find(files, data_home)
    if path is not None:
        return schema.read(read_bytes(path), str(path))
    if not download_if_missing:
        raise not_found(title, files, data_home, advice)
    where = f"OpenML's data set {data_id}"
    frame = pick(
        schema.typed(_match_columns(_request_table(data_id, title, files, data_home, advice), schema, where), where)
    )
    data = schema.write(frame)
    schema.compare(frame, where, data)
    store(files[0], data)
    return frame


def _request_table(data_id: int, title: str, files: tuple[str, ...], data_home: DataHome, advice: str) -> pd.DataFrame:
    from sklearn.datasets import fetch_openml  # imported here: it is slow, and most users never need it

    try:
        # cache=False: the table is kept once, in the published form, by us.
        return fetch_openml(data_id=data_id, as_frame=True, parser="pandas", cache=False).frame
    except (OSError, ValueError, HTTPException) as error:
        reason = f"OpenML could not be reached for its copy ({type(error).__name__}: {error})."
        raise DatasetNotFoundError(f"{not_found(title, files, data_home, advice)}\n{reason}") from error


def _match_columns(frame: pd.DataFrame, schema: Schema, where: str) -> pd.DataFrame:
    """Return a table of text under our column names: OpenML may write ``a.b`` for ``a-b``, and NaN for ``?``."""
    theirs = {_simplify_name(str(name)): name for name in frame.columns}
    missing = [name for name in schema.names if _simplify_name(name) not in theirs]
    if missing:
        raise InputError(f"{where} lacks the columns {missing}; it has {list(frame.columns)}.")
    cells = {}
    for name in schema.names:
        column = frame[theirs[_simplify_name(name)]].astype(object)
        cells[name] = column.where(column.notna(), "?").astype(str).str.strip()
    table = pd.DataFrame(cells)
    return table if schema.header else table.set_axis(range(len(schema.names)), axis=1)


def _simplify_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
