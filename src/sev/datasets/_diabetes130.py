"""Diabetes 130: readmission of diabetic patients to hospitals of the United States."""

from typing import Literal, overload

import pandas as pd

from sev.datasets._dataset import Dataset
from sev.datasets._home import DataHome
from sev.datasets._openml import load_or_download
from sev.datasets._schema import Column as C
from sev.datasets._schema import Schema, translate

FILES = ("diabetic_data.csv", "diabetic_data.csv.gz")
OPENML_ID = 4541

SCHEMA = Schema(
    features=(
        C("encounter_id"),
        C("patient_nbr", label="patient number"),
        C("race", "text"),
        C("gender", "text"),
        C("age", "text", "age in years"),
        C("weight", "text", "weight in pounds"),
        C("admission_type_id", label="type of admission (code)"),
        C("discharge_disposition_id", label="discharge disposition (code)"),
        C("admission_source_id", label="source of admission (code)"),
        C("time_in_hospital", label="days in hospital"),
        C("payer_code", "text"),
        C("medical_specialty", "text", "specialty of the admitting physician"),
        C("num_lab_procedures", label="lab procedures"),
        C("num_procedures", label="other procedures"),
        C("num_medications", label="medications"),
        C("number_outpatient", label="outpatient visits in the year before"),
        C("number_emergency", label="emergency visits in the year before"),
        C("number_inpatient", label="inpatient visits in the year before"),
        C("diag_1", "text", "primary diagnosis"),
        C("diag_2", "text", "secondary diagnosis"),
        C("diag_3", "text", "further diagnosis"),
        C("number_diagnoses", label="diagnoses"),
        C("max_glu_serum", "text", "glucose serum test"),
        C("A1Cresult", "text", "HbA1c test"),
        C("metformin", "text"),
        C("repaglinide", "text"),
        C("nateglinide", "text"),
        C("chlorpropamide", "text"),
        C("glimepiride", "text"),
        C("acetohexamide", "text"),
        C("glipizide", "text"),
        C("glyburide", "text"),
        C("tolbutamide", "text"),
        C("pioglitazone", "text"),
        C("rosiglitazone", "text"),
        C("acarbose", "text"),
        C("miglitol", "text"),
        C("troglitazone", "text"),
        C("tolazamide", "text"),
        C("examide", "text"),
        C("citoglipton", "text"),
        C("insulin", "text"),
        C("glyburide-metformin", "text"),
        C("glipizide-metformin", "text"),
        C("glimepiride-pioglitazone", "text"),
        C("metformin-rosiglitazone", "text"),
        C("metformin-pioglitazone", "text"),
        C("change", "text", "change of diabetic medication"),
        C("diabetesMed", "text", "diabetic medication prescribed"),
    ),
    target="readmitted",
    classes={"NO": 0, ">30": 1, "<30": 1},
    n_rows=101_766,
    sha256="0689e7ec031237dc63031b938805c48377748761a3b26acab621567afa24df97",
    newline="\r\n",
)

_IDENTIFIERS = ("encounter_id", "patient_nbr")
_MOSTLY_MISSING = ("weight", "payer_code", "medical_specialty")
#: Given in fewer than 40 encounters.
_RARE_DRUGS = (
    "examide",
    "citoglipton",
    "acetohexamide",
    "glimepiride-pioglitazone",
    "metformin-pioglitazone",
    "metformin-rosiglitazone",
    "troglitazone",
    "glipizide-metformin",
    "tolbutamide",
    "miglitol",
    "tolazamide",
)
#: ICD-9 codes, first and last, of the groups of Strack et al. (2014), table 2; all else is "other".
_DIAGNOSES = {
    "circulatory": ((390, 459), (785, 785)),
    "respiratory": ((460, 519), (786, 786)),
    "digestive": ((520, 579), (787, 787)),
    "diabetes": ((250, 250),),
    "injury": ((800, 999),),
    "musculoskeletal": ((710, 739),),
    "genitourinary": ((580, 629), (788, 788)),
    "neoplasms": ((140, 239),),
}
_TESTS = {
    "None": "None",
    "Norm": "Norm",
    **dict.fromkeys((">200", ">300", ">7", ">8"), "Abnormal"),
}
_AGES = {f"[{first}-{first + 10})": first + 5 for first in range(0, 100, 10)}


