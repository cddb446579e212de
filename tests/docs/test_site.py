"""The site: code on its pages runs, every public name is in the API, every page can be reached."""

import os
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

import sev

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: Pages whose code runs elsewhere, and where.
RUN_ELSEWHERE = {
    "command_line": "tests/users/test_analyst.py",
    "comparison": "docs/pages/gallery.py, with all the packages that it compares",
    "extending": "tests/docs/test_extending.py",
    "production": "tests/docs/test_production.py",
    "references": "tests/docs/test_references.py",
    "service": "tests/app",
}
NEEDS = {
    "boosters": "lightgbm", "engineer": "torch", "networks": "torch", "notebooks": "matplotlib", "start": "matplotlib",
    "training": "torch",
}  # fmt: skip

CLASSIFIER = """
import sev
from sklearn.tree import DecisionTreeClassifier

X, y = sev.datasets.load_german_credit(return_X_y=True)
X = X.select_dtypes("number")
X_train, X_test, y_train = X[:700], X[700:], y[:700]
model = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X_train, y_train)
"""
#: What a page takes for granted, such as "your fitted pipeline": it is run before the page's own code.
GIVEN = {
    "README": CLASSIFIER,
    "index": CLASSIFIER,
    "actions": """
import numpy as np, pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

rng = np.random.default_rng(0)
n = 400
X = pd.DataFrame({name: rng.integers(0, 40, n) * 100 for name in ("income", "savings", "debt", "amount", "limit")})
X["age"], X["duration"], X["phone"] = rng.integers(20, 70, n), rng.integers(6, 60, n), rng.integers(0, 9, n) * 1.0
X["late_30d"] = rng.integers(0, 4, n)
X["late_12m"] = X["late_30d"] + rng.integers(0, 4, n)
for name, values in {"sex": "fm", "purpose": ["car", "education", "tv"], "job": ["unskilled", "skilled"],
                     "student": ["yes", "no"]}.items():
    X[name] = pd.Categorical(rng.choice(list(values), n))
y = (X["debt"] + X["amount"] > X["income"] + X["savings"]).astype(int)
model = HistGradientBoostingClassifier(max_iter=8, categorical_features="from_dtype").fit(X, y)
X_train, y_train = X, y
refused = np.flatnonzero(model.predict(X))
X, row = X.iloc[refused[:3]], X.iloc[refused[0]]
""",
    "networks": CLASSIFIER
    + """
import torch
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

encoder = StandardScaler()
fitted_encoder = StandardScaler().fit(X_train)
torch.manual_seed(0)
module = torch.nn.Sequential(torch.nn.Linear(X.shape[1], 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
with torch.no_grad():
    module[2].bias -= 1.0
y_train = y_train.map({0: "repaid", 1: "defaulted"})
X_test = X_test[:20]
""",
}


def blocks_of(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.S)


