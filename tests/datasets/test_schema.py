import gzip

import numpy as np
import pandas as pd
import pytest

from sev.datasets import _adult, _compas, _diabetes130, _heloc
from sev.datasets._schema import Column, Schema, read_bytes, sha256, translate
from sev.exceptions import InputError, SevWarning

TEXT = b"size,colour,weight,label\n1,None,2.5,no\n2,?,,yes\n"


def schema(**changes) -> Schema:
    settings = {
        "features": (Column("size"), Column("colour", "text"), Column("weight", "number")),
        "target": "label",
        "classes": {"no": 0, "yes": 1},
        "n_rows": 2,
    }
    return Schema(**{**settings, **changes})


def test_words_that_pandas_takes_for_missing_are_kept_in_text_and_missing_in_numbers():
    frame = schema().read(TEXT, "made.csv")
    assert frame["size"].tolist() == [1, 2]
    assert frame["colour"].tolist() == ["None", "?"]
    np.testing.assert_array_equal(frame["weight"], [2.5, np.nan])
    X, y = schema().split(frame)
    assert list(X) == ["size", "colour", "weight"]
    assert (y.tolist(), y.name) == ([0, 1], "label")


def test_columns_in_any_order_and_extra_ones():
    shuffled = b"label,extra,weight,colour,size\nno,x,2.5,None,1\nyes,x,,?,2\n"
    pd.testing.assert_frame_equal(schema().read(shuffled, "a"), schema().read(TEXT, "b"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"size,label\n1,no\n", r"made\.csv lacks the columns \['colour', 'weight'\]; it has \['size', 'label'\]"),
        (b"size,colour,weight,label\n1,a,2,no\nx,a,2,no\n", r"row 2, column 'size': 'x' is not an integer"),
        (b"size,colour,weight,label\n1.5,a,2,no\n", r"column 'size': '1\.5' is not an integer"),
        (b"size,colour,weight,label\ninf,a,2,no\n", r"column 'size': 'inf' is not an integer"),
        (b"size,colour,weight,label\n,a,2,no\n", r"column 'size': '' is not an integer"),
        (b"size,colour,weight,label\n1,a,heavy,no\n", r"column 'weight': 'heavy' is not a finite number"),
        (b"size,colour,weight,label\n1,a,inf,no\n", r"column 'weight': 'inf' is not a finite number"),
        (b"size,colour,weight,label\n1,a,2,maybe\n", r"column 'label': 'maybe' is not one of \['no', 'yes'\]"),
        (b"size,colour,weight,label\n1,a,2,no\n1,a\n", r"row 2, column 'label': '' is not one of"),
        (b"size,colour,weight,label\n1,a,2,no,7\n", r"made\.csv cannot be read as a table"),
        (b"size,colour,weight,label\n1,a,2,no\n1,a,2,no,7,8\n", r"made\.csv cannot be read as a table"),
        (b"size,colour,weight,label\n", r"made\.csv has no rows"),
        (b"", r"made\.csv cannot be read as a table"),
        (b"size,colour,weight,label\n1,\xff\xfe,2,no\n", r"made\.csv cannot be read as a table"),
    ],
)
def test_what_is_wrong_is_named(data, message):
    with pytest.raises(InputError, match=message):
        schema().read(data, "made.csv")


def test_without_header_the_number_of_columns_counts():
    bare = schema(header=False)
    assert bare.read(b"1,a,2,no\n", "x")["size"].tolist() == [1]
    with pytest.raises(InputError, match="x has 3 columns where 4 are expected: size, colour, weight, label"):
        bare.read(b"1,a,2\n", "x")


def test_other_spellings_of_the_classes():
    words = schema(spellings={"N": "no", "Y": "yes"})
    assert words.read(b"size,colour,weight,label\n1,a,2,N\n1,a,2,yes\n", "x")["label"].tolist() == ["no", "yes"]


def test_published_bytes_or_the_same_cells_written_otherwise_pass_and_others_warn():
    whole = {"features": (Column("size"), Column("colour", "text"))}
    text = b"size,colour,label\n1,None,no\n"
    known = schema(**whole, n_rows=1, sha256=sha256(text))
    known.read(text, "x")
    known.read(b"\xef\xbb\xbflabel,size,colour\r\nno,1,None", "x")
    with pytest.warns(SevWarning, match=r"x has .* not the published file: it has 2 rows \(published: 1\)"):
        known.read(text + b"2,None,no\n", "x")
    with pytest.warns(SevWarning, match="its sha256 is not"):
        known.read(text.replace(b"None", b"red"), "x")


def test_written_as_published():
    odd = schema(features=(Column("size"),), n_rows=1, header=False, separator=", ", newline="\r\n", ending="\r\n")
    frame = odd.read(b"1, no\r\n2, yes\r\n\r\n", "x")
    assert odd.write(frame) == b"1, no\r\n2, yes\r\n\r\n"


@pytest.mark.parametrize("module", [_adult, _compas, _diabetes130, _heloc])
def test_published_files_are_written_byte_for_byte(published, module):
    path = published(*module.FILES)
    data = read_bytes(path)
    frame = module.SCHEMA.read(data, str(path))
    assert module.SCHEMA.write(frame) == data
    assert len(frame) == module.SCHEMA.n_rows
    assert sha256(data) == module.SCHEMA.sha256


def test_packed_files_are_unpacked_and_damaged_ones_refused(tmp_path):
    path = tmp_path / "made.csv.gz"
    packed = gzip.compress(TEXT)
    path.write_bytes(packed)
    assert read_bytes(path) == TEXT
    for damaged in (TEXT, packed[:-9], packed[:20] + b"\x00\xff" + packed[22:]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"made\.csv\.gz is damaged"):
            read_bytes(path)


def test_translate_refuses_a_word_it_does_not_know():
    cells = pd.Series(["a", "b"], name="letter")
    assert translate(cells, {"a": "A", "b": "B"}, "x").tolist() == ["A", "B"]
    with pytest.raises(InputError, match=r"x, row 2, column 'letter': 'b' is not one of \['a'\]"):
        translate(cells, {"a": "A"}, "x")
