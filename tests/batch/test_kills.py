"""Kill -9, many times, at random moments: no row is lost or done twice, and the results are those of a quiet run."""

import multiprocessing
import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest
from batch import tables

from sev.batch import explain_files

N_PARENTS = 45
N_WORKERS = 5
ROWS, GROUP = 24_000, 600


@pytest.fixture(scope="module")
def quiet(archive, tmp_path_factory):
    """The input, what an undisturbed run gives, and a server that forks ready processes."""
    folder = tmp_path_factory.mktemp("kills")
    frame = tables.applications(2_000)
    big = frame.iloc[[row % len(frame) for row in range(ROWS)]].assign(number=[f"{row:06d}" for row in range(ROWS)])
    source = tables.write(big, folder / "in.parquet", GROUP)
    explain_files(archive, source, folder / "quiet")
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(["batch.warm"])
    return folder, source, tables.results(folder / "quiet"), server


def assert_as_quiet(folder, wanted):
    assert not list(folder.glob(".*"))
    assert tables.results(folder).equals(wanted)


def runs(server, archive, source, out, n_jobs):
    process = server.Process(target=explain_files, args=(archive, source, out), kwargs={"n_jobs": n_jobs})
    process.start()
    return process


@pytest.mark.skipif(sys.platform != "linux", reason="looks for workers in /proc")
def test_parents_are_killed(archive, quiet):
    folder, source, wanted, server = quiet
    generator = random.Random(0)
    started = time.monotonic()
    first = runs(server, archive, source, folder / "timed", 1)
    first.join()
    whole = time.monotonic() - started
    kills = rounds = 0
    while kills < N_PARENTS:
        out = folder / f"out{rounds}"
        process = runs(server, archive, source, out, 1)
        process.join(generator.uniform(0.0, min(whole, 0.8)))
        process.kill()  # one that has ended, perhaps in this very moment, is not disturbed
        process.join()
        if process.exitcode == -signal.SIGKILL:
            kills += 1
        else:
            assert process.exitcode == 0
            assert_as_quiet(out, wanted)
            rounds += 1
    explain_files(archive, source, folder / f"out{rounds}")
    assert_as_quiet(folder / f"out{rounds}", wanted)


def workers_of(pid):
    """Processes that a process has started to work for it."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == pid and b"loky" in line and b"resource_tracker" not in line:
            found.append(int(entry.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks for workers in /proc")
def test_workers_are_killed(archive, quiet):
    folder, source, wanted, server = quiet
    generator = random.Random(1)
    kills, rounds = 0, 0
    while kills < N_WORKERS:
        out = folder / f"workers{rounds}"
        process = runs(server, archive, source, out, 2)
        done = 0
        while process.is_alive() and kills < N_WORKERS:
            time.sleep(0.02)
            parts = len(list(out.glob("part-*"))) if out.exists() else 0
            if parts <= done:
                continue  # let them finish something between two kills, as the limit on failures in a row asks for
            time.sleep(generator.uniform(0.0, 0.1))
            for pid in workers_of(process.pid)[: generator.randrange(1, 3)]:
                os.kill(pid, signal.SIGKILL)
                kills += 1
            done = len(list(out.glob("part-*")))
        process.join()
        assert process.exitcode == 0
        assert_as_quiet(out, wanted)
        rounds += 1
    assert kills >= N_WORKERS
