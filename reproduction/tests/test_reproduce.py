"""A small run from the first task to the page, on the bundled data."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from sev.cli import main

from sev_reproduction import Plan, _registry, reproduce
from sev_reproduction._task import Store, Task

SMALL = Plan.of(
    quick=True, data=("german",), splits=(0,), max_train_rows=300, max_test_rows=40, max_network_rows=15, max_queries=3
)


def test_a_run_stops_and_goes_on(tmp_path, monkeypatch):
    from sev_reproduction import models

    ran = []
    whole = models.run

    def run(task, plan):
        ran.append(task.variant)
        if len(ran) == 2:
            raise KeyboardInterrupt
        return whole(task, plan)

    monkeypatch.setattr(models, "run", run)
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, SMALL, only=["table1"])
    assert "not run" in (tmp_path / "reproduction.md").read_text()
    said = []
    found = reproduce(tmp_path, SMALL, only=["table1"], say=said.append)
    assert ran == ["l2", "l1", "l1", "mlp", "gbdt"]
    assert (found.done, found.failed, found.left) == (4, 0, 0)
    assert said[0].startswith("1 of 4 tasks are done; the other 3 will take about")
    reproduce(tmp_path, SMALL, only=["table1"])
    assert len(ran) == 5
    page = found.markdown.read_text()
    assert "| L2 LR | accuracy | 0.73 ± 0.03 |" in page
    assert "<table>" in found.html.read_text()


def test_a_task_that_fails_does_not_end_the_others(tmp_path, monkeypatch):
    from sev_reproduction import models

    def run(task, plan):
        raise ValueError("no luck")

    monkeypatch.setattr(models, "run", run)
    said = []
    found = reproduce(tmp_path, SMALL, only=["table1"], say=said.append)
    assert (found.done, found.failed, found.left) == (0, 4, 4)
    assert sum("ValueError: no luck" in line for line in said) == 4


def test_every_section_shows_an_empty_folder(tmp_path):
    found = reproduce(tmp_path, SMALL, page_only=True)
    page = found.markdown.read_text()
    for module in _registry.chosen():
        assert f"## {module.TITLE}" in page


def test_restriction(tmp_path):
    pytest.importorskip("torch")
    found = reproduce(tmp_path, SMALL, only=["restricted"])
    assert (found.done, found.failed, found.left) == (3, 0, 0)
    after = json.loads((tmp_path / "restricted" / "german-after-0.json").read_text())["result"]
    assert not set(after["restricted_features"]) & {"age", "job", "personal_status_sex"}
    assert "| German Credit | after | accuracy | 0.76 |" in found.markdown.read_text()


def test_causes(tmp_path):
    from sev_reproduction import causes

    assert Task("causes", "german", 0, "l2_splits") in causes.tasks(SMALL)
    tasks = [task for task in causes.tasks(SMALL) if task.variant.startswith(("l2", "gbdt_"))]
    assert [task.variant for task in tasks] == ["l2", "l2_code", "gbdt_code", "gbdt_random", "l2_splits"]
    for task in (*tasks, Task("models", "german", 0, "l2"), Task("models", "german", 0, "gbdt")):
        Store(tmp_path, SMALL).write(task, _registry.runner(task.experiment).run(task, SMALL), 1.0)
    page = reproduce(tmp_path, SMALL, only=["causes"], page_only=True).markdown.read_text()
    assert page.count("misplaced reference") >= 6
    assert "| L2 LR | the paper prints | 0.79 |" in page
    assert "|  | the authors' code, median |" in page
    assert "|  | random tree weights |" in page
    assert "Means of ten splits lie between" in page
    assert "| German Credit | L2 LR | 1.00 | 1.75 |" in page


def test_command(tmp_path):
    runner = CliRunner()
    done = runner.invoke(main, ["reproduce", "--quick", "--page-only", "--json", "-o", str(tmp_path)])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["tasks done"] == 0
    assert runner.invoke(main, ["reproduce", "--only", "table99", "-o", str(tmp_path)]).exit_code == 2
    assert runner.invoke(main, ["reproduce", "--splits", "x", "-o", str(tmp_path)]).exit_code == 2


def test_recorded_tables(tmp_path):
    recorded = Path(__file__).parents[1] / "results.json"
    done = CliRunner().invoke(main, ["reproduce", "--recorded", str(recorded), "--json", "-o", str(tmp_path)])
    assert done.exit_code == 0, done.output
    page = Path(json.loads(done.stdout)["markdown"]).read_text()
    assert "| German Credit | GBDT | SEV+ | 1.10 | 2.200 | no |" in page
    assert "## Appendix C.1" in page
    assert "## Figure 2" not in page
    assert "Left out, because they show single queries: Figure 2" in page
    assert (tmp_path / "results.json").read_text() == recorded.read_text()


@pytest.mark.skipif(not os.environ.get("SEV_QUICK_RUN"), reason="minutes long: make test-experiments runs it")
def test_quick_run(tmp_path):
    data = None if os.environ.get("SEV_DATA_HOME") else ("german",)
    folder = os.environ.get("SEV_QUICK_FOLDER") or tmp_path
    said = []
    found = reproduce(folder, Plan.of(quick=True, data=data), n_jobs=2, say=said.append)
    assert found.failed == 0, [line for line in said if "failed" in line]
    assert found.left == 0
    assert found.done >= 50
