"""The commands, through click's runner."""

import json

import numpy as np
import pandas as pd
import pytest
import skops.io
from batch import tables
from click.testing import CliRunner
from files import loans

from sev.cli import main

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli")
    skops.io.dump(loans.pipeline(), path / "model.skops")
    train = loans.rows().assign(number=np.arange(300), decision=loans.labels(loans.rows()))
    train.to_csv(path / "train.csv", index=False)
    tables.applications(40).to_csv(path / "new.csv", index=False)
    run(
        "fit",
        "--model",
        path / "model.skops",
        "--data",
        path / "train.csv",
        "--label",
        "decision",
        "-o",
        path / "one.sev",
    )
    return path


def run(*words, status=0, **options):
    result = CliRunner().invoke(main, [str(word) for word in words], **options)
    assert result.exit_code == status, (result.output, result.stderr, result.exception)
    return result


def lines(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_every_command_has_help_with_an_example():
    listed = run("--help").output
    for name in main.list_commands(None):
        assert name in listed
        text = run(name, "--help").output
        assert "Example" in text
        assert f"sev {name}" in text


def test_fit_tells_what_it_made(folder):
    result = run(
        *("fit", "--model", folder / "model.skops", "--data", folder / "train.csv", "--label", "decision"),
        *("--restricted", "age", "--reference", "median", "--target", "granted", "-o", folder / "two.sev", "--json"),
    )
    [told] = lines(result)
    assert told["features"] == ["age", "income", "branch", "home"]
    assert told["restricted"] == ["age"]
    assert told["target"] == "granted"
    assert told["reference"]["branch"] in ("007", "01", "x")
    assert "read Pipeline and 300 rows" in result.stderr


def test_explain_writes_rows_to_standard_output(folder):
    found = pd.read_csv(pd.io.common.StringIO(run("explain", folder / "one.sev", folder / "new.csv").stdout))
    assert len(found) == 40
    assert found["number"].tolist() == list(range(40))
    by_pipe = run("explain", folder / "one.sev", "-", "--json", input=(folder / "new.csv").read_bytes())
    assert [row["status"] for row in lines(by_pipe)] == found["status"].tolist()
    assert [row["number"] for row in lines(by_pipe)][7] == "00007"


def test_explain_writes_files_and_counts(folder):
    [told] = lines(
        run(
            "explain",
            folder / "one.sev",
            folder / "new.csv",
            "-o",
            folder / "out.parquet",
            "--kind",
            "plus",
            "--json",
            "-q",
        )
    )
    assert told["rows"] == 40 == sum(told["statuses"].values())
    assert len(pd.read_parquet(folder / "out.parquet")) == 40
    result = run("explain", folder / "one.sev", folder / "new.csv", "-o", folder / "parts")
    assert "rows" in result.stdout
    assert "explained 40 rows" in result.stderr
    again = run("explain", folder / "one.sev", folder / "new.csv", "-o", folder / "parts", "--max-size", "1", status=1)
    assert "Error:" in again.stderr
    assert "differs in max_size" in again.stderr
    assert not again.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["explain", "one.sev", "nothing.csv"], "does not exist"),
        (["explain", "one.sev", "new.csv", "--kind", "both"], "Invalid value"),
        (["explain", "one.sev", "new.csv", "--jobs", "2"], "needs an output"),
        (["explain", "one.sev", "new.csv", "--restricted", "agee"], "did you mean 'age'"),
        (["explain", "nothing.sev", "new.csv"], "does not exist"),
        (["fit", "--model", "model.skops", "--data", "train.csv", "--label", "nothing", "-o", "x.sev"], "no column"),
        (["fit", "--model", "model.skops", "--data", "new.csv", "--label", "age", "-o", "x.sev"], "no classes of"),
        (
            [
                "fit",
                "--model",
                "model.skops",
                "--data",
                "train.csv",
                "--label",
                "decision",
                "--group",
                "x",
                "-o",
                "x.sev",
            ],
            "name=a,b",
        ),
        (["nothing"], "No such command"),
    ],
)
def test_wrong_use_is_status_2(folder, monkeypatch, words, message):
    monkeypatch.chdir(folder)
    result = run(*words, status=2)
    assert message in result.stderr
    assert not result.stdout


def test_damaged_explainers_are_refused(folder):
    (folder / "bad.sev").write_bytes((folder / "one.sev").read_bytes()[:-3])
    result = run("explain", folder / "bad.sev", folder / "new.csv", status=1)
    assert "seal is missing" in result.stderr


def test_pickles_need_trust(folder):
    import joblib

    joblib.dump(loans.pipeline(), folder / "model.pkl")
    words = ("fit", "--model", folder / "model.pkl", "--data", folder / "train.csv", "--label", "decision", "-o")
    assert "--trust-pickle" in run(*words, folder / "p.sev", status=1).stderr
    run(*words, folder / "p.sev", "--trust-pickle")


def test_reasons_and_report(folder):
    codes = {name: {"code": f"R{number}", "text": name} for number, name in enumerate(loans.NUMBERS + loans.TEXTS)}
    (folder / "codes.json").write_text(json.dumps(codes), encoding="utf-8")
    words = ("reasons", folder / "one.sev", folder / "new.csv", "--codes", folder / "codes.json", "--id", "number")
    run(*words, "-o", folder / "notices")
    wide = pd.read_csv(folder / "notices" / "reasons_wide.csv")
    assert len(wide) == 40
    run("report", folder / "one.sev", folder / "new.csv", "--id", "number", "-o", folder / "report.html")
    assert "<html" in (folder / "report.html").read_text("utf-8")


def test_completion_is_offered():
    result = CliRunner().invoke(main, [], prog_name="sev", env={"_SEV_COMPLETE": "bash_source"})
    assert "_SEV_COMPLETE=bash_complete" in result.output
    words = {"_SEV_COMPLETE": "bash_complete", "COMP_WORDS": "sev ex", "COMP_CWORD": "1"}
    assert "explain" in CliRunner().invoke(main, [], prog_name="sev", env=words).output
