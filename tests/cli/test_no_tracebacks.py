"""Whatever a user names, a command ends with one line that tells what is wrong; ``--debug`` shows where."""

import itertools
import random

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from click.testing import CliRunner
from files import loans
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression

from sev.cli import main

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Good files, and one of each kind of bad ones for each ending."""
    path = tmp_path_factory.mktemp("bad")
    rows = loans.rows()
    skops.io.dump(loans.pipeline(), path / "good.skops")
    rows.assign(decision=loans.labels(rows)).to_csv(path / "good.csv", index=False)
    loans.explainer().save(path / "good.sev")
    text = (path / "good.csv").read_text("utf-8")
    noise = random.Random(0).randbytes(5000)
    (path / "folder").mkdir()
    for ending in ("csv", "jsonl", "parquet", "sev", "skops", "txt", "json", "ubj", "cbm", "pkl", "yaml"):
        (path / f"noise.{ending}").write_bytes(noise)
        (path / f"empty.{ending}").write_bytes(b"")
        (path / f"folder.{ending}").mkdir()
        (path / f"zeros.{ending}").write_bytes(bytes(2000))
        (path / f"table.{ending}").write_text(text, encoding="utf-8")
    (path / "cut.sev").write_bytes((path / "good.sev").read_bytes()[:900])
    (path / "cut.skops").write_bytes((path / "good.skops").read_bytes()[:900])
    (path / "utf16.csv").write_text(text, encoding="utf-16")
    (path / "latin.csv").write_text(text.replace("own", "Käufer"), encoding="latin-1")
    (path / "header.csv").write_text(text.partition("\n")[0] + "\n", encoding="utf-8")
    (path / "ragged.csv").write_text(text + "1,2\n", encoding="utf-8")
    (path / "twice.csv").write_text(text.replace("income", "age", 1), encoding="utf-8")
    (path / "semicolons.csv").write_text(text.replace(",", ";"), encoding="utf-8")
    (path / "other.csv").write_text("a,b,decision\n1,2,refused\n", encoding="utf-8")
    (path / "list.yaml").write_text("- 1\n- 2\n", encoding="utf-8")
    (path / "broken.yaml").write_text("a: [1,\nb: }", encoding="utf-8")
    (path / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    for name, content in BAD_ACTIONS.items():
        (path / f"{name}.yaml").write_text(content, encoding="utf-8")
    numbers = rows[["age", "income"]].fillna(0)
    skops.io.dump(LinearRegression().fit(numbers, numbers["age"]), path / "regression.skops")
    skops.io.dump(KMeans(2, n_init=1).fit(numbers), path / "clusters.skops")
    skops.io.dump(LogisticRegression(), path / "unfitted.skops")
    skops.io.dump(LogisticRegression().fit(np.eye(3), [0, 1, 2]), path / "arrays.skops")
    joblib.dump({"a": 1}, path / "dictionary.pkl")
    joblib.dump(pd.DataFrame({"a": [1]}), path / "frame.pkl")
    return path


MODELS = ("good.skops", *(f"noise.{end}" for end in ("skops", "txt", "json", "ubj", "cbm", "pkl")))
MODELS += tuple(f"{kind}.{end}" for kind in ("empty", "folder", "zeros", "table") for end in ("skops", "txt", "ubj"))
MODELS += ("regression.skops", "clusters.skops", "unfitted.skops", "arrays.skops", "dictionary.pkl", "frame.pkl")
MODELS += ("cut.skops", "deep.json", "nothing.skops", "folder", "good.csv")
TABLES = ("good.csv", *(f"{kind}.csv" for kind in ("noise", "empty", "folder", "zeros", "utf16", "latin", "header")))
TABLES += ("ragged.csv", "twice.csv", "semicolons.csv", "other.csv", "nothing.csv", "folder", "good.sev")
TABLES += tuple(f"{kind}.{end}" for kind in ("noise", "empty", "zeros", "table") for end in ("parquet", "jsonl"))
EXPLAINERS = ("good.sev", "noise.sev", "empty.sev", "folder.sev", "zeros.sev", "table.sev", "cut.sev", "good.csv")
EXPLAINERS += ("nothing.sev", "good.skops")
MAPPINGS = ("noise.yaml", "empty.yaml", "folder.yaml", "zeros.yaml", "table.yaml", "list.yaml", "broken.yaml")
MAPPINGS += ("deep.json", "nothing.yaml", "good.csv")


#: Files of actions that are YAML, and wrong.
BAD_ACTIONS = {
    "unknown": "frozen: [nobody]",
    "entry": "forbidden: [age]",
    "names": "frozen: age",
    "direction": "increase: [home]",
    "bounds": "within: {income: {between: [9000, 9001]}}",
    "backwards": "within: {income: {between: [60, 40]}}",
    "shift": "within: {income: ['a lot', '+5']}",
    "category": "allowed: {home: [castle]}",
    "rule": "rules: ['age < ']",
    "call": "rules: ['__import__(1) < 2']",
    "cost": "costs: {age: -1}",
    "nan": "costs: {age: .nan}",
    "step": "steps: {age: 0}",
    "contradiction": "frozen: [age]\nincrease: [age]",
    "twice": "frozen: [age]\nfrozen: [home]",
    "deep": "a: " + "[" * 5000,
    "dates": "frozen: [2024-01-01]",
}


def commands():
    fit = ("fit", "--label", "decision", "-o", "out.sev", "--trust-pickle")
    for model in MODELS:
        yield *fit, "--model", model, "--data", "good.csv"
    for table in TABLES[1:]:
        yield "train", "--label", "decision", "-o", "out.skops", "--model", "good.skops", "--data", table, "-q"
    for table in TABLES:
        yield *fit, "--model", "good.skops", "--data", table
        yield "compare", "--label", "decision", "good.skops", "--data", table, "--max-rows", "3"
        yield "explain", "good.sev", table
        yield "explain", "good.sev", table, "-o", "explained.csv"
        yield "report", "good.sev", table, "-o", "out.html"
    for model in MODELS[1:]:
        yield "compare", "--label", "decision", model, "--data", "good.csv", "--trust-pickle"
        yield "train", "--label", "decision", "-o", "o.skops", "--model", model, "--data", "good.csv", "--trust-pickle"
    for explainer, (command, *more) in itertools.product(
        EXPLAINERS[1:],
        (
            ("explain",),
            ("explain", "-o", "explained.parquet"),
            ("report", "-o", "out.html"),
            ("reasons", "--codes", "good.yaml", "-o", "out"),
        ),
    ):
        yield command, explainer, "good.csv", *more
    for mapping in MAPPINGS:
        yield "reasons", "good.sev", "good.csv", "--codes", mapping, "-o", "out"
    for output in ("folder.csv", "nowhere/out.html", "good.csv/out.html"):
        yield "report", "good.sev", "good.csv", "-o", output
        yield "fit", "--label", "decision", "--model", "good.skops", "--data", "good.csv", "-o", output
        yield "reasons", "good.sev", "good.csv", "--codes", "noise.yaml", "-o", output
    for mapping in (*MAPPINGS, *(f"{name}.yaml" for name in BAD_ACTIONS)):
        yield *fit, "--model", "good.skops", "--data", "good.csv", "--actions", mapping
        yield "explain", "good.sev", "good.csv", "--actions", mapping
        yield "report", "good.sev", "good.csv", "-o", "out.html", "--actions", mapping
    for table in TABLES:
        yield "suggest-actions", table
        yield "alone", "good.sev", table
        yield "menu", "good.sev", table, "--row", "0", "--max-size", "1"
    for explainer in EXPLAINERS[1:]:
        yield "price", explainer, "good.csv", "--row", "0", "--locks", "age"
    yield "explain", "good.sev", "good.csv", "--values", "all"
    yield "explain", "good.sev", "good.csv", "--values", "any", "--kind", "plus"
    yield "explain", "good.sev", "good.csv", "--minimise", "cost"
    yield "explain", "good.sev", "good.csv", "--minimise", "cost", "--values", "any"
    yield "price", "good.sev", "good.csv", "--row", "0", "--locks", "nobody"
    yield "price", "good.sev", "good.csv", "--row", "0", "--locks", ","
    yield "menu", "good.sev", "good.csv", "--row", "-1"
    yield "menu", "good.sev", "good.csv", "--row", "0", "--id", "nothing"
    yield "menu", "good.sev", "good.csv", "--row", "own", "--id", "home"
    yield "suggest-actions", "good.csv", "--label", "nothing"
    yield "suggest-actions", "good.csv", "--drop", "nothing"
    yield "suggest-actions", "good.csv", "-o", "nowhere/actions.yaml"
    yield "suggest-actions", "good.csv", "-o", "folder"
    yield *fit, "--model", "good.skops", "--data", "good.csv", "--reference", "{nonsense"
    yield *fit, "--model", "good.skops", "--data", "good.csv", "--reference", '{"age": []}'
    yield *fit, "--model", "good.skops", "--data", "good.csv", "--reference", "modal"
    yield *fit, "--model", "good.skops", "--data", "good.csv", "--target", "perhaps"
    yield *fit, "--model", "good.skops", "--data", "good.csv", "--threshold", "7"
    yield *fit, "--model", "good.skops", "--data", "good.csv", "--numbers", "branch"
    yield "explain", "good.sev", "good.csv", "--keep", "nothing"
    yield "report", "good.sev", "good.csv", "-o", "out.html", "--id", "nothing"


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_no_command_shows_a_traceback(folder, monkeypatch, words):
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(main, list(words))
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert "Traceback" not in result.stderr
    assert result.exit_code in (0, 1, 2)
    if result.exit_code:
        last = result.stderr.strip().splitlines()[-1]
        assert "Error: " in result.stderr, result.stderr
        assert len(last) < 2000
    # an error of another library has its type before it: those that users can meet have messages of their own
    assert "--debug" not in result.stderr, result.stderr


def test_debug_shows_where(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for words in (["--debug", "explain", "noise.sev", "good.csv"], ["explain", "noise.sev", "good.csv", "--debug"]):
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 1
        assert "Traceback (most recent call last)" in result.stderr
        assert result.stderr.splitlines()[-1].startswith("Error: noise.sev: ")


def test_an_unexpected_error_has_its_type_and_a_remedy(folder, monkeypatch):
    import sev

    def fail(*given, **named):
        raise ValueError("a thing\nof another library")

    monkeypatch.chdir(folder)
    monkeypatch.setattr(sev, "load", fail)
    result = CliRunner().invoke(main, ["report", "good.sev", "good.csv", "-o", "out.html"])
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: ValueError: a thing of another library. Run the command again with --debug to see where.\n"
    )


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line(folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = ["fit", "--label", "decision", "--model", "good.skops", "--data", "good.csv", "-o", "black.sev", "-q"]
    model = loans.pipeline()
    model.steps.insert(0, ("same", _Mix()))
    joblib.dump(model, "black.pkl")
    words[4] = "black.pkl"
    result = CliRunner().invoke(main, [*words, "--trust-pickle"])
    assert result.exit_code == 0, result.stderr
    assert result.stderr.startswith("Warning: Pipeline is explained as a black box")
    assert len(result.stderr.splitlines()) == 1


class _Mix:
    """A step that no reader knows."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X.assign(income=X["income"] * X["age"])
