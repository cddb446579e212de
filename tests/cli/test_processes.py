"""The command as a real process: pipes, signals, and what is left afterwards."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time

import pytest
from batch import tables
from files import loans

pytest.importorskip("pyarrow")
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


@pytest.mark.skipif(os.name != "posix", reason="sends a signal as a terminal does")
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(folder):
    frame = tables.applications(2_000)
    big = frame.iloc[[row % 2_000 for row in range(400_000)]]
    source = tables.write(big, folder / "big.parquet", 5_000)
    words = ["explain", "one.sev", source.name, "-o", "out"]
    process = subprocess.Popen(
        [*SEV, *words], cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    while not list((folder / "out").glob("part-*")) and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    started = time.monotonic()
    out, err = process.communicate(timeout=20)
    seconds = time.monotonic() - started
    assert process.returncode == 130
    assert seconds < 1.0 or os.getloadavg()[0] > os.cpu_count()  # a busy machine proves nothing
    assert "rows are done and kept" in err
    assert f"sev {shlex.join(words)}" in err
    assert not out
    done = len(list((folder / "out").glob("part-*")))
    assert 0 < done < 80
    again = subprocess.run([*SEV, *words, "--json"], cwd=folder, capture_output=True, text=True, check=True)
    assert json.loads(again.stdout)["rows"] == 400_000
    assert f"{done * 5_000:,} rows were done by an earlier run" in again.stderr
