"""Batches resume, refuse what does not belong to them, and lose or repeat no row."""

import errno
import json
import os
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from batch import tables
from files import loans

import sev
from sev.batch import PartitionExplainer, _inputs, _writers, explain_files
from sev.exceptions import BatchError, FallbackWarning, InputError


@pytest.fixture
def source(tmp_path):
    return tables.write(tables.applications(), tmp_path / "in.parquet")


def manifest(folder):
    return json.loads((folder / "_manifest.json").read_text("utf-8"))


def test_the_manifest_tells_what_was_done(archive, source, tmp_path):
    result = explain_files(archive, source, tmp_path / "out", kind="plus")
    told = manifest(tmp_path / "out")
    assert told["finished"]["rows"] == result.rows == 250
    assert told["settings"]["kind"] == "plus"
    assert sum(told["finished"]["statuses"].values()) == 250
    assert len(told["explainer"]) == len(told["inputs"][0]["sha256"]) == 64


def test_a_second_run_does_nothing_twice(archive, source, tmp_path):
    explain_files(archive, source, tmp_path / "out")
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("part-*")}
    (tmp_path / "out" / "part-00000-000001.parquet").unlink()
    (tmp_path / "out" / ".part-00000-000001.parquet.1.tmp").write_bytes(b"half")
    result = explain_files(archive, source, tmp_path / "out")
    assert result.rows_before == 150
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("part-*")}
    assert [name for name in before if before[name] == after[name]] == sorted(before)[::2]
    assert not list((tmp_path / "out").glob(".*"))


def test_callbacks_tell_what_an_earlier_run_has_done(archive, source, tmp_path):
    explain_files(archive, source, tmp_path / "out")
    (tmp_path / "out" / "part-00000-000001.parquet").unlink()
    told = {"start": [], "part": [], "kept": []}
    explain_files(
        archive,
        source,
        tmp_path / "out",
        on_start=lambda total, done: told["start"].append((total, done)),
        on_part=told["part"].append,
        on_kept=told["kept"].append,
    )
    assert told == {"start": [(250, 150)], "part": [100], "kept": [100, 50]}


def marking_explainer(path, background, sign=1):
    with pytest.warns(FallbackWarning, match="no exact form"):
        return sev.Explainer(Marks(path, sign), background)


class Marks:
    """A model that leaves a mark wherever it is unpickled."""

    classes_ = np.array([0, 1])

    def __init__(self, mark, sign=1):
        self.mark, self.sign = mark, sign

    def predict_proba(self, rows):
        positive = (self.sign * rows["age"] > 0).to_numpy(dtype=float)
        return np.column_stack([1 - positive, positive])

    def __setstate__(self, state):
        self.__dict__.update(state)
        with open(self.mark, "a") as file:
            file.write("loaded\n")


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("planted", ["file", "link"])
def test_an_explainer_that_somebody_put_in_the_folder_is_never_loaded(tmp_path, n_jobs, planted):
    background = pd.DataFrame({"age": [-2, -1, 1, 2], "n": 0})
    mine, theirs = tmp_path / "mine.sev", tmp_path / "theirs.sev"
    marking_explainer(str(tmp_path / "mine.mark"), background).save(mine, allow_pickle=True)
    marking_explainer(str(tmp_path / "theirs.mark"), background, -1).save(theirs, allow_pickle=True)
    (tmp_path / "theirs.mark").unlink()  # saving reads back what it wrote
    source = tables.write(background, tmp_path / "in.parquet", 1)
    explain_files(mine, source, tmp_path / "out", trust_pickle=True)
    (tmp_path / "out" / "part-00000-000001.parquet").unlink()
    archive = tmp_path / "out" / "_explainer.sev"
    archive.unlink()
    if planted == "file":
        archive.write_bytes(theirs.read_bytes())
    else:
        archive.symlink_to(theirs)
    with pytest.raises(BatchError, match=r"_explainer\.sev"):
        explain_files(mine, source, tmp_path / "out", trust_pickle=True, n_jobs=n_jobs)
    assert not (tmp_path / "theirs.mark").exists()


