"""HELOC: home equity lines of credit, from FICO's Explainable Machine Learning Challenge."""

from typing import Literal, overload

import pandas as pd

from sev.datasets._dataset import Dataset
from sev.datasets._home import DataHome, find, not_found
from sev.datasets._schema import Column, Schema, read_bytes
from sev.exceptions import InputError

FILES = ("fico.csv", "heloc_dataset_v1.csv")

SCHEMA = Schema(
    features=(
        Column("ExternalRiskEstimate", label="external risk estimate"),
        Column("MSinceOldestTradeOpen", label="months since oldest trade opened"),
        Column("MSinceMostRecentTradeOpen", label="months since most recent trade opened"),
        Column("AverageMInFile", label="average months in file"),
        Column("NumSatisfactoryTrades", label="satisfactory trades"),
        Column("NumTrades60Ever2DerogPubRec", label="trades ever 60 days late"),
        Column("NumTrades90Ever2DerogPubRec", label="trades ever 90 days late"),
        Column("PercentTradesNeverDelq", label="percent of trades never delinquent"),
        Column("MSinceMostRecentDelq", label="months since most recent delinquency"),
        Column("MaxDelq2PublicRecLast12M", label="worst delinquency of the last 12 months (code)"),
        Column("MaxDelqEver", label="worst delinquency ever (code)"),
        Column("NumTotalTrades", label="trades"),
        Column("NumTradesOpeninLast12M", label="trades opened in the last 12 months"),
        Column("PercentInstallTrades", label="percent of instalment trades"),
        Column("MSinceMostRecentInqexcl7days", label="months since most recent inquiry, without the last 7 days"),
        Column("NumInqLast6M", label="inquiries in the last 6 months"),
        Column("NumInqLast6Mexcl7days", label="inquiries in the last 6 months, without the last 7 days"),
        Column("NetFractionRevolvingBurden", label="revolving balance in percent of the credit limit"),
        Column("NetFractionInstallBurden", label="instalment balance in percent of the original loan"),
        Column("NumRevolvingTradesWBalance", label="revolving trades with a balance"),
        Column("NumInstallTradesWBalance", label="instalment trades with a balance"),
        Column("NumBank2NatlTradesWHighUtilization", label="bank or national trades with high utilisation"),
        Column("PercentTradesWBalance", label="percent of trades with a balance"),
    ),
    target="RiskPerformance",
    classes={"0": 0, "1": 1},
    spellings={"Good": "0", "Bad": "1"},  # FICO's own file has the words
    n_rows=10_459,
    sha256="d08177838e0fd20c071702106787f026f1f21654961ed12144675fc2ebd41f00",
)

#: No record, no usable record, condition not met.
SPECIAL_CODES = (-9, -8, -7)


@overload
def fetch_heloc(
    *, special: Literal["keep", "nan"] = "keep", data_home: DataHome = None, return_X_y: Literal[False] = False
) -> Dataset: ...
@overload
def fetch_heloc(
    *, special: Literal["keep", "nan"] = "keep", data_home: DataHome = None, return_X_y: Literal[True]
) -> tuple[pd.DataFrame, pd.Series]: ...
@overload
def fetch_heloc(
    *, special: Literal["keep", "nan"] = "keep", data_home: DataHome = None, return_X_y: bool
) -> Dataset | tuple[pd.DataFrame, pd.Series]: ...
def fetch_heloc(
    *, special: Literal["keep", "nan"] = "keep", data_home: DataHome = None, return_X_y: bool = False
) -> Dataset | tuple[pd.DataFrame, pd.Series]:
    """Fetch HELOC (the paper's "FICO"): 10,459 applicants, 23 features, 1 for bad repayment.

    Reads ``fico.csv``, or FICO's own ``heloc_dataset_v1.csv``, whose label is in words.

    Parameters
    ----------
    special : {"keep", "nan"}, default="keep"
        What becomes of the codes -9 (no record), -8 (no usable record) and -7 (condition not met), which are not
        quantities. ``"keep"``, as in the paper, leaves them, and they pull means down; ``"nan"`` makes them missing
        and all columns float.
    data_home : path, default=None
        Folder with one of the two files. Where neither is there, the folder named by the environment variable
        ``SEV_DATA_HOME`` and then the cache are tried. FICO distributes the data on its own terms, so there is no
        copy to download.
    return_X_y : bool, default=False
        Return ``(X, y)`` instead of a :class:`Dataset`.

    Returns
    -------
    Dataset or tuple of (pandas.DataFrame, pandas.Series)
        All columns are integers, or with ``special="nan"`` floats.

    Raises
    ------
    DatasetNotFoundError
        When there is no file; the message says where to get it.

    Examples
    --------
    >>> from sev.datasets import fetch_heloc
    >>> fetch_heloc()  # doctest: +SKIP
    <Dataset heloc: 10,459 rows, 23 features, 52.2 % bad repayment>
    """
    if special not in ("keep", "nan"):
        raise InputError(f"special={special!r} is not one of 'keep', 'nan'.")
    path = find(FILES, data_home)
    if path is None:
        raise not_found(
            "HELOC",
            FILES,
            data_home,
            "FICO provides the file to those who accept its terms: see its Explainable Machine Learning Challenge, "
            "https://community.fico.com/s/explainable-machine-learning-challenge.",
        )
    X, y = SCHEMA.split(SCHEMA.read(read_bytes(path), str(path)))
    if special == "nan":
        X = X.astype("float64").mask(X.isin(SPECIAL_CODES))
    if return_X_y:
        return X, y
    return Dataset(
        name="heloc",
        X=X,
        y=y,
        target_names=("good repayment", "bad repayment"),
        labels=SCHEMA.labels,
        description=(
            "Applicants for home equity lines of credit. Bad repayment: 90 or more days past due at least once in two "
            "years. -9, -8 and -7 are codes, not quantities; 588 rows are -9 throughout. MaxDelq2PublicRecLast12M and "
            "MaxDelqEver are codes of categories."
        ),
        source="FICO (2018), Explainable Machine Learning Challenge, "
        "https://community.fico.com/s/explainable-machine-learning-challenge",
        licence="FICO's own terms: not for redistribution",
    )
