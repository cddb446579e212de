"""The commands, through click's runner."""

import json
from functools import partial

import click
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
        command = main.get_command(None, name)
        assert [one.opts for one in command.params if isinstance(one, click.Option) and not one.help] == []


def test_fit_tells_what_it_made(folder):
    result = run(
        *("fit", "--model", folder / "model.skops", "--data", folder / "train.csv", "--label", "decision"),
        *("--restricted", "age", "--reference", "median", "--target", "granted", "-o", folder / "two.sev", "--json"),
    )
    [told] = lines(result)
    assert told["features"] == ["age", "income", "branch", "home"]
    assert told["restricted"] == ["age"]
    assert told["target"] == "granted"
    assert told["reference_rows"] == 1
    assert told["reference"]["branch"] in ("007", "01", "x")
    assert "read Pipeline and 300 rows" in result.stderr


def test_fit_tells_that_there_are_several_reference_rows(folder):
    words = ("fit", "--model", folder / "model.skops", "--data", folder / "train.csv", "--label", "decision")
    result = run(*words, "--reference", "clusters:3", "-o", folder / "three.sev")
    told = dict(line.split("  ", 1) for line in result.stdout.splitlines())
    assert told["compared with"].strip() == "nearest of 3 typical rows"
    assert told["reference rows"].strip() == "3"
    assert "branch" in told["first of them"]
    assert "reference" not in told
    assert told["actions"].strip() == "none"


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
        (["fit", "--model", "no.skops", "--data", "train.csv", "--label", "decision", "-o", "x.sev"], "does not exist"),
        (["fit", "--model", "model.skops", "--data", "train.csv", "--label", "nothing", "-o", "x.sev"], "no column"),
        (
            ["fit", "--model", "model.skops", "--data", "train.csv", "--label", "decison", "-o", "x.sev"],
            "for --label; did you mean 'decision'? It has ['age', 'income', 'branch', 'home', 'number', 'decision'].",
        ),
        (["fit", "--model", "model.skops", "--data", "new.csv", "--label", "age", "-o", "x.sev"], "not classes of"),
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
    assert "bad.sev: The file is truncated" in result.stderr
    result = run("explain", folder / "bad.sev", folder / "new.csv", "-o", folder / "bad.csv", status=1)
    assert "bad.sev: The file is truncated" in result.stderr


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


TRAINING = ("--data", "train.csv", "--label", "decision", "--text", "branch")


def test_train_writes_a_model_that_compare_takes(folder, monkeypatch):
    pytest.importorskip("torch")
    import sev

    monkeypatch.chdir(folder)
    # one penalty of those that users wait for, and it is accepted
    monkeypatch.setattr(sev, "optimize", partial(sev.optimize, penalties=[0.3], max_rate_change=1.0))
    pd.read_csv("train.csv", dtype=str).head(60).to_csv("few.csv", index=False)
    words = (
        "train",
        "--model",
        "model.skops",
        "--data",
        "few.csv",
        *TRAINING[2:],
        "--max-accuracy-loss",
        "1",
        "--json",
    )
    [told] = lines(run(*words, "-o", "better.skops"))
    assert told["output"] == "better.skops"
    assert told["model"] == "Pipeline"
    assert told["record"]
    result = run("compare", "model.skops", "better.skops", *TRAINING, "--max-rows", "50", "--json", "-q")
    assert [row["name"] for row in lines(result)] == ["model", "better"]
    assert all(0.5 < row["accuracy"] <= 1 for row in lines(result))


def test_train_passes_on_what_it_was_told(folder, monkeypatch):
    import sev

    asked = []
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sev, "optimize", lambda model, *rows, **told: (asked.append(told), (model, "record"))[1])
    words = ("train", "--model", "model.skops", *TRAINING, "--objective", "plus", "-o")
    run(*words, "same.skops", "--seed", "3", "--restricted", "age")
    assert asked[0].items() >= {"random_state": 3, "objective": "plus", "restricted": ("age",)}.items()
    run(*words, "same.skops")
    assert asked[1]["random_state"] == 0
    assert "endings .skops" in run(*words, "better.cbm", status=2).stderr


def test_compare_shows_models_of_one_name_apart(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "after").mkdir()
    (folder / "after" / "model.skops").write_bytes((folder / "model.skops").read_bytes())
    shown = run("compare", "model.skops", "after/model.skops", *TRAINING, "--max-rows", "20").stdout
    assert [line.split()[0] for line in shown.splitlines()[2:]] == ["model.skops", "after/model.skops"]


def test_demo_shows_refusals():
    shown = run("demo").stdout
    assert "Refused" in shown
    assert "it would have been approved" in shown


def test_cells_that_a_spreadsheet_would_run_are_escaped_unless_raw(folder):
    rows = tables.applications(5).assign(note=["=cmd|' /C calc'!A0", "-5", "a", "b", "c"], **{"@who": "\ufeff+1"})
    rows.to_csv(folder / "hostile.csv", index=False)
    for words in (("-",), ("-o", folder / "hostile_out.csv"), ("-o", folder / "hostile_out.tsv")):
        for raw in ((), ("--raw",)):
            words = () if words == ("-",) else words
            result = run("explain", folder / "one.sev", folder / "hostile.csv", *words, *raw)
            text = words[1].read_text("utf-8") if words else result.stdout
            found = pd.read_csv(pd.io.common.StringIO(text), sep=None, engine="python")
            assert found["note"].tolist()[:2] == [f"{'' if raw else chr(39)}=cmd|' /C calc'!A0", "-5"]
            assert found["@who" if raw else "'@who"][0] == ("\ufeff+1" if raw else "'\ufeff+1")
    by_json = lines(run("explain", folder / "one.sev", folder / "hostile.csv", "--json"))
    assert by_json[0]["note"] == "=cmd|' /C calc'!A0"