def test_a_worker_compares_the_explainer_before_it_loads_it(tmp_path):
    """Somebody may change the file after this run has looked at it."""
    from sev.batch import _work

    background = pd.DataFrame({"age": [-2, -1, 1, 2], "n": 0})
    explainer = marking_explainer(str(tmp_path / "mark"), background)
    explainer.save(tmp_path / "_explainer.sev", allow_pickle=True)
    (tmp_path / "mark").unlink()
    work = _work.Work(str(tmp_path), '{"trust_pickle": true}', "0" * 64, b"")
    with pytest.raises(BatchError, match="not the explainer that this batch began with, so it was not loaded"):
        work(_inputs.Part("part-0", "in", 0, 1, _inputs.RowGroup("in", "parquet", 0)))
    assert not (tmp_path / "mark").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
@pytest.mark.parametrize("name", ["_explainer.sev", "_manifest.json", "_lock", "_parts.jsonl"])
def test_pipes_and_links_in_the_folder_are_refused(archive, source, tmp_path, name):
    for plant in (os.mkfifo, lambda path: path.symlink_to(tmp_path / "elsewhere")):
        out = tmp_path / "out"
        explain_files(archive, source, out)
        (out / "part-00000-000000.parquet").unlink()
        (out / name).unlink()
        plant(out / name)
        # a link to nothing is no manifest: the batch would begin anew, beside the parts that are there
        with pytest.raises((BatchError, OSError), match=f"{name}|a link, a pipe|not the folder of a batch"):
            explain_files(archive, source, out)
        assert not (tmp_path / "elsewhere").exists()
        shutil.rmtree(out)


def test_a_damaged_part_is_done_again(explainer, archive, source, tmp_path):
    explain_files(archive, source, tmp_path / "out")
    (tmp_path / "out" / "part-00000-000000.parquet").write_bytes(b"PAR1 and nothing else")
    assert explain_files(archive, source, tmp_path / "out").rows_before == 150
    tables.assert_same(tables.results(tmp_path / "out"), tables.expected(explainer, tables.applications()))


def forge_part(path):
    """Results that say the opposite, in a file that reads well and has as many rows."""
    table = pq.read_table(path, partitioning=None)
    statuses = pa.array(["unexplainable"] * table.num_rows)
    pq.write_table(table.set_column(table.column_names.index("status"), "status", statuses), path)


def test_a_forged_part_is_done_again(explainer, archive, source, tmp_path):
    out = tmp_path / "out"
    explain_files(archive, source, out)
    forge_part(out / "part-00000-000000.parquet")
    assert explain_files(archive, source, out).rows_before == 150
    tables.assert_same(tables.results(out), tables.expected(explainer, tables.applications()))


def test_a_part_that_this_batch_did_not_write_is_done_again(explainer, archive, source, tmp_path):
    """One of another batch in the same place, and one that came before the batch had done anything."""
    explain_files(archive, source, tmp_path / "other", kind="plus")
    explain_files(archive, source, tmp_path / "out")
    for name in ("part-00000-000001.parquet", "_parts.jsonl"):
        shutil.copy(tmp_path / "other" / name, tmp_path / "out" / name)
    assert explain_files(archive, source, tmp_path / "out").rows_before == 0
    tables.assert_same(tables.results(tmp_path / "out"), tables.expected(explainer, tables.applications()))


def test_a_list_of_parts_that_was_cut_off_loses_the_last_part_only(explainer, archive, source, tmp_path):
    out = tmp_path / "out"
    explain_files(archive, source, out)
    lines = (out / "_parts.jsonl").read_bytes()
    (out / "_parts.jsonl").write_bytes(lines[:-10])
    assert explain_files(archive, source, out).rows_before == 200
    assert explain_files(archive, source, out).rows_before == 250
    tables.assert_same(tables.results(out), tables.expected(explainer, tables.applications()))


