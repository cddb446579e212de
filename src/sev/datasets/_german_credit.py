"""German Credit: 1,000 loans of a German bank, bundled with the package."""

from importlib.resources import files
from typing import Literal, overload

import pandas as pd

from sev.datasets._dataset import Dataset
from sev.datasets._schema import Column, Schema, translate

SCHEMA = Schema(
    features=(
        Column("checking_status", "text", "status of the checking account"),
        Column("duration", label="duration in months"),
        Column("credit_history", "text"),
        Column("purpose", "text"),
        Column("credit_amount", label="credit amount in DM"),
        Column("savings", "text", "savings account or bonds"),
        Column("employment_since", "text", "present employment since"),
        Column("installment_rate", label="instalment rate in percent of disposable income"),
        Column("personal_status_sex", "text", "personal status and sex"),
        Column("other_debtors", "text", "other debtors or guarantors"),
        Column("residence_since", label="present residence since, in years"),
        Column("property", "text"),
        Column("age", label="age in years"),
        Column("other_installment_plans", "text", "other instalment plans"),
        Column("housing", "text"),
        Column("existing_credits", label="existing credits at this bank"),
        Column("job", "text"),
        Column("people_liable", label="people liable to provide maintenance for"),
        Column("telephone", "text"),
        Column("foreign_worker", "text"),
    ),
    target="bad_credit_risk",
    classes={"1": 0, "2": 1},
    n_rows=1_000,
    sha256="b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    header=False,
    separator=" ",
)

#: What the codes of each text column stand for.
CODES: dict[str, dict[str, str]] = {
    "checking_status": {
        "A11": "less than 0 DM",
        "A12": "0 to 200 DM",
        "A13": "200 DM or more",
        "A14": "no checking account",
    },
    "credit_history": {
        "A30": "no credits, or all paid back duly",
        "A31": "all credits at this bank paid back duly",
        "A32": "existing credits paid back duly till now",
        "A33": "delay in paying off in the past",
        "A34": "critical account, or other credits elsewhere",
    },
    "purpose": {
        "A40": "car (new)",
        "A41": "car (used)",
        "A42": "furniture/equipment",
        "A43": "radio/television",
        "A44": "domestic appliances",
        "A45": "repairs",
        "A46": "education",
        "A47": "vacation",
        "A48": "retraining",
        "A49": "business",
        "A410": "others",
    },
    "savings": {
        "A61": "less than 100 DM",
        "A62": "100 to 500 DM",
        "A63": "500 to 1000 DM",
        "A64": "1000 DM or more",
        "A65": "unknown or none",
    },
    "employment_since": {
        "A71": "unemployed",
        "A72": "less than 1 year",
        "A73": "1 to 4 years",
        "A74": "4 to 7 years",
        "A75": "7 years or more",
    },
    "personal_status_sex": {
        "A91": "male, divorced/separated",
        "A92": "female, divorced/separated/married",
        "A93": "male, single",
        "A94": "male, married/widowed",
        "A95": "female, single",
    },
    "other_debtors": {"A101": "none", "A102": "co-applicant", "A103": "guarantor"},
    "property": {
        "A121": "real estate",
        "A122": "building society savings or life insurance",
        "A123": "car or other",
        "A124": "unknown or none",
    },
    "other_installment_plans": {"A141": "bank", "A142": "stores", "A143": "none"},
    "housing": {"A151": "rent", "A152": "own", "A153": "for free"},
    "job": {
        "A171": "unemployed, or unskilled non-resident",
        "A172": "unskilled resident",
        "A173": "skilled employee or official",
        "A174": "management, self-employed or highly qualified",
    },
    "telephone": {"A191": "none", "A192": "yes"},
    "foreign_worker": {"A201": "yes", "A202": "no"},
}


@overload
def load_german_credit(*, return_X_y: Literal[False] = False) -> Dataset: ...
@overload
def load_german_credit(*, return_X_y: Literal[True]) -> tuple[pd.DataFrame, pd.Series]: ...
@overload
def load_german_credit(*, return_X_y: bool) -> Dataset | tuple[pd.DataFrame, pd.Series]: ...
def load_german_credit(*, return_X_y: bool = False) -> Dataset | tuple[pd.DataFrame, pd.Series]:
    """Load German Credit: 1,000 loans, 20 features, 1 for a bad credit risk. It comes with the package.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(X, y)`` instead of a :class:`Dataset`.

    Returns
    -------
    Dataset or tuple of (pandas.DataFrame, pandas.Series)
        Seven integer columns and thirteen of readable text.

    Examples
    --------
    >>> from sev.datasets import load_german_credit
    >>> X, y = load_german_credit(return_X_y=True)
    >>> X["checking_status"].head(3).tolist()
    ['less than 0 DM', '0 to 200 DM', 'no checking account']
    >>> int(y.sum())
    300
    """
    data = files("sev.datasets").joinpath("data", "german.data").read_bytes()
    where = "the bundled german.data"
    X, y = SCHEMA.split(SCHEMA.read(data, where))
    X = X.assign(**{name: translate(X[name], words, where) for name, words in CODES.items()})
    if return_X_y:
        return X, y
    return Dataset(
        name="german_credit",
        X=X,
        y=y,
        target_names=("good credit risk", "bad credit risk"),
        labels=SCHEMA.labels,
        description=(
            "Loans of a German bank in the 1970s. The published codes are given readable names after the code table "
            "published with the data. That table is known to have errors (see the corrected South German Credit data, "
            "doi:10.24432/C5X89F): draw no conclusions from the meaning of the categories."
        ),
        source="Hofmann (1994), Statlog (German Credit Data), UCI Machine Learning Repository, doi:10.24432/C5NC77",
        licence="CC BY 4.0",
    )
