"""Importing the package is light, and works without the extras."""

import subprocess
import sys

HEAVY = ("torch", "matplotlib", "numba", "treelite", "xgboost", "lightgbm", "catboost", "shap", "polars")


def run(code):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_import_loads_nothing_heavy():
    loaded = run(f"import sys, sev; print([name for name in {HEAVY!r} if name in sys.modules])")
    assert loaded.strip() == "[]"


def test_public_names_are_there():
    names = run("import sev; print(all(hasattr(sev, name) for name in sev.__all__), sev.__version__)")
    assert names.startswith("True ")


def test_works_without_optional_packages():
    code = f"""
import importlib.abc, sys
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {HEAVY!r}:
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Missing())
import numpy as np, sev
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
X = np.random.default_rng(0).normal(size=(50, 3)); y = (X[:, 0] > 0).astype(int)
for model in LogisticRegression(), GradientBoostingClassifier(n_estimators=5):
    print(sev.Explainer(model.fit(X, y), X, y).explain(X).summary()["optimal"])
"""
    assert all(int(number) > 0 for number in run(code).split())
