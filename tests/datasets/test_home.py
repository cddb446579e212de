import sys
from pathlib import Path

import pytest

from sev.datasets import DatasetNotFoundError
from sev.datasets._home import cache_home, find, not_found, store
from sev.exceptions import SevError, SevWarning


def put(folder: Path, file: str = "made.csv") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(file)
    return folder / file


def test_argument_then_variable_then_cache(tmp_path, cache, monkeypatch):
    files = ("made.csv",)
    assert find(files, None) is None
    third = put(cache)
    assert find(files, None) == third
    second = put(tmp_path / "variable")
    monkeypatch.setenv("SEV_DATA_HOME", str(second.parent))
    assert find(files, None) == second
    first = put(tmp_path / "argument")
    assert find(files, first.parent) == first
    assert find(files, str(first.parent)) == first
    first.unlink()
    assert find(files, first.parent) == second


def test_first_file_name_first(tmp_path):
    put(tmp_path, "b.csv")
    assert find(("a.csv", "b.csv"), tmp_path) == tmp_path / "b.csv"
    put(tmp_path, "a.csv")
    assert find(("a.csv", "b.csv"), tmp_path) == tmp_path / "a.csv"


def test_a_data_home_that_is_no_folder_is_refused(tmp_path):
    with pytest.raises(DatasetNotFoundError, match="is not a folder"):
        find(("made.csv",), tmp_path / "nowhere")


def test_not_found_says_what_was_looked_for_and_where(tmp_path, cache, monkeypatch):
    monkeypatch.setenv("SEV_DATA_HOME", str(tmp_path / "variable"))
    error = not_found("Made", ("a.csv", "b.csv"), tmp_path, "Make it.")
    for part in ("Made: no file a.csv or b.csv", str(tmp_path), str(tmp_path / "variable"), str(cache), "Make it."):
        assert part in str(error)
    assert isinstance(error, SevError)
    assert isinstance(error, FileNotFoundError)


def test_stored_files_are_found_and_leave_nothing_else(cache):
    store("made.csv", b"one")
    store("made.csv", b"two")
    assert find(("made.csv",), None).read_bytes() == b"two"
    assert [path.name for path in cache.iterdir()] == ["made.csv"]


def test_a_cache_that_cannot_be_written_warns(cache):
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text("in the way")
    with pytest.warns(SevWarning, match=r"made\.csv could not be kept"):
        store("made.csv", b"one")


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the cache lies elsewhere there")
def test_cache_without_the_variable(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_home() == Path.home() / ".cache" / "sev"