@overload
def fetch_diabetes130(
    *,
    raw: bool = False,
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: Literal[False] = False,
) -> Dataset: ...
@overload
def fetch_diabetes130(
    *, raw: bool = False, data_home: DataHome = None, download_if_missing: bool = True, return_X_y: Literal[True]
) -> tuple[pd.DataFrame, pd.Series]: ...
@overload
def fetch_diabetes130(
    *, raw: bool = False, data_home: DataHome = None, download_if_missing: bool = True, return_X_y: bool
) -> Dataset | tuple[pd.DataFrame, pd.Series]: ...
def fetch_diabetes130(
    *, raw: bool = False, data_home: DataHome = None, download_if_missing: bool = True, return_X_y: bool = False
) -> Dataset | tuple[pd.DataFrame, pd.Series]:
    """Fetch Diabetes 130: 101,766 hospital stays, 33 features, 1 for a patient who is readmitted at any time.

    The paper's own cleaning was not published. This one yields its 33 features and, one-hot encoded, its 101 columns:

    - the two identifiers, weight, payer_code, medical_specialty (mostly missing) and eleven drugs given in fewer
      than 40 encounters are dropped;
    - diag_1, diag_2 and diag_3 become the nine groups of Strack et al. (2014), a missing one "other";
    - age becomes the middle of its band; race "?" becomes "Other", gender "Unknown/Invalid" "Female";
    - max_glu_serum and A1Cresult become "None" (not measured), "Norm" and "Abnormal".

    Parameters
    ----------
    raw : bool, default=False
        Return the 49 columns as published instead, identifiers included.
    data_home : path, default=None
        Folder with ``diabetic_data.csv`` or ``diabetic_data.csv.gz``. Where neither is there, the folder named by
        the environment variable ``SEV_DATA_HOME`` and then the cache are tried.
    download_if_missing : bool, default=True
        Download a file that is in none of these folders from OpenML (data set 4541), and keep it in the cache.
    return_X_y : bool, default=False
        Return ``(X, y)`` instead of a :class:`Dataset`.

    Returns
    -------
    Dataset or tuple of (pandas.DataFrame, pandas.Series)
        Text columns have no missing values: "None" and, with ``raw=True``, "?" are words like others.

    Raises
    ------
    DatasetNotFoundError
        When there is no file, and the download is not permitted or fails.

    Notes
    -----
    There are 71,518 patients: a random split of the rows puts some of them on both sides.

    Examples
    --------
    >>> from sev.datasets import fetch_diabetes130
    >>> fetch_diabetes130()  # doctest: +SKIP
    <Dataset diabetes130: 101,766 rows, 33 features, 46.1 % readmitted>
    """
    frame = load_or_download(
        SCHEMA,
        title="Diabetes 130",
        files=FILES,
        data_home=data_home,
        download_if_missing=download_if_missing,
        data_id=OPENML_ID,
        advice="Get it from https://archive.ics.uci.edu/dataset/296 (the file diabetic_data.csv in the zip archive).",
    )
    X, y = SCHEMA.split(frame)
    if not raw:
        X = _clean_rows(X)
    if return_X_y:
        return X, y
    labels = SCHEMA.labels
    return Dataset(
        name="diabetes130",
        X=X,
        y=y,
        target_names=("not readmitted", "readmitted"),
        labels={name: labels[name] for name in X.columns},
        description=(
            "Stays of diabetic patients in 130 hospitals of the United States, 1999 to 2008. "
            + (
                "As published: '?' is missing, 'None' is not measured. "
                if raw
                else "A cleaning that has the paper's 33 features and 101 encoded columns; the paper's own was not "
                "published. "
            )
            + "The three columns ending in _id are codes. One patient may have several stays."
        ),
        source="Clore, Cios, DeShazo and Strack (2014), Diabetes 130-US hospitals for years 1999-2008, "
        "UCI Machine Learning Repository, doi:10.24432/C5230J",
        licence="CC BY 4.0",
    )


def _clean_rows(X: pd.DataFrame) -> pd.DataFrame:
    X = X.drop(columns=[*_IDENTIFIERS, *_MOSTLY_MISSING, *_RARE_DRUGS])
    return X.assign(
        race=X["race"].replace("?", "Other"),
        gender=X["gender"].replace("Unknown/Invalid", "Female"),
        age=translate(X["age"], _AGES, "Diabetes 130"),
        **{name: X[name].map(_diagnosis_groups(X[name])) for name in ("diag_1", "diag_2", "diag_3")},
        **{name: translate(X[name], _TESTS, "Diabetes 130") for name in ("max_glu_serum", "A1Cresult")},
    )


def _diagnosis_groups(codes: pd.Series) -> dict[str, str]:
    """Return the group of each ICD-9 code in a column."""
    return {code: _diagnosis_group(code) for code in codes.unique()}


def _diagnosis_group(code: str) -> str:
    try:
        category = int(float(code))  # 250.83 belongs to 250
    except ValueError:  # V and E codes, and the missing one
        return "other"
    for group, ranges in _DIAGNOSES.items():
        if any(first <= category <= last for first, last in ranges):
            return group
    return "other"