def test_files_go_to_standard_output_for_a_dash(folder):
    words = ("fit", "--model", folder / "model.skops", "--data", "-", "--label", "decision", "-o", "-")
    result = run(*words, input=(folder / "train.csv").read_bytes())
    assert result.stdout_bytes == (folder / "one.sev").read_bytes()
    assert "backend" in result.stderr
    result = run("report", folder / "one.sev", "-", "-o", "-", "-q", input=(folder / "new.csv").read_bytes())
    assert result.stdout.lstrip().startswith("<!")
    assert not (folder / "-").exists()


@pytest.mark.parametrize("output", [[], ["-o", "unread.csv"], ["-o", "unread_parts"]])
def test_rows_that_cannot_be_read_have_an_exit_status_of_their_own(folder, monkeypatch, output):
    monkeypatch.chdir(folder)
    rows = tables.applications(40).astype({"age": object})
    rows.loc[[3, 7], "age"] = "unknown"
    rows.to_csv("unread.in.csv", index=False)
    result = run("explain", "one.sev", "unread.in.csv", "--id", "number", *output, status=3)
    where = output[1] if output else "the results"
    assert f"2 rows were not explained because they could not be read or scored: in {where} the status is error" in (
        result.stderr
    )
    assert "column reason" in result.stderr
    rows.drop(index=3).to_csv("unread.in.csv", index=False)
    result = run("explain", "one.sev", "unread.in.csv", status=3)
    assert "1 row was not explained because it could" in result.stderr


def test_a_file_that_lacks_a_column_is_wrong_use(folder, monkeypatch):
    monkeypatch.chdir(folder)
    tables.applications(5).rename(columns={"income": "incom"}).to_csv("lacks.csv", index=False)
    result = run("explain", "one.sev", "new.csv", "lacks.csv", "-o", "lacks_out", status=2)
    assert "lacks.csv" in result.stderr
    assert "Did you mean 'incom' to be 'income'?" in result.stderr
    fitted = run(
        *("fit", "--model", "model.skops", "--data", "lacks.csv", "--label", "number", "-o", "no.sev"), status=2
    )
    assert "Did you mean 'incom' to be 'income'?" in fitted.stderr


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({5: "unknown"}, "age has 'unknown' in row 5. Correct the cells"),
        ({row: f"0{row}" for row in range(300)}, "if they are quantities: --numbers age."),
    ],
)
def test_columns_of_numbers_that_were_read_as_text_are_named(folder, tmp_path, cells, message):
    import lightgbm

    train = pd.read_csv(folder / "train.csv")[["age", "income", "decision"]]
    model = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1).fit(train[["age", "income"]], train["decision"])
    model.booster_.save_model(tmp_path / "m.txt")
    spoiled = train.astype({"age": object})
    for row, cell in cells.items():
        spoiled.loc[row, "age"] = cell
    spoiled.to_csv(tmp_path / "spoiled.csv", index=False)
    words = ("fit", "--model", tmp_path / "m.txt", "--data", tmp_path / "spoiled.csv", "--label", "decision")
    result = run(*words, "-o", tmp_path / "no.sev", status=2)
    assert message in result.stderr
    assert "--drop" not in result.stderr


@pytest.mark.parametrize("target", ["refusd", "np.int64(1)"])
def test_a_target_that_is_no_class_is_told_in_plain_words(folder, target):
    labels = pd.read_csv(folder / "train.csv")["decision"].unique()
    words = ("fit", "--model", folder / "model.skops", "--data", folder / "train.csv", "--label", "decision")
    message = run(*words, "--target", target, "-o", folder / "no.sev", status=2).stderr
    assert f"--target {target} is not a class of the model" in message
    for python in ("np.", "y_train", "target=", "dtype"):
        assert python not in message.partition("model")[2]
    assert all(str(one) in message for one in labels)


def test_rows_of_earlier_runs_do_not_count_as_speed(folder, monkeypatch):
    from sev.cli import _output

    clock = iter([0.0, 0.0, 10.0])
    monkeypatch.setattr(_output.time, "monotonic", lambda: next(clock))
    progress = _output.Progress(quiet=False)
    progress.start(1000, 500)
    progress.done += 100
    assert progress._describe_progress() == (
        "explained 100 rows (500 more were done by an earlier run), 10 rows/s, 60 % of 1,000, 40 s left"
    )


def test_completion_is_offered():
    result = CliRunner().invoke(main, [], prog_name="sev", env={"_SEV_COMPLETE": "bash_source"})
    assert "_SEV_COMPLETE=bash_complete" in result.output
    words = {"_SEV_COMPLETE": "bash_complete", "COMP_WORDS": "sev ex", "COMP_CWORD": "1"}
    assert "explain" in CliRunner().invoke(main, [], prog_name="sev", env=words).output
    for line in ("sev explain a.sev ne", "sev fit --model ne", "sev compare ne", "sev report a.sev ne"):
        words = {"_SEV_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
        assert CliRunner().invoke(main, [], prog_name="sev", env=words).output == "file,ne\n"