def test_another_model_setting_or_input_is_refused(archive, source, tmp_path):
    out = tmp_path / "out"
    explain_files(archive, source, out)
    with pytest.raises(BatchError, match="another batch, which differs in kind"):
        explain_files(archive, source, out, kind="plus")
    with pytest.raises(BatchError, match="differs in restricted"):
        explain_files(archive, source, out, restricted=["age"])
    other = loans.explainer(threshold=0.4)
    with pytest.raises(BatchError, match="differs in the explainer"):
        explain_files(other, source, out)
    tables.write(tables.applications(seed=9), source)
    with pytest.raises(BatchError, match="differs in the input"):
        explain_files(archive, source, out)


def test_a_folder_with_other_things_is_refused(archive, source, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("")
    with pytest.raises(BatchError, match=r"not empty and is not the folder of a batch.*thesis\.tex"):
        explain_files(archive, source, tmp_path / "out")
    with pytest.raises(InputError, match="both input and output"):
        explain_files(archive, source.parent, source.parent)


def test_two_runs_do_not_work_in_one_folder(archive, source, tmp_path):
    from sev.batch._manifest import locked

    (tmp_path / "out").mkdir()
    with locked(tmp_path / "out"), pytest.raises(BatchError, match="Another run"):
        explain_files(archive, source, tmp_path / "out")


def test_folders_of_files_name_the_file_of_each_row(explainer, archive, tmp_path):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    first, second = tables.applications(30, 1), tables.applications(40, 2)
    tables.write(first, tmp_path / "in" / "a.csv")
    tables.write(second, tmp_path / "in" / "deep" / "b.csv.gz")
    (tmp_path / "in" / "_SUCCESS").write_text("")
    (tmp_path / "in" / "readme.md").write_text("")
    explain_files(archive, tmp_path / "in", tmp_path / "out.parquet")
    found = tables.results(tmp_path / "out.parquet")
    assert found.column("file").to_pylist() == ["a.csv"] * 30 + ["deep/b.csv.gz"] * 40
    assert found.column("row").to_pylist() == [*range(30), *range(40)]
    tables.assert_same(found, tables.expected(explainer, pd.concat([first, second], ignore_index=True)))


def test_files_with_other_columns_are_refused(archive, tmp_path):
    (tmp_path / "in").mkdir()
    tables.write(tables.applications(30, 1), tmp_path / "in" / "a.parquet")
    tables.write(tables.applications(30, 1).assign(more=1), tmp_path / "in" / "b.parquet")
    with pytest.raises(InputError, match=r"b\.parquet.*does not have the (same )?columns"):
        explain_files(archive, tmp_path / "in", tmp_path / "out")


class Moody:
    """A model that raises on some rows."""

    classes_ = np.array([0, 1])

    def predict_proba(self, rows):
        if (rows["age"] == 42).any():
            raise RuntimeError("42 is not an age")
        positive = (rows["age"] > 50).to_numpy(dtype=float)
        return np.column_stack([1 - positive, positive])


def test_rows_that_fail_get_the_status_error(tmp_path):
    background = pd.DataFrame({"age": np.arange(20, 40), "n": 0})
    with pytest.warns(FallbackWarning, match="no exact form of Moody"):
        explainer = sev.Explainer(Moody(), background)
    rows = pd.DataFrame({"age": ["60", "42", "old", "61", ""], "n": 0})
    rows.to_csv(tmp_path / "in.csv", index=False)
    result = explain_files(explainer, tmp_path / "in.csv", tmp_path / "out.parquet", trust_pickle=True)
    assert result.rows == 5
    found = tables.results(tmp_path / "out.parquet").to_pydict()
    assert found["status"] == ["optimal", "error", "error", "optimal", "not_target"]
    assert "42 is not an age" in found["reason"][1]
    assert "'age' holds 'old'; expected a number" in found["reason"][2]
    assert found["features"][0] == ["age"]


def test_a_full_disk_ends_clearly_and_resumes(explainer, archive, source, tmp_path, monkeypatch):
    real, calls = _writers._ParquetWriter.close, []

    def full(self):
        calls.append(1)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(self)

    monkeypatch.setattr(_writers._ParquetWriter, "close", full)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".part-00000-000009.parquet.1.tmp").write_bytes(b"left by a run that was killed")
    with pytest.raises(BatchError, match=r"disk is full.*kept.*same command"):
        explain_files(archive, source, tmp_path / "out")
    assert not list((tmp_path / "out").glob(".*.tmp"))
    monkeypatch.undo()
    assert explain_files(archive, source, tmp_path / "out").rows_before == 100
    tables.assert_same(tables.results(tmp_path / "out"), tables.expected(explainer, tables.applications()))


