"""Adult: incomes in the 1994 census of the United States."""

from typing import Literal, overload

import pandas as pd

from sev.datasets._dataset import Dataset
from sev.datasets._home import DataHome
from sev.datasets._openml import load_or_download
from sev.datasets._schema import Column as C
from sev.datasets._schema import Schema, sha256
from sev.exceptions import InputError

FILES = ("adult.data",)
OPENML_ID = 1590
N_POSITIVE = 7_841

SCHEMA = Schema(
    features=(
        C("age", label="age in years"),
        C("workclass", "text", "class of worker"),
        C("fnlwgt", label="survey weight"),
        C("education", "text"),
        C("education-num", label="years of education"),
        C("marital-status", "text"),
        C("occupation", "text"),
        C("relationship", "text", "relationship in the household"),
        C("race", "text"),
        C("sex", "text"),
        C("capital-gain"),
        C("capital-loss"),
        C("hours-per-week"),
        C("native-country", "text"),
    ),
    target="class",
    classes={"<=50K": 0, ">50K": 1},
    n_rows=32_561,
    sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    header=False,
    separator=", ",
    ending="\n",
)


@overload
def fetch_adult(
    *, data_home: DataHome = None, download_if_missing: bool = True, return_X_y: Literal[False] = False
) -> Dataset: ...
@overload
def fetch_adult(
    *, data_home: DataHome = None, download_if_missing: bool = True, return_X_y: Literal[True]
) -> tuple[pd.DataFrame, pd.Series]: ...
@overload
def fetch_adult(
    *, data_home: DataHome = None, download_if_missing: bool = True, return_X_y: bool
) -> Dataset | tuple[pd.DataFrame, pd.Series]: ...
def fetch_adult(
    *, data_home: DataHome = None, download_if_missing: bool = True, return_X_y: bool = False
) -> Dataset | tuple[pd.DataFrame, pd.Series]:
    """Fetch Adult: 32,561 people, 14 features, 1 for an income above 50,000 dollars.

    These are the training rows of the published data, as in the paper; the 16,281 test rows are left out.

    Parameters
    ----------
    data_home : path, default=None
        Folder with ``adult.data``. Where it is not there, the folder named by the environment variable
        ``SEV_DATA_HOME`` and then the cache are tried.
    download_if_missing : bool, default=True
        Download a file that is in none of these folders from OpenML (data set 1590), and keep it in the cache.
    return_X_y : bool, default=False
        Return ``(X, y)`` instead of a :class:`Dataset`.

    Returns
    -------
    Dataset or tuple of (pandas.DataFrame, pandas.Series)
        A missing value is the category ``"?"``.

    Raises
    ------
    DatasetNotFoundError
        When there is no file, and the download is not permitted or fails.

    Examples
    --------
    >>> from sev.datasets import fetch_adult
    >>> fetch_adult()  # doctest: +SKIP
    <Dataset adult: 32,561 rows, 14 features, 24.1 % >50K>
    """
    frame = load_or_download(
        SCHEMA,
        title="Adult",
        files=FILES,
        data_home=data_home,
        download_if_missing=download_if_missing,
        data_id=OPENML_ID,
        advice="Get it from https://archive.ics.uci.edu/dataset/2/adult (the file adult.data in the zip archive).",
        pick=_training_rows,
    )
    X, y = SCHEMA.split(frame)
    y = y.rename("income_above_50k")
    if return_X_y:
        return X, y
    return Dataset(
        name="adult",
        X=X,
        y=y,
        target_names=("<=50K", ">50K"),
        labels=SCHEMA.labels,
        description=(
            "People in the 1994 census of the United States; training part only. Missing values are the category '?'. "
            "education and education-num carry the same information; fnlwgt is a survey weight."
        ),
        source="Becker and Kohavi (1996), Adult, UCI Machine Learning Repository, doi:10.24432/C5XW20",
        licence="CC BY 4.0",
    )


def _training_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Take the training rows out of OpenML's table, which holds the published test rows as well.

    They lie in one piece at one end: recognised by the checksum, or else by the number of incomes above 50,000.
    """
    n_rows = SCHEMA.n_rows
    if len(frame) >= n_rows:
        ends = [part.reset_index(drop=True) for part in (frame.iloc[-n_rows:], frame.iloc[:n_rows])]
        for part in ends:
            if sha256(SCHEMA.write(part)) == SCHEMA.sha256:
                return part
        for part in ends:
            if (part[SCHEMA.target] == ">50K").sum() == N_POSITIVE:
                return part
    raise InputError(
        f"OpenML's data set {OPENML_ID} has {len(frame):,} rows, and neither its first nor its last {n_rows:,} are the "
        f"published training rows ({N_POSITIVE:,} incomes above 50K). Get adult.data itself from "
        "https://archive.ics.uci.edu/dataset/2/adult."
    )
