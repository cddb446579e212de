"""Every format in and out gives the same answers as a call in memory."""

import io
import json

import pyarrow as pa
import pytest
from batch import tables

from sev.batch import explain_files, read_frame
from sev.batch._formats import TableFormat, format_of, stream_tables
from sev.batch._writers import table_writer
from sev.exceptions import BatchError, InputError

ENDINGS = ["csv", "tsv", "jsonl", "parquet", "feather"]


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_is_read(ending, packed, explainer, archive, tmp_path):
    frame = tables.applications()
    source = tables.write(frame, tmp_path / f"in.{ending}{packed}")
    result = explain_files(archive, source, tmp_path / "out", rows_per_part=60)
    assert result.rows == len(frame)
    tables.assert_same(tables.results(tmp_path / "out"), tables.expected(explainer, frame))


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_is_written(ending, packed, explainer, archive, tmp_path):
    frame = tables.applications()
    source = tables.write(frame, tmp_path / "in.parquet")
    output = tmp_path / f"out.{ending}{packed}"
    explain_files(archive, source, output)
    wanted = tables.expected(explainer, frame)
    if ending in ("parquet", "feather"):
        found = read_frame(output)
        assert [tuple(() if one is None else one) for one in found["features"]] == wanted["features"].tolist()
    else:
        found = read_frame(output, text=["number", "features"])
        texts = [tuple(json.loads(one)) if isinstance(one, str) else () for one in found["features"]]
        assert texts == wanted["features"].tolist()
    assert found["number"].tolist() == wanted["number"].tolist()
    assert found["row"].tolist() == list(range(len(frame)))
    assert found["status"].tolist() == wanted["status"].tolist()
    assert found["score"].tolist() == wanted["score"].tolist()
    assert not (tmp_path / f"{output.name}.parts").exists()


def test_pieces_have_one_length_whatever_is_in_them(tmp_path):
    text = b"a,b\n" + b"".join(b'%d,"x\ny"\n' % row for row in range(1000))
    (tmp_path / "in.csv").write_bytes(text)
    for size in (7, 300, 10_000):
        pieces = list(stream_tables(tmp_path / "in.csv", TableFormat("csv"), size))
        assert pa.concat_tables(pieces).column("a").to_pylist() == [str(row) for row in range(1000)]
        assert [piece.num_rows for piece in pieces[:-1]] == [size] * (len(pieces) - 1)


def test_numbers_in_json_keep_their_digits(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"a": 1.10}\n{"a": null}\n{"a": "007"}\n\n', encoding="utf-8")
    [table] = stream_tables(tmp_path / "in.jsonl", TableFormat("jsonl"), 10)
    assert table.column("a").to_pylist() == ["1.10", None, "007"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("in.csv", b"", "empty"),
        ("in.csv", b"a,a\n1,2\n", "more than once"),
        ("in.csv", b"age,income,branch,home\n1,2\n", "cannot be read as csv"),
        ("in.jsonl", b"nonsense\n", "line 1: this is not valid JSON"),
        ("in.jsonl", b"[1]\n", "line 1: this is not a JSON object"),
        ("in.parquet", b"nonsense", "cannot be read as parquet"),
        ("in.feather", b"nonsense", "cannot be read as feather"),
        ("in.csv.gz", b"nonsense", "cannot be read"),
        ("in.csv", b"age,income\n1,2\n", "lacks 2 columns"),
    ],
)
def test_files_that_cannot_be_read_say_why(name, content, message, archive, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises((InputError, BatchError), match=message):
        explain_files(archive, tmp_path / name, tmp_path / "out")


def test_endings_tell_formats():
    assert format_of("a.b.csv.gz").compression == "gzip"
    with pytest.raises(InputError, match="unknown file ending"):
        format_of("table.xlsx")


def test_types_of_training_rows_are_read_carefully(tmp_path):
    path = tmp_path / "train.csv"
    path.write_text("zip,count,share,flag,mixed,none\n007,1,0.5,true,1,\n08,,1e3,false,x,\n", encoding="utf-8")
    frame = read_frame(path)
    assert frame["zip"].tolist() == ["007", "08"]
    assert frame["count"].dtype.kind == "f"
    assert frame["share"].tolist() == [0.5, 1000.0]
    assert frame["flag"].dtype == bool
    assert frame["mixed"].tolist() == ["1", "x"]
    assert frame["none"].isna().all()
    assert read_frame(path, numbers=["zip"])["zip"].tolist() == [7, 8]
    assert read_frame(path, text=["count"])["count"].dropna().tolist() == ["1"]
    with pytest.raises(InputError, match="not numbers"):
        read_frame(path, numbers=["mixed"])


def test_chunks_without_rows_leave_nothing_in_a_file():
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    chunks = pa.concat_tables([table.schema.empty_table(), table])
    mixed = pa.table([pa.array([7, 8]), *chunks.columns], names=["row", "a", "b"])
    out = io.BytesIO()
    writer = table_writer(out, TableFormat("csv"), mixed.schema)
    for one in (mixed.slice(0, 0), mixed):
        writer.write(one)
    assert out.getvalue() == b'row,a,b\n7,1,"x"\n8,2,"y"\n'


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["=1+2", "plain", None]),
        pa.array(["=1+2", "plain", None]).dictionary_encode(),
        pa.array([b"=1+2", b"plain", None]),
        pa.array(["=1+2", "plain", None], type=pa.large_string()),
        pa.array([b"=1+2", b"plain", None], type=pa.large_binary()),
    ],
    ids=lambda column: str(column.type),
)
def test_no_type_of_text_carries_a_formula_into_a_csv_file(column):
    table = pa.table({"note": column, "number": [1, 2, 3]})
    written = io.BytesIO()
    writer = table_writer(written, TableFormat("csv"), table.schema)
    writer.write(table)
    writer.close()
    assert written.getvalue().decode().replace('"', "").splitlines() == ["note,number", "'=1+2,1", "plain,2", ",3"]
