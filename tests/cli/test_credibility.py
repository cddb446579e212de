"""``--credibility``, ``--min-credibility`` and ``--order`` on the command line."""

import json

import numpy as np
import pandas as pd
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
    loans.rows().assign(decision=loans.labels(loans.rows())).to_csv(path / "train.csv", index=False)
    tables.applications(40).to_csv(path / "new.csv", index=False)
    fit(path, "-o", path / "loans.sev")
    return path


def run(*words, status=0):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == status, (result.output, result.stderr, result.exception)
    return result


def fit(folder, *more, status=0):
    data = ("--data", folder / "train.csv", "--label", "decision")
    return run("fit", "--model", folder / "model.skops", *data, *more, status=status)


def lines(folder, *more):
    printed = run("explain", folder / "loans.sev", folder / "new.csv", "--json", *more).stdout
    return [json.loads(line) for line in printed.splitlines()]


def rows_of(folder):
    return pd.read_csv(folder / "new.csv")


def test_credibility_is_written(folder, tmp_path):
    out = tmp_path / "out.csv"
    run("explain", folder / "loans.sev", folder / "new.csv", "-o", out, "--credibility")
    written = pd.read_csv(out)
    many = sev.load(folder / "loans.sev").explain(rows_of(folder))
    np.testing.assert_allclose(written["credibility"], many.credibilities)
    assert np.isfinite(many.credibilities).sum() > 3
    run("explain", folder / "loans.sev", folder / "new.csv", "-o", tmp_path / "plain.csv")
    assert "credibility" not in pd.read_csv(tmp_path / "plain.csv")


def test_only_credible_results(folder):
    least = 0.9
    many = sev.load(folder / "loans.sev").explain(rows_of(folder), min_credibility=least)
    written = lines(folder, "--min-credibility", str(least))
    assert [one["size"] for one in written] == [one.size for one in many]
    assert [one["status"] for one in written] == [str(one.status) for one in many]
    assert [one["size"] for one in written] != [one["size"] for one in lines(folder)]
    wrong = run("explain", folder / "loans.sev", folder / "new.csv", "--min-credibility", "1.5", status=2)
    assert "--min-credibility" in wrong.stderr


@pytest.mark.parametrize("order", ["closest", "credible", "margin"])
def test_the_order_of_sets(folder, order):
    many = sev.load(folder / "loans.sev").explain(rows_of(folder), order=order)
    written = [one["features"] or [] for one in lines(folder, "--order", order)]
    assert written == [list(one.features) for one in many]


def test_orders_differ_and_others_are_refused(folder):
    first = {order: [one["features"] for one in lines(folder, "--order", order)] for order in ("closest", "margin")}
    assert first["closest"] != first["margin"]
    wrong = run("explain", folder / "loans.sev", folder / "new.csv", "--order", "nearest", status=2)
    assert "--order" in wrong.stderr


def test_an_explainer_without_credibility_says_so(folder, tmp_path):
    fit(folder, "--credibility", "none", "-o", tmp_path / "none.sev")
    refused = run("explain", tmp_path / "none.sev", folder / "new.csv", "--min-credibility", "0.2", status=2)
    assert "--credibility none" in refused.stderr