SLOW = {"training"}  # tunes a pipeline three times
PAGES_WITH_CODE = [
    path for path in [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "howto").glob("*.md"))]
    if blocks_of(path)
]  # fmt: skip


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem in SLOW))
        for path in PAGES_WITH_CODE
        if path.stem not in RUN_ELSEWHERE
    ],
)
@pytest.mark.filterwarnings("ignore::sev.exceptions.SevWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_code_of_a_page_runs_and_prints_what_it_shows(path, tmp_path, monkeypatch, capsys):
    if path.stem in NEEDS:
        pytest.importorskip(NEEDS[path.stem], reason=f"{NEEDS[path.stem]} is not installed")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for block in [GIVEN.get(path.stem, ""), *blocks_of(path)]:
        exec(compile(block, path.name, "exec"), names)
    printed = " ".join(capsys.readouterr().out.split())
    for shown in re.findall(r"```text\n(.*?)```", path.read_text(encoding="utf-8"), re.S):
        assert " ".join(shown.split()) in printed


def test_pages_to_do_something_have_code():
    without = {path.stem for path in (DOCS / "howto").glob("*.md") if not blocks_of(path)}
    assert without == {"index"}


def documented():
    """Names that the API pages list: objects by name, and what their modules export, less what is left out."""
    found = set()
    for path in (DOCS / "api").glob("*.md"):
        for kind, name, options in re.findall(r"\.\. auto(\w+):: ([\w.]+)\n((?:   :.*\n)*)", path.read_text("utf-8")):
            found.add(name)
            if kind == "module" and ":members:" in options:
                left_out = re.findall(r"[\w.]+", (re.search(r":exclude-members:(.*)", options) or ["", ""])[1])
                module = import_module(name) if name != "sev.losses" else sev.losses
                found.update(f"{name}.{each}" for each in set(getattr(module, "__all__", ())) - set(left_out))
    return found


def test_every_public_name_is_in_the_api():
    missing = {name for name in sev.__all__ if f"sev.{name}" not in documented() and name != "__version__"}
    # these packages are described name by name
    assert missing <= {"explanations", "training"}, missing


@pytest.mark.parametrize("package", ["explanations", "training", "actions", "text", "reports", "comparison", "core"])
def test_every_name_of_a_package_is_in_the_api(package):
    module = import_module(f"sev.{package}")
    listed = {name.rpartition(".")[2] for name in documented()}
    assert set(module.__all__) - listed - {"__version__"} == set()


def test_every_page_is_in_a_table_of_contents():
    linked = set()
    pages = [path for path in DOCS.rglob("*.md") if not {"_build", "auto_examples"} & set(path.parts)]
    for page in pages:
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
            for line in tree.splitlines():
                if line and not line.startswith(":"):
                    linked.add((page.parent / f"{line}.md").resolve())
    assert {page for page in pages if page.resolve() not in linked} == {DOCS / "index.md"}


@pytest.fixture
def copies(monkeypatch):
    monkeypatch.syspath_prepend(os.fspath(DOCS / "_ext"))
    found = import_module("markdown_copies")
    monkeypatch.delitem(sys.modules, "markdown_copies")
    return found


def test_the_copies_for_machines_name_title_and_first_sentence(copies):
    page = "# A title\n\n![x](y.png)\n\n```python\ncode. Here.\n```\n\nOne: a sentence. Another.\n"
    assert copies.title_and_summary(page) == ("A title", "One: a sentence.")


@pytest.mark.parametrize("path", sorted((DOCS / "api").glob("*.md")), ids=lambda path: path.stem)
def test_the_copy_of_an_api_page_has_signatures_and_docstrings(copies, path):
    text = copies.page_as_markdown(DOCS, f"api/{path.stem}")
    assert "{eval-rst}" not in text
    assert path.stem != "exceptions" or "sev.exceptions.VerificationError" in text
    if path.stem == "explaining":
        assert "#### sev.Explainer.explain_one" in text
        assert "Look no further than this size." in text  # of the parameter max_size
        assert "#### sev.Explanation.changes\n" in text  # a property
        assert "_pair: Pair" not in text  # nobody makes an explanation


def test_the_copies_of_the_api_leave_out_what_python_says_about_its_own_types(copies):
    text = "".join(copies.page_as_markdown(DOCS, f"api/{path.stem}") for path in (DOCS / "api").glob("*.md"))
    for foreign in ("Convert a number or string to an integer", "new empty dictionary", "generic container"):
        assert foreign not in text


def test_the_copy_of_a_page_has_what_it_includes(copies):
    text = copies.page_as_markdown(DOCS, "architecture")
    assert "{include}" not in text
    assert "sev (the public names)" in text  # the picture in CONTRIBUTING.md
    assert "look-up from a model's class" not in text  # what follows it there


def test_the_copy_of_an_example_is_its_script(copies):
    text = copies.page_as_markdown(ROOT / "examples", "01_loan_refusals")
    assert text.startswith("# Why were these loans refused?\n")
    assert "```python\n" in text
    assert "sev.Explainer(" in text
