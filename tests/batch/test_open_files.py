"""Results to an open file, through the call that writes files and folders, and the parts that both are made of."""

import io

import pyarrow as pa
import pyarrow.feather
import pytest
from batch import tables

import sev
from sev.batch import PartitionExplainer, _partition, explain_files, explain_ray
from sev.batch._inputs import Finished, HeldTable, Inputs, RowGroup, input_files
from sev.exceptions import InputError


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "feather"])
@pytest.mark.parametrize("ending", ["csv", "parquet.gz"])
def test_an_open_file_gets_the_bytes_of_a_path(archive, tmp_path, form, ending):
    source = tables.write(tables.applications(250), tmp_path / f"in.{ending}", 100)
    told = []
    out = io.BytesIO()
    result = explain_files(
        *(archive, source, out),
        output_format=form,
        rows_per_part=100,
        on_start=lambda total, done: told.append((total, done)),
        on_part=told.append,
    )
    written = explain_files(archive, source, tmp_path / f"out.{form}", rows_per_part=100)
    if form == "feather":  # record batches may be cut differently
        wanted = pa.feather.read_table(tmp_path / "out.feather")
        assert pa.feather.read_table(io.BytesIO(out.getvalue())).equals(wanted)
    else:
        assert out.getvalue() == (tmp_path / f"out.{form}").read_bytes()
    assert told[0] == ((None, 0) if ending == "csv" else (250, 0))
    assert told[1:] == [100, 100, 50]
    assert (result.output, result.rows, result.statuses) == (None, 250, written.statuses)


def test_a_column_with_the_name_of_a_result_is_refused_wherever_results_go(archive, tmp_path):
    source = tables.write(tables.applications(20).assign(row="mine"), tmp_path / "in.csv")
    for output, other in ((io.BytesIO(), io.BytesIO()), (tmp_path / "out.csv", tmp_path / "other.csv")):
        with pytest.raises(InputError, match="column called 'row', which is also a column of the results: rename it"):
            explain_files(archive, source, output)
        assert explain_files(archive, source, other, keep=["number"]).rows == 20


def test_workers_and_formats_that_do_not_fit_the_output_are_refused(archive, tmp_path):
    source = tables.write(tables.applications(20), tmp_path / "in.csv")
    for options in ({"n_jobs": 2}, {"engine": "dask"}, {"engine": "spark", "address": "x"}):
        with pytest.raises(InputError, match="written by this process only"):
            explain_files(archive, source, io.BytesIO(), **options)
    with pytest.raises(InputError, match="output_format is for open files"):
        explain_files(archive, source, tmp_path / "out.csv", output_format="csv")


def test_parts_hold_their_rows_or_say_where_they_are(tmp_path):
    frame = tables.applications(250)
    paths = [tables.write(frame, tmp_path / "a.csv"), tables.write(frame, tmp_path / "b.parquet", 100)]
    parts = list(Inputs(input_files(paths), 120).parts())
    assert [type(part.rows) for part in parts] == [HeldTable] * 3 + [RowGroup] * 3
    assert [part.n_rows for part in parts] == [120, 120, 10, 100, 100, 50]
    assert [part.first_row for part in parts] == [0, 120, 240, 0, 100, 200]
    assert [part.name for part in parts] == sorted(part.name for part in parts)
    for part in parts:
        assert sum(table.num_rows for table in part.rows.tables()) == part.n_rows
        done = part.finished(by_earlier_run=True)
        assert done.rows == Finished(by_earlier_run=True)
        assert done.finished() is done
        assert list(done.rows.tables()) == []


def test_the_second_stream_is_read_from_its_start_too(archive, tmp_path):
    frame = tables.applications(250)
    paths = [tables.write(frame.iloc[:130], tmp_path / "a.csv"), tables.write(frame.iloc[130:], tmp_path / "b.csv")]
    explain_files(archive, paths, tmp_path / "out.parquet", rows_per_part=50)
    found = tables.results(tmp_path / "out.parquet")
    assert found.column("number").to_pylist() == [f"{number:05d}" for number in range(250)]
    assert found.column("row").to_pylist() == [*range(130), *range(120)]


def test_an_explainer_is_loaded_once_in_a_process_and_few_are_kept(explainer, monkeypatch):
    monkeypatch.setattr(_partition, "_LOADED", {})
    loaded = []
    real = sev.Explainer.from_bytes
    monkeypatch.setattr(sev.Explainer, "from_bytes", lambda *given, **named: loaded.append(1) or real(*given, **named))
    archive = explainer.to_bytes()
    loaded.clear()
    first, again = PartitionExplainer(archive), PartitionExplainer(archive, kind="plus")
    assert first.explainer is again.explainer
    assert len(loaded) == 1
    for number in range(_partition._MOST_LOADED):
        _partition._LOADED[str(number), False] = explainer
        assert first.explainer is again.explainer  # used between, so it stays
    assert len(_partition._LOADED) == _partition._MOST_LOADED
    assert len(loaded) == 1


def test_options_beside_a_partition_explainer_are_refused(explainer):
    with pytest.raises(sev.exceptions.OptionError, match="max_sets cannot be passed beside a PartitionExplainer"):
        explain_ray(None, PartitionExplainer.of(explainer), max_sets=1)


def test_a_path_in_place_of_an_archive_is_refused(archive):
    with pytest.raises(InputError, match=r"bytes of a saved explainer, got \w+Path: read the file"):
        PartitionExplainer(archive)
