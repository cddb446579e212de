"""Applications for a mortgage: numbers, counts, categories, booleans and missing values, as lenders have them.

Made from a fixed seed, because the records of real lenders may not be shipped. The columns and their relations follow
those of the Boston home mortgage data.
"""

import numpy as np
import pandas as pd

CATEGORIES = ("property", "employment", "purpose", "state")
LABELS = """\
classes: {"yes": denied, "no": approved}
features:
  payment_share: {label: the share of income for payments, unit: "%", digits: 1}
  loan_to_value: {label: the loan in percent of the value, unit: "%", digits: 1}
  late_payments: the number of late payments
  dependants: the number of dependants
  income: {label: the income, unit: USD}
  employment:
    label: the employment
    values: {self_employed: self-employment, employed: employment with a company, none: no employment}
  property: the kind of property
  purpose: the purpose of the loan
  insured: {label: mortgage insurance}
  state: the state
"""
CODES = {
    "payment_share": {"code": "R01", "text": "Payments too high for the income"},
    "loan_to_value": {"code": "R02", "text": "Loan too high for the value of the property"},
    "late_payments": {"code": "R03", "text": "Number of late payments"},
    "dependants": {"code": "R04", "text": "Number of dependants"},
    "income": {"code": "R05", "above": "Income and other figures do not fit", "below": "Income too low"},
    "employment": {"code": "R06", "text": "Kind of employment"},
    "property": {"code": "R07", "text": "Kind of property"},
    "purpose": {"code": "R08", "text": "Purpose of the loan"},
    "insured": {"code": "R09", "text": "No mortgage insurance"},
    "state": {"code": "R10", "text": "State"},
}


def applications(n_rows=700, seed=0):
    """Rows with category columns, and who was denied ("yes" or "no")."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "property": generator.choice(["flat", "house", "farm"], n_rows, p=[0.4, 0.5, 0.1]),
            "income": (generator.lognormal(8.3, 0.4, n_rows)).round(-1),
            "employment": generator.choice(["employed", "self_employed", "none"], n_rows, p=[0.75, 0.18, 0.07]),
            "payment_share": generator.normal(33, 9, n_rows).clip(5, 90).round(1),
            "loan_to_value": generator.normal(74, 14, n_rows).clip(10, 120).round(1),
            "late_payments": generator.poisson(0.7, n_rows),
            "dependants": generator.poisson(1.0, n_rows),
            "purpose": generator.choice(["buy", "build", "refinance"], n_rows),
            "insured": generator.random(n_rows) < 0.3,
            "state": generator.choice(["01", "02", "09"], n_rows),
        }
    )
    risk = (
        (frame["payment_share"] - 36) / 6
        + (frame["loan_to_value"] - 85) / 9
        + 1.1 * frame["late_payments"]
        + 1.6 * (frame["employment"] == "none")
        + 0.6 * (frame["employment"] == "self_employed")
        + 0.8 * (frame["property"] == "farm")
        - 0.9 * frame["insured"]
        - (frame["income"] - 4000) / 3000
    )
    denied = np.where(risk + generator.logistic(0, 0.5, n_rows) > 0.9, "yes", "no")
    frame.loc[generator.random(n_rows) < 0.03, "employment"] = None
    frame.loc[generator.random(n_rows) < 0.03, "income"] = np.nan
    for column in CATEGORIES:
        frame[column] = frame[column].astype("category")
    return frame, denied


def write_tables(folder, n_train=500):
    """``train.csv`` with the column ``denied``, and ``applicants.csv`` with the column ``number``; returns the rows."""
    rows, denied = applications()
    rows[:n_train].assign(denied=denied[:n_train]).to_csv(folder / "train.csv", index=False)
    new = rows[n_train:].reset_index(drop=True)
    new.assign(number=[f"A{place:04d}" for place in range(len(new))]).to_csv(folder / "applicants.csv", index=False)
    return rows[:n_train], denied[:n_train], new
