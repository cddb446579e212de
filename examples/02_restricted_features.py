"""
Who is left without an explanation?
===================================

Age and sex may not be part of an explanation. Whose decisions then have none? (COMPAS)
"""

from pathlib import Path

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sev
from sev.datasets import DatasetNotFoundError, fetch_compas

OUTPUT = Path("demo-output/restricted_features")

# %%
# The data set does not ship with the package; ``SEV_DATA_HOME`` names the folder that holds it.

try:
    dataset = fetch_compas()
except DatasetNotFoundError as error:
    print(f"Skipped: {error}")
    raise SystemExit(0) from None

X_train, X_test, y_train, y_test = train_test_split(dataset.X, dataset.y, stratify=dataset.y, random_state=0)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
explainer = sev.Explainer(model, X_train, y_train)

# %%
# With and without the restriction
# --------------------------------
#
# The model is the same, and still uses both features; only the explanations differ.
free = explainer.explain(X_test)
restricted = explainer.explain(X_test, restricted=["age", "sex=female"])
both = {"all features": free, "without age and sex": restricted}
for name, many in both.items():
    summary = many.summary()
    print(
        f"{name:>20}: mean size {many.mean_size():.2f}, unexplainable {summary['unexplainable']} of "
        f"{summary['target']} ({many.mean_size(unexplainable='all_features'):.2f} if each counts as all features)"
    )

# %%
# One decision without a permitted explanation, in words:
lost = next((one for one in restricted if one.status == sev.Status.UNEXPLAINABLE), None)
if lost is not None:
    print(lost.to_text())

# %%
# Pictures
# --------
#
# How many features decisions need, which ones, and where each row goes when the restriction comes.
OUTPUT.mkdir(parents=True, exist_ok=True)
for name, ax in {
    "sizes": sev.plots.sizes(both),
    "features": sev.plots.feature_shares(both),
    "flow": sev.plots.flow(free, restricted, labels=tuple(both)),
}.items():
    path = OUTPUT / f"{name}.png"
    ax.figure.savefig(path, dpi=110)
    print("written:", path)
