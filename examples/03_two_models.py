"""
Whose decisions need fewer reasons?
===================================

Two models of about the same accuracy, and how many features their decisions need.
"""

from pathlib import Path

import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import sev
from sev.datasets import load_german_credit

OUTPUT = Path("demo-output/two_models")

# %%
# Two logistic regressions on the same rows, with two kinds of penalty.
X, y = load_german_credit(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)


def fitted(**options):
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        remainder=StandardScaler(),
    )
    return make_pipeline(encode, LogisticRegression(max_iter=1000, **options)).fit(X_train, y_train)


models = {"ridge": fitted(), "lasso": fitted(C=0.3, l1_ratio=1.0, solver="liblinear")}

# %%
# Explain the same test rows with both, and compare accuracy with the mean number of features.
explained = {name: sev.Explainer(model, X_train, y_train).explain(X_test) for name, model in models.items()}
table = pd.DataFrame(
    {
        "accuracy": {name: model.score(X_test, y_test) for name, model in models.items()},
        "mean_size": {name: many.mean_size() for name, many in explained.items()},
        "share_of_one": {name: many.summary()["share_of_one"] for name, many in explained.items()},
    }
)
print(table.round(3).to_string())

# %%
# Pictures
# --------
#
# Sizes of both, where each row goes from one model to the other, and accuracy against size.
OUTPUT.mkdir(parents=True, exist_ok=True)
for name, ax in {
    "sizes": sev.plots.sizes(explained),
    "flow": sev.plots.flow(explained["ridge"], explained["lasso"], labels=("ridge", "lasso")),
    "tradeoff": sev.plots.tradeoff(table),
}.items():
    path = OUTPUT / f"{name}.png"
    ax.figure.savefig(path, dpi=110)
    print("written:", path)
