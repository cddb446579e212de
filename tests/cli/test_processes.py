"""The command as a real process: pipes, signals, and what is left afterwards."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import pytest
from batch import tables
from files import loans

pytest.importorskip("pyarrow")
N_PARTS = 60
SEV = [sys.executable, "-m", "sev.cli"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("processes")
    loans.explainer().save(path / "one.sev")
    tables.write(tables.applications(60), path / "new.csv")
    return path


def test_pipes(folder):
    command = f"cat new.csv | {shlex.join(SEV)} explain one.sev - --json | head -n 1"
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["number"] == "00000"
    assert "Traceback" not in done.stderr


def _finished_parts(folder):
    """How many parts a batch has noted as finished. A worker may have written others that nobody has noted."""
    noted = folder / "_parts.jsonl"
    return noted.read_text().count("\n") if noted.exists() else 0


def _hear_ctrl_c():
    """Tests that run in the background of a shell are started deaf to Ctrl-C, and so would be the command."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.skipif(os.name != "posix", reason="sends a signal as a terminal does")
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(folder, jobs):
    frame = tables.applications(2_000)
    big = frame.iloc[[row % 2_000 for row in range(N_PARTS * 1_000)]]
    source = tables.write(big, folder / "big.parquet", 1_000)
    out = folder / f"out{jobs}"
    words = ["explain", "one.sev", source.name, "-o", out.name, "--jobs", str(jobs)]
    process = subprocess.Popen(
        [*SEV, *words],
        cwd=folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_hear_ctrl_c,
    )
    while not _finished_parts(out) and process.poll() is None:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    stdout, err = process.communicate(timeout=120)  # against a hang: a busy machine may take long
    assert process.returncode == 130
    assert "rows are done and kept" in err
    assert f"sev {shlex.join(words)}" in err
    assert "Traceback" not in err
    assert "leaked" not in err
    assert not stdout
    done = _finished_parts(out)
    assert 0 < done < N_PARTS
    kept = int(re.search(r"([\d,]+) rows are done and kept", err)[1].replace(",", ""))
    assert kept in (done * 1_000, (done - 1) * 1_000)  # interrupted just before it was counted
    again = subprocess.run([*SEV, *words, "--json"], cwd=folder, capture_output=True, text=True, check=True)
    assert json.loads(again.stdout)["rows"] == N_PARTS * 1_000
    left = (N_PARTS - done) * 1_000
    assert f"explained {left:,} rows ({done * 1_000:,} more were done by an earlier run)" in again.stderr
    assert f"explained {N_PARTS * 1_000:,} rows" not in again.stderr