def test_a_disk_that_is_full_at_the_very_end_is_told_too(explainer, archive, source, tmp_path, monkeypatch):
    def full(self):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_writers._FeatherWriter, "close", full)
    with pytest.raises(BatchError, match=r"disk is full.*kept.*same command"):
        explain_files(archive, source, tmp_path / "out.feather")
    monkeypatch.undo()
    assert explain_files(archive, source, tmp_path / "out.feather").rows_before == 250
    assert not list(tmp_path.glob("*.parts"))


def test_missing_rows_are_noticed(archive, source, tmp_path, monkeypatch):
    real = _inputs.RowGroup.tables
    monkeypatch.setattr(_inputs.RowGroup, "tables", lambda self: (table.slice(1) for table in real(self)))
    with pytest.raises(BatchError, match="has 99 rows where 100 were expected"):
        explain_files(archive, source, tmp_path / "out")
    assert not list((tmp_path / "out").glob("part-*"))


def test_kept_columns_and_sets(explainer, archive, tmp_path):
    frame = tables.applications(40).assign(status="applied")
    source = tables.write(frame, tmp_path / "in.parquet")
    explain_files(archive, source, tmp_path / "all.parquet", sets=True)
    found = tables.results(tmp_path / "all.parquet")
    assert found.column("status_input").to_pylist() == ["applied"] * 40
    wanted = [[list(names) for names in one.sets] for one in explainer.explain(frame)]
    assert found.column("sets").to_pylist() == wanted
    explain_files(archive, source, tmp_path / "few.parquet", keep=["age"])
    assert "number" not in tables.results(tmp_path / "few.parquet").column_names
    with pytest.raises(InputError, match="keep names columns"):
        explain_files(archive, source, tmp_path / "none.parquet", keep=["nothing"])


def test_empty_tables_give_empty_results(archive, tmp_path):
    for name in ("in.parquet", "in.csv"):
        source = tables.write(tables.applications(10).iloc[:0], tmp_path / name)
        assert explain_files(archive, source, tmp_path / f"{name}.out.parquet").rows == 0


def test_wrong_options_are_refused_before_any_work(archive, source, tmp_path):
    for options, message in (
        ({"kind": "both"}, "kind"),
        ({"restricted": ["agee"]}, "did you mean 'age'"),
        ({"engine": "local", "address": "x"}, "address"),
        ({"engine": "slurm"}, "not known"),
        ({"rows_per_part": 0}, "rows_per_part"),
    ):
        with pytest.raises(InputError, match=message):
            explain_files(archive, source, tmp_path / "out", **options)


def test_two_workers_give_the_same(explainer, archive, source, tmp_path):
    explain_files(archive, source, tmp_path / "one")
    explain_files(archive, source, tmp_path / "two", n_jobs=2)
    assert tables.results(tmp_path / "one").equals(tables.results(tmp_path / "two"))


def test_slices_do_not_depend_on_the_clock(explainer, archive, monkeypatch):
    """A model's score may differ in its last bit with the rows beside it, so these are the same in every run."""
    from sev.batch import _partition

    lengths = []
    real = type(explainer).explain_rows
    monkeypatch.setattr(_partition, "ROWS_AT_ONCE", 100)
    monkeypatch.setattr(type(explainer), "explain_rows", lambda *a, **k: (lengths.append(len(a[1])), real(*a, **k))[1])
    explain = PartitionExplainer(archive.read_bytes())
    for _ in range(3):
        explain(tables.applications(250))
    assert lengths == [100, 100, 50] * 3
