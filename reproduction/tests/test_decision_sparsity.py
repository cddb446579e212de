"""The follow-up: its measurements against definitions on small data, and a run from the first task to the page."""

import json
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sev.cli import main
from sev.exceptions import InputError

from sev_reproduction._task import Results, Store
from sev_reproduction.decision_sparsity import _tables, follow_up_plan, published, reproduce_follow_up, tree, variants
from sev_reproduction.decision_sparsity._answers import closest, figures
from sev_reproduction.decision_sparsity._setting import Setting

SMALL = follow_up_plan(
    quick=True, data=("german",), splits=(0,), max_train_rows=300, max_test_rows=60, max_network_rows=12, max_queries=3
)


@pytest.fixture(scope="module")
def gbdt():
    return Setting("german", 0, "gbdt", SMALL)


def test_the_published_search_tries_the_second_reference_from_two_features_on():
    first = np.array([1.0, 3.0, 3.0, np.nan, np.nan, 2.0])
    second = np.array([1.0, 1.0, 4.0, 1.0, np.nan, 1.0])
    np.testing.assert_array_equal(published.published_sizes(first, second), [1, 2, 3, 2, np.nan, 2])


def test_the_second_reference_moves_numbers_within_their_band(gbdt):
    reference = gbdt.explainer("mean").reference
    second = published.second_reference(gbdt, reference)
    texts = [name for name in reference.columns if name not in gbdt.numbers]
    pd.testing.assert_frame_equal(second[texts], reference[texts])
    moved = [name for name in gbdt.numbers if second[name].iloc[0] != reference[name].iloc[0]]
    assert moved
    for name in moved:
        known = gbdt.negatives[name]
        low, high = (float((known < second[name].iloc[0]).mean()), float((known <= second[name].iloc[0]).mean()))
        position = float((known < reference[name].iloc[0]).mean())
        assert low - 0.11 <= position <= high + 0.11
        one = reference.astype(dict.fromkeys(gbdt.numbers, float)).copy()
        one[name] = second[name]
        assert gbdt.scores(one)[0] <= gbdt.scores(reference)[0] + 0.05


def test_crossings_hold_every_set_that_changes_the_decision(gbdt):
    reference = gbdt.explainer("mean").reference.iloc[0]
    query = gbdt.rows.iloc[0]
    found = published.Crossings.of(gbdt, query, reference)
    assert (np.diff(found.sizes) >= 0).all()
    [one] = gbdt.explainer("mean").explain(gbdt.rows.iloc[[0]])
    assert found.sizes[0] == one.size
    assert (found.sizes == one.size).sum() == len(one.sets)
    assert found.first_above(np.inf) == (one.size, False)
    size, is_credible = found.first_above(float(np.median(found.likelihoods)))
    assert is_credible
    assert size >= one.size


def test_the_closest_of_all_minimum_sets_counts(gbdt):
    many = gbdt.explainer("mean").explain(gbdt.rows)
    several = next(one for one in many if len(one.sets) > 1)
    far = []
    for features in several.sets:
        row = several.query.astype(object)
        row[list(features)] = several.reference[list(features)]
        far.append(gbdt.largest_change(several.query, row))
    assert gbdt.largest_change(several.query, closest(gbdt, several)) == min(far)
    found = figures(gbdt, many.sizes, [closest(gbdt, one) for one in many], 1.0)
    assert found["queries"] == len(gbdt.rows)
    assert found["size"] == pytest.approx(many.mean_size())


def test_a_category_counts_one_and_a_number_its_standard_deviations(gbdt):
    row = gbdt.rows.iloc[0].astype(object)
    other = row.copy()
    assert gbdt.largest_change(row, other) == 0.0
    other["housing"] = "something else"
    assert gbdt.largest_change(row, other) == 1.0
    other["duration"] = row["duration"] + 3 * gbdt.spread["duration"]
    assert gbdt.largest_change(row, other) == pytest.approx(3.0)


def test_conditions_on_paths_by_enumeration():
    on = Setting("german", 0, "tree", SMALL)
    conditions, features = tree.count_on_paths(on)
    assert (conditions >= features).all()
    assert (features >= 1).all()
    # the exact answer may use any values of the background: never more features than the best path
    exact = on.explainer("mean").explain(on.rows, values="any").sizes
    assert (exact[~np.isnan(exact)] <= features[~np.isnan(exact)]).all()
    names = tree.feature_of_columns(on)
    assert len(names) == on.model[:-1].transform(on.rows).shape[1]
    assert set(names) == set(on.X_train.columns)


def test_a_small_run_has_every_measurement_and_goes_on(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    light = ["variants", "published", "tree"]
    whole = variants.run
    ran = []

    def run(task, plan):
        ran.append(task.variant)
        if len(ran) == 2:
            raise KeyboardInterrupt
        return whole(task, plan)

    monkeypatch.setattr(variants, "run", run)
    with pytest.raises(KeyboardInterrupt):
        reproduce_follow_up(tmp_path, SMALL, only=light)
    said = []
    found = reproduce_follow_up(tmp_path, SMALL, only=light, say=said.append)
    assert (found.done, found.failed, found.left) == (7, 0, 0)
    assert len(ran) == 5
    found = reproduce_follow_up(tmp_path, SMALL)
    assert (found.done, found.failed, found.left) == (15, 0, 0)
    page = found.markdown.read_text()
    for heading in ("What holds", "The published way", "Single trees", "Others on the same queries", "Models trained"):
        assert f"## {heading}" in page
    assert "nan" not in (tmp_path / "summary.md").read_text()
    assert "**Credibility**" in page
    assert "theirs" in page
    results = Results(Store(tmp_path, SMALL).all_done())
    without, limited = (
        [_tables.mean(results, experiment, "german", "gbdt", "one", "size")] for experiment in ("variants", "credible")
    )
    assert limited[0] >= without[0]
    assert _tables.mean(results, "training", "german", "lr", "clusters", "SEV, clusters") >= 1.0


def test_command(tmp_path):
    runner = CliRunner()
    options = ["reproduce", "decision-sparsity", "--quick", "--page-only", "--json", "-o", str(tmp_path)]
    done = runner.invoke(main, options)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["tasks done"] == 0
    assert "Nothing is measured yet" in Path(json.loads(done.stdout)["markdown"]).read_text()
    wrong = ["reproduce", "decision-sparsity", "--only", "table1", "-o", str(tmp_path / "other")]
    assert runner.invoke(main, wrong).exit_code == 2
    with pytest.raises(InputError, match="There is no measurement"):
        reproduce_follow_up(tmp_path / "third", SMALL, only=["table1"])


def test_the_page_of_the_documentation_is_that_of_the_recorded_results(monkeypatch):
    root = Path(__file__).parents[2]
    monkeypatch.syspath_prepend(root / "docs" / "pages")  # as where the script is run
    found = runpy.run_path(str(root / "docs" / "pages" / "decision_sparsity.py"))
    assert found["page"]() == (root / "docs" / "decision_sparsity.md").read_text(encoding="utf-8")
