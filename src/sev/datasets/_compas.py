"""COMPAS: recidivism in Broward County, Florida."""

from typing import Literal, overload

import pandas as pd

from sev.datasets._dataset import Dataset
from sev.datasets._home import DataHome, find, not_found
from sev.datasets._schema import Column, Schema, parse, read_bytes

FILES = ("compas.csv", "compas-scores-two-years.csv")

SCHEMA = Schema(
    features=(
        Column("sex=female", label="female"),
        Column("age", label="age in years"),
        Column("juv_fel_count", label="juvenile felonies"),
        Column("juv_misd_count", label="juvenile misdemeanours"),
        Column("juvenile_crimes", label="juvenile offences of any kind"),
        Column("priors_count", label="prior offences"),
        Column("current_charge_degree=felony", label="charged with a felony"),
    ),
    target="two_year_recid",
    classes={"0": 0, "1": 1},
    n_rows=6_907,
    sha256="ad622044b3aedb8bcd238d6e1c702b11a69c743b843d80e1373f3064a173e04a",
)

#: The columns of ProPublica's file that are needed.
PROPUBLICA = Schema(
    features=(
        Column("sex", "text"),
        Column("age"),
        Column("juv_fel_count"),
        Column("juv_misd_count"),
        Column("juv_other_count"),
        Column("priors_count"),
        Column("days_b_screening_arrest", "text"),
        Column("c_charge_degree", "text"),
    ),
    target="two_year_recid",
    classes={"0": 0, "1": 1},
    n_rows=7_214,
)


@overload
def fetch_compas(*, data_home: DataHome = None, return_X_y: Literal[False] = False) -> Dataset: ...
@overload
def fetch_compas(*, data_home: DataHome = None, return_X_y: Literal[True]) -> tuple[pd.DataFrame, pd.Series]: ...
@overload
def fetch_compas(*, data_home: DataHome = None, return_X_y: bool) -> Dataset | tuple[pd.DataFrame, pd.Series]: ...
def fetch_compas(*, data_home: DataHome = None, return_X_y: bool = False) -> Dataset | tuple[pd.DataFrame, pd.Series]:
    """Fetch COMPAS: 6,907 defendants, 7 features, 1 for a new offence within two years.

    Reads ``compas.csv``, which has the seven columns, or ProPublica's own ``compas-scores-two-years.csv``, from
    which they are derived.

    Parameters
    ----------
    data_home : path, default=None
        Folder with one of the two files. Where neither is there, the folder named by the environment variable
        ``SEV_DATA_HOME`` and then the cache are tried. It is never downloaded.
    return_X_y : bool, default=False
        Return ``(X, y)`` instead of a :class:`Dataset`.

    Returns
    -------
    Dataset or tuple of (pandas.DataFrame, pandas.Series)
        All columns are integers.

    Raises
    ------
    DatasetNotFoundError
        When there is no file; the message says where to get it.

    Examples
    --------
    >>> from sev.datasets import fetch_compas
    >>> fetch_compas()  # doctest: +SKIP
    <Dataset compas: 6,907 rows, 7 features, 46.3 % re-offends within two years>
    """
    path = find(FILES, data_home)
    if path is None:
        raise not_found(
            "COMPAS",
            FILES,
            data_home,
            "Get compas-scores-two-years.csv from https://github.com/propublica/compas-analysis; the seven columns are "
            "derived from it. No licence is stated there, so it cannot come with this package.",
        )
    data = read_bytes(path)
    cells = parse(data, str(path))
    if "c_charge_degree" in cells.columns:
        cells = _derive_columns(PROPUBLICA.typed(cells, str(path)))
    frame = SCHEMA.typed(cells, str(path))
    SCHEMA.compare(frame, str(path), data)
    X, y = SCHEMA.split(frame)
    if return_X_y:
        return X, y
    return Dataset(
        name="compas",
        X=X,
        y=y,
        target_names=("does not re-offend within two years", "re-offends within two years"),
        labels=SCHEMA.labels,
        description=(
            "Defendants in Broward County, Florida, 2013 and 2014, without the 307 whose days between screening and "
            "arrest are not known. The data carry known racial bias in how they were collected."
        ),
        source="ProPublica (2016), compas-analysis, https://github.com/propublica/compas-analysis",
        licence="none stated: not for redistribution",
    )


def _derive_columns(raw: pd.DataFrame) -> pd.DataFrame:
    """Return the seven columns and the label, as text, of the rows with a known date of arrest."""
    raw = raw[raw["days_b_screening_arrest"] != ""].reset_index(drop=True)
    columns = {
        "sex=female": (raw["sex"] == "Female").astype("int64"),
        "age": raw["age"],
        "juv_fel_count": raw["juv_fel_count"],
        "juv_misd_count": raw["juv_misd_count"],
        "juvenile_crimes": raw["juv_fel_count"] + raw["juv_misd_count"] + raw["juv_other_count"],
        "priors_count": raw["priors_count"],
        "current_charge_degree=felony": (raw["c_charge_degree"] == "F").astype("int64"),
        "two_year_recid": raw["two_year_recid"],
    }
    return pd.DataFrame(columns).astype(str)
