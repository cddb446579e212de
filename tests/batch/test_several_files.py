"""Files of one batch: their columns are compared before any work, and a repaired file costs the others nothing."""

import pyarrow.parquet as pq
import pytest
from batch import tables

from sev.batch import _formats, explain_files
from sev.exceptions import BatchError, InputError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(_formats, "_BLOCK_BYTES", 400)  # the end of a file is not read with its beginning
    (tmp_path / "in").mkdir()
    for seed, name in enumerate(("a", "b", "c")):
        tables.write(tables.applications(30, seed), tmp_path / "in" / f"{name}.csv")
    return tmp_path / "in"


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "jsonl", "parquet", "parquet.zst", "feather"])
def test_a_file_that_lacks_a_column_is_named_before_any_work(archive, folder, tmp_path, ending):
    tables.write(tables.applications(30, 9).rename(columns={"income": "Incom"}), folder / f"d.{ending}")
    done = []
    with pytest.raises(InputError, match=rf"^d\.{ending}: .*\['income'\]\. Did you mean 'Incom' to be 'income'\?"):
        explain_files(archive, folder, tmp_path / "out", on_part=done.append)
    assert not done
    assert not list((tmp_path / "out").glob("part-*"))
    tables.write(tables.applications(30, 9), folder / f"d.{ending}")
    assert explain_files(archive, folder, tmp_path / "out").rows == 120


def test_an_open_file_gets_no_row_before_all_columns_are_known(archive, folder, tmp_path):
    tables.write(tables.applications(30, 9).drop(columns="age"), folder / "d.csv")
    with open(tmp_path / "out.csv", "wb") as out, pytest.raises(InputError, match=r"d\.csv.*'age'"):
        explain_files(archive, folder, out)
    assert (tmp_path / "out.csv").read_bytes() == b""


def test_columns_to_carry_over_are_compared_too(archive, folder, tmp_path):
    tables.write(tables.applications(30, 9).rename(columns={"number": "numbr"}), folder / "d.csv")
    with pytest.raises(
        InputError,
        match=r"d\.csv does not have the same columns.*as a\.csv.*also has \['numbr'\] and lacks \['number'\].*to be",
    ):
        explain_files(archive, folder, tmp_path / "out")
    assert explain_files(archive, folder, tmp_path / "out", keep=[]).rows == 120


def test_columns_may_come_in_another_order(archive, folder, tmp_path):
    rows = tables.applications(30, 9).assign(second="x")
    tables.write(rows, folder / "a.csv")
    tables.write(rows[rows.columns[::-1]], folder / "b.csv")
    explain_files(archive, [folder / "a.csv", folder / "b.csv"], tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet").to_pydict()
    assert found["number"][:30] == found["number"][30:]
    assert found["status"][:30] == found["status"][30:]


def test_a_repaired_file_costs_the_others_nothing(explainer, archive, folder, tmp_path):
    whole = (folder / "b.csv").read_text()
    (folder / "b.csv").write_text(whole + "one,cell,too,many,for,this,table\n")
    with pytest.raises(BatchError, match=r"b\.csv"):
        explain_files(archive, folder, tmp_path / "out", rows_per_part=10)
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("part-00000-*")}
    assert len(before) == 3
    (folder / "b.csv").write_text(whole)
    result = explain_files(archive, folder, tmp_path / "out", rows_per_part=10)
    assert result.rows == 90
    assert result.rows_before == 30
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("part-00000-*")}
    assert after == before
    explain_files(archive, folder, tmp_path / "again", rows_per_part=10)
    assert tables.results(tmp_path / "out").equals(tables.results(tmp_path / "again"))


def test_a_shorter_repaired_file_leaves_no_old_part(archive, folder, tmp_path):
    """Parts of the longer file must not stay among the results."""
    broken = tables.applications(30, 1)
    tables.write(broken, folder / "b.csv")
    (folder / "c.csv").write_text((folder / "c.csv").read_text() + "one,cell,too,many,for,this,table\n")
    with pytest.raises(BatchError, match=r"c\.csv"):
        explain_files(archive, folder, tmp_path / "out", rows_per_part=10)
    tables.write(broken.head(5), folder / "b.csv")
    tables.write(tables.applications(30, 2), folder / "c.csv")
    result = explain_files(archive, folder, tmp_path / "out", rows_per_part=10)
    assert result.rows == tables.results(tmp_path / "out").num_rows == 65
    assert result.rows_before == 30


def test_results_of_other_columns_are_not_taken_over(archive, folder, tmp_path):
    """The first file says which columns are carried over: results of the others may not stay as they were."""
    (folder / "c.csv").write_text((folder / "c.csv").read_text() + "one,cell,too,many,for,this,table\n")
    with pytest.raises(BatchError, match=r"c\.csv"):
        explain_files(archive, folder, tmp_path / "out")
    for seed, name in enumerate(("a", "b", "c")):
        more = {"more": "x"} if name != "b" else {}
        tables.write(tables.applications(30, seed).assign(**more), folder / f"{name}.csv")
    with pytest.raises(InputError, match=r"b\.csv.*lacks \['more'\]"):
        explain_files(archive, folder, tmp_path / "out")


def test_a_finished_batch_is_not_changed_by_other_input(archive, folder, tmp_path):
    explain_files(archive, folder, tmp_path / "out")
    tables.write(tables.applications(30, 9), folder / "b.csv")
    with pytest.raises(BatchError, match="differs in the input"):
        explain_files(archive, folder, tmp_path / "out")


def test_a_stopped_batch_is_not_continued_with_files_of_other_names(archive, folder, tmp_path):
    """Not a file that was repaired, but another one: whoever gave it chose the wrong folder."""
    whole = (folder / "c.csv").read_text()
    (folder / "c.csv").write_text(whole + "one,cell,too,many,for,this,table\n")
    with pytest.raises(BatchError, match=r"c\.csv"):
        explain_files(archive, folder, tmp_path / "out")
    (folder / "c.csv").unlink()
    (folder / "d.csv").write_text(whole)
    with pytest.raises(BatchError, match="differs in the input"):
        explain_files(archive, folder, tmp_path / "out")


def test_a_column_that_names_the_rows_comes_first(archive, folder, tmp_path):
    rows = tables.applications(30, 1).assign(aside=1)
    tables.write(rows, folder / "a.csv")
    explain_files(archive, folder / "a.csv", tmp_path / "out.parquet", id_column="age")
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.column_names[:4] == ["row", "age", "number", "aside"]
    explain_files(archive, folder / "a.csv", tmp_path / "few.parquet", id_column="number", keep=["aside"])
    assert pq.read_table(tmp_path / "few.parquet").column_names[:4] == ["row", "number", "aside", "status"]
    with pytest.raises(
        InputError, match=r"a\.csv.*id_column='numbr' is not a column of the file; did you mean 'number'"
    ):
        explain_files(archive, folder / "a.csv", tmp_path / "no", id_column="numbr")


def test_a_folder_without_tables_names_the_endings(archive, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.txt").write_text("nothing")
    with pytest.raises(InputError, match=r"No file to explain in .*in: files end in \.csv, .*, alone or packed"):
        explain_files(archive, tmp_path / "in", tmp_path / "out")
