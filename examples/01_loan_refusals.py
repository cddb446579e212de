"""
Why were these loans refused?
=============================

Sentences for applicants, codes for notices, a report for the auditor.
"""
# sphinx_gallery_thumbnail_path = "images/changes.png"

from pathlib import Path

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import sev
from sev.datasets import load_german_credit

OUTPUT = Path("demo-output/loan_refusals")

# %%
# A pipeline on raw columns, fitted as usual, and every decision on the test rows explained.
dataset = load_german_credit()
X_train, X_test, y_train, y_test = train_test_split(dataset.X, dataset.y, stratify=dataset.y, random_state=0)
encode = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    remainder=StandardScaler(),
)
model = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(X_train, y_train)

explainer = sev.Explainer(model, X_train, y_train)
refusals = explainer.explain(X_test)
print(refusals.summary().to_string())

# %%
# One refusal that needs two features, as a picture: the features that are marked, changed to the values of the
# reference, undo the decision.
two = next(one for one in refusals if one.size == 2)
ax = two.plot()

# %%
# Sentences
# ---------
#
# What an applicant should read. A language file could hold the same, or another language.
LANGUAGE = {"predicted": "Refused", "otherwise": "the application would have passed"}
WORDING = {
    "checking_status": {
        "label": "the checking account",
        "values": {"less than 0 DM": "overdrawn", "0 to 200 DM": "low (0 to 200 DM)"},
        "been": {"no checking account": "there been no checking account"},
    },
    "duration": {"label": "the duration of the loan", "unit": "months", "digits": 0},
    "credit_amount": {"label": "the amount", "unit": "DM", "digits": 0},
}

wording = {name: {"label": label.lower()} for name, label in dataset.labels.items()} | WORDING
for one in [one for one in refusals if one.size][:3]:
    print("-", one.to_text(wording=wording, language=LANGUAGE))

# %%
# Reason codes
# ------------
#
# One for each feature, here numbered; amounts and durations name the direction in which they went wrong.
codes = {name: {"code": f"R{number:02d}", "text": label} for number, (name, label) in enumerate(dataset.labels.items())}
codes["credit_amount"] = {"code": "R04", "above": "Amount of credit is high", "below": "Amount of credit is low"}
codes["duration"] = {"code": "R01", "above": "Duration of credit is long", "below": "Duration of credit is short"}
given = sev.reasons(refusals, codes)
print(given.table[["id", "rank", "code", "text", "value", "reference_value"]].head(6).to_string(index=False))

# %%
# Files
# -----
#
# Tables and records of the notices, and a report that opens from disk.
OUTPUT.mkdir(parents=True, exist_ok=True)
for path in given.save(OUTPUT):
    print("written:", path)
report = sev.report(
    refusals, OUTPUT / "report.html", title="Why loans were refused", wording=wording, language=LANGUAGE
)
print("written:", report)
