"""``--actions`` on the command line."""

import json

import numpy as np
import pytest
import skops.io
from batch import tables
from click.testing import CliRunner
from files import loans

import sev
from sev.cli import main

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli")
    skops.io.dump(loans.pipeline(), path / "model.skops")
    train = loans.rows().assign(decision=loans.labels(loans.rows()))
    train.to_csv(path / "train.csv", index=False)
    tables.applications(40).to_csv(path / "new.csv", index=False)
    frozen = next(name for name in loans.rows().columns if loans.rows()[name].dtype.kind in "fi")
    sev.Actions(frozen=[frozen]).to_yaml(path / "actions.yaml")
    (path / "wrong.yaml").write_text("frozen: [nobody]\n")
    return path


def run(*words, status=0):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == status, (result.output, result.stderr, result.exception)
    return result


def fit(folder, *more, status=0):
    return run(
        *("fit", "--model", folder / "model.skops", "--data", folder / "train.csv", "--label", "decision"), *more,
        status=status,
    )  # fmt: skip


def test_fit_and_explain_take_a_file_of_actions(folder, tmp_path):
    [frozen] = sev.Actions.from_yaml(folder / "actions.yaml").frozen
    made = json.loads(fit(folder, "--actions", folder / "actions.yaml", "-o", tmp_path / "a.sev", "--json").stdout)
    assert made["actions"] == {"frozen": [frozen]}
    assert sev.load(tmp_path / "a.sev").actions == sev.Actions(frozen=[frozen])
    fit(folder, "-o", tmp_path / "plain.sev")
    assert sev.load(tmp_path / "plain.sev").actions is None
    expected = run("explain", tmp_path / "a.sev", folder / "new.csv", "--json").stdout
    later = run("explain", tmp_path / "plain.sev", folder / "new.csv", "--json", "--actions", folder / "actions.yaml")
    assert later.stdout == expected
    assert expected != run("explain", tmp_path / "plain.sev", folder / "new.csv", "--json").stdout
    out = tmp_path / "out.jsonl"
    run("explain", tmp_path / "plain.sev", folder / "new.csv", "-o", out, "--actions", folder / "actions.yaml")
    keys = ("status", "size", "features")
    written = [[json.loads(line)[key] for key in keys] for line in out.read_text().splitlines()]
    assert written == [[json.loads(line)[key] for key in keys] for line in expected.splitlines()]
    assert np.count_nonzero([line[1] for line in written if line[1]]) > 3


def test_wrong_files_are_refused(folder, tmp_path):
    wrong = fit(folder, "--actions", folder / "wrong.yaml", "-o", tmp_path / "b.sev", status=2)
    assert "frozen names 'nobody', which is not a feature" in wrong.stderr
    missing = fit(folder, "--actions", tmp_path / "no.yaml", "-o", tmp_path / "b.sev", status=2)
    assert "cannot be read" in missing.stderr
