"""Files are replaced at once, under names that nobody can guess, and never through somebody else's link."""

import ast
import os
import re
import secrets
import stat
from pathlib import Path

import pytest
import show_cases

import sev
from sev._io import open_regular, read_regular_file, replacing, write_file
from sev.reports import reasons

PACKAGE = Path(sev.__file__).parent


def test_a_file_is_there_whole_or_not_at_all(tmp_path):
    path = tmp_path / "one.txt"
    write_file(path, b"first")

    def stop_half_way():
        with replacing(path) as file:
            file.write(b"half")
            file.flush()
            assert path.read_bytes() == b"first"
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        stop_half_way()
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"folder does not exist.*nowhere"):
        write_file(tmp_path / "nowhere" / "one.txt", b"")


@pytest.mark.skipif(os.name != "posix", reason="permissions of this kind")
def test_permissions_are_those_of_any_new_file(tmp_path):
    plain = tmp_path / "plain.txt"
    plain.write_bytes(b"")
    write_file(tmp_path / "one.txt", b"")
    assert stat.S_IMODE((tmp_path / "one.txt").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_temporary_names_differ_each_time_and_hold_no_process_number(tmp_path):
    names = set()
    for _ in range(20):
        with replacing(tmp_path / "one.txt") as file:
            names.update(path.name for path in tmp_path.glob(".*"))
            file.write(b"")
    assert len(names) == 20
    assert not any(f".{os.getpid()}." in name for name in names)


def test_links_at_the_temporary_name_are_not_followed(tmp_path, monkeypatch):
    """Even if somebody guessed the name."""
    victim = tmp_path / "victim.txt"
    victim.write_bytes(b"mine")
    monkeypatch.setattr(secrets, "token_hex", lambda n: "guessed")
    (tmp_path / ".one.txt.guessed.tmp").symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_file(tmp_path / "one.txt", b"theirs")
    assert victim.read_bytes() == b"mine"


def test_a_link_at_the_name_is_replaced_and_not_followed(tmp_path):
    victim = tmp_path / "victim.txt"
    victim.write_bytes(b"mine")
    (tmp_path / "one.txt").symlink_to(victim)
    write_file(tmp_path / "one.txt", b"new")
    assert victim.read_bytes() == b"mine"
    assert (tmp_path / "one.txt").read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_only_regular_files_are_read(tmp_path):
    (tmp_path / "one.txt").write_bytes(b"12345")
    assert read_regular_file(tmp_path / "one.txt", 5) == b"12345"
    with pytest.raises(OSError, match="at most 4"):
        read_regular_file(tmp_path / "one.txt", 4)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "one.txt")
    for name in ("pipe", "link"):
        with pytest.raises(OSError, match="a link, a pipe or a device"):
            read_regular_file(tmp_path / name, 10)
    with pytest.raises(OSError, match="a link, a pipe or a device"):
        open_regular(tmp_path, os.O_RDONLY)


def test_the_package_has_one_way_to_replace_a_file():
    """Whoever moves files into place elsewhere has to get names, links and permissions right once more."""
    package = Path(sev.__file__).parent
    moves = re.compile(r"os\.(replace|rename)\(|\.(replace|rename)\(target|mkstemp|NamedTemporaryFile|getpid\(\)}")
    found = [
        str(path.relative_to(package))
        for path in sorted(package.rglob("*.py"))
        if moves.search(path.read_text("utf-8")) and path.name != "_io.py"
    ]
    # on their way out of the package, with their own folders
    assert found == []


def test_every_file_is_written_in_the_one_way():
    """Read from the source: nothing else opens a file for writing."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if path.name == "_io.py" or not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            modes = [one.value for one in (*node.args[1:2], *(k.value for k in node.keywords)) if _is_text(one)]
            opens = name == "open" and any(set(mode) & set("wxa") for mode in modes)
            if name in ("write_text", "write_bytes") or opens:
                found.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert found == []


def _is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


@pytest.mark.parametrize("what", ["explanations", "reasons"])
def test_results_are_never_written_through_a_link(what, tmp_path):
    many = show_cases.loan_explainer().explain(show_cases.loans()[0][:20])
    codes = {name: {"code": "R", "text": name} for name in many.feature_names}
    secret = tmp_path / "elsewhere"
    secret.write_text("mine")
    target = tmp_path / ("out.json" if what == "explanations" else "reasons.csv")
    target.symlink_to(secret)
    if what == "explanations":
        many.to_json(target)
    else:
        reasons(many, codes).save(tmp_path)
    assert secret.read_text() == "mine"
    assert not target.is_symlink()
