"""MIMIC-III: deaths in hospital after intensive care, from the user's own file."""

import os
from pathlib import Path
from typing import Literal, overload

import pandas as pd

from sev.datasets._dataset import Dataset, DatasetNotFoundError
from sev.datasets._schema import Column, Schema, parse, read_bytes

SCHEMA = Schema(
    features=(
        Column("age", "number", "age in years"),
        Column("preiculos", "number", "length of stay before intensive care"),
        Column("gcs", "number", "Glasgow Coma Scale"),
        Column("heartrate_min", "number", "lowest heart rate"),
        Column("heartrate_max", "number", "highest heart rate"),
        Column("meanbp_min", "number", "lowest mean blood pressure"),
        Column("meanbp_max", "number", "highest mean blood pressure"),
        Column("resprate_min", "number", "lowest respiratory rate"),
        Column("resprate_max", "number", "highest respiratory rate"),
        Column("tempc_min", "number", "lowest temperature in °C"),
        Column("tempc_max", "number", "highest temperature in °C"),
        Column("urineoutput", "number", "urine output"),
        Column("mechvent", "number", "on mechanical ventilation"),
        Column("electivesurgery", "number", "had elective surgery"),
    ),
    target="hospital_expire_flag",
    classes={"0": 0, "1": 1},
    spellings={"0.0": "0", "1.0": "1"},
    n_rows=48_786,
)


@overload
def load_mimic_oasis(path: str | os.PathLike[str], *, return_X_y: Literal[False] = False) -> Dataset: ...
@overload
def load_mimic_oasis(path: str | os.PathLike[str], *, return_X_y: Literal[True]) -> tuple[pd.DataFrame, pd.Series]: ...
@overload
def load_mimic_oasis(path: str | os.PathLike[str], *, return_X_y: bool) -> Dataset | tuple[pd.DataFrame, pd.Series]: ...
def load_mimic_oasis(
    path: str | os.PathLike[str], *, return_X_y: bool = False
) -> Dataset | tuple[pd.DataFrame, pd.Series]:
    """Load the 14 OASIS features of MIMIC-III from your own file, 1 for a patient who died in hospital.

    Access to MIMIC-III is credentialed and it may not be passed on, so no copy comes with this package and none is
    downloaded. The paper has 48,786 rows.

    Parameters
    ----------
    path : path
        A CSV file, also ``.csv.gz``, with a header. It needs the columns age, preiculos, gcs, heartrate_min,
        heartrate_max, meanbp_min, meanbp_max, resprate_min, resprate_max, tempc_min, tempc_max, urineoutput,
        mechvent, electivesurgery and hospital_expire_flag, in any order and in small or capital letters. Other
        columns are left out.
    return_X_y : bool, default=False
        Return ``(X, y)`` instead of a :class:`Dataset`.

    Returns
    -------
    Dataset or tuple of (pandas.DataFrame, pandas.Series)
        All columns are floats; an empty cell is NaN, and no row is dropped.

    Raises
    ------
    DatasetNotFoundError
        When there is no such file; the message says how to get access.
    InputError
        When columns are missing or a cell is not a number; the message names them.

    Examples
    --------
    >>> from sev.datasets import load_mimic_oasis
    >>> load_mimic_oasis("oasis.csv")  # doctest: +SKIP
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise DatasetNotFoundError(
            f"There is no file {path}. MIMIC-III is credentialed: apply at https://physionet.org/content/mimiciii/, "
            f"build the first day's OASIS variables with https://github.com/MIT-LCP/mimic-code and save the columns "
            f"{', '.join(SCHEMA.names)} as CSV."
        )
    cells = parse(read_bytes(path), str(path))
    X, y = SCHEMA.split(SCHEMA.typed(cells.rename(columns=lambda name: name.strip().lower()), str(path)))
    if return_X_y:
        return X, y
    return Dataset(
        name="mimic_oasis",
        X=X,
        y=y,
        target_names=("survived", "died in hospital"),
        labels=SCHEMA.labels,
        description="Stays in intensive care at the Beth Israel Deaconess Medical Center, from the user's own file.",
        source="Johnson et al. (2016), MIMIC-III, PhysioNet, doi:10.13026/C2XW26",
        licence="PhysioNet Credentialed Health Data License: not for redistribution",
    )
