"""Importing the package is light, and works without the extras."""

import subprocess
import sys

HEAVY = ("torch", "matplotlib", "numba", "treelite", "xgboost", "lightgbm", "catboost", "shap", "polars")

SUBPACKAGES = (
    "actions",
    "app",
    "backends",
    "batch",
    "comparison",
    "core",
    "credibility",
    "datasets",
    "exceptions",
    "explainers",
    "explanations",
    "files",
    "libraries",
    "plots",
    "references",
    "reports",
    "space",
    "testing",
    "text",
    "training",
    "typing",
)


def run(code):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_import_loads_nothing_heavy():
    loaded = run(f"import sys, sev; print([name for name in {HEAVY!r} if name in sys.modules])")
    assert loaded.strip() == "[]"


def test_import_alone_loads_nothing_beside_the_standard_library():
    """What a name needs is loaded with the name: a command that only shows its help does not wait for pandas."""
    names = ("numpy", "pandas", "scipy", "sklearn", "joblib", "narwhals", "sev.core", "sev.explainers", "sev._native")
    loaded = run(f"import sys, sev; print([name for name in {names!r} if name in sys.modules])")
    assert loaded.strip() == "[]"


def test_the_explainer_loads_nothing_that_only_some_calls_need():
    names = (*HEAVY, "sklearn.pipeline", "sklearn.preprocessing", "rich", "skops", "yaml", "jinja2")
    ours = (
        "sev.files._explainers",
        "sev.files._skops",
        "sev.training",
        "sev.comparison",
        "sev.datasets",
        "sev.reports",
    )
    code = f"import sys, sev; sev.Explainer; print([name for name in {names + ours!r} if name in sys.modules])"
    assert run(code).strip() == "[]"


def test_names_that_are_loaded_when_they_are_used_are_those_of_their_packages():
    code = """
import pickle, sev
from sev import Actions, Explainer, Labels, Status, __version__, between, references
print(sev.Explainer is Explainer, sev.references is references, sev.Status is pickle.loads(pickle.dumps(Status)))
from sev.explainers import Explainer as same
print(Explainer is same, sorted(sev.__all__) == dir(sev), hasattr(sev, "no_such_name"), __version__ == sev.__version__)
"""
    assert run(code).split() == ["True", "True", "True", "True", "True", "False", "True"]


def test_import_reads_no_language_and_no_data_sets():
    loaded = run("import sys, sev; print([name for name in ('yaml', 'sev.datasets') if name in sys.modules])")
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


def test_subpackages_are_reached_from_the_package():
    # not by plain attributes: an import inside one subpackage sets those of others
    code = f"import sev, sys; print(*(sev.__getattr__(n) is sys.modules['sev.' + n] for n in {SUBPACKAGES!r}))"
    assert set(run(code).split()) == {"True"}


def test_subpackages_are_reached_without_optional_packages():
    code = f"""
import importlib.abc, sys
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {HEAVY!r}:
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Missing())
import sev
for name in {SUBPACKAGES!r}:
    print(getattr(sev, name).__name__)
"""
    assert run(code).split() == [f"sev.{name}" for name in SUBPACKAGES]


def test_a_subpackage_that_needs_a_missing_package_names_the_extra():
    code = """
import importlib, sys
for name, hidden in [("app", "fastapi"), ("batch", "pyarrow"), ("training.losses", "torch"), ("app", "ipaddress")]:
    kept = {one: sys.modules.pop(one) for one in list(sys.modules) if one.partition(".")[0] == hidden}
    sys.modules[hidden] = None
    try:
        importlib.import_module(f"sev.{name}")
    except ImportError as error:
        print(type(error).__name__, error, sep=": ")
    del sys.modules[hidden]
    sys.modules.update(kept)
"""
    page, files, losses, broken = run(code).splitlines()
    assert page == "MissingDependencyError: The page needs fastapi: pip install 'sev[app]'"
    assert files == "MissingDependencyError: Explaining files needs pyarrow: pip install 'sev[batch]'"
    assert losses == "MissingDependencyError: sev.losses needs torch: pip install 'sev[train]'"
    assert broken.startswith("ModuleNotFoundError: import of ipaddress")


def test_no_public_subpackage_is_forgotten():
    """Either reachable from the package, or one that users start or never need."""
    found = run("import pkgutil, sev; print(*(one.name for one in pkgutil.iter_modules(sev.__path__)))").split()
    public = {name for name in found if not name.startswith("_")}
    assert public - set(SUBPACKAGES) <= {"cli", "demo"}


def test_dir_shows_public_names_only():
    shown, public = run("import sev; print(*dir(sev)); print(*sorted(sev.__all__))").splitlines()
    assert shown == public
    assert not [name for name in shown.split() if name.startswith("_") and name != "__version__"]


def test_a_name_that_is_not_there_is_an_attribute_error():
    assert run("import sev; print(hasattr(sev, 'reason'), hasattr(sev, '_LATER_'))").split() == ["False", "False"]
