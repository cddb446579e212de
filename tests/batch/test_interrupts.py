"""Ctrl-C at awkward moments: no traceback of a thread, no work that is lost, no worker that stays."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from sev.batch import _engines
from sev.batch._inputs import Part, RowGroup


@pytest.fixture(autouse=True)
def hears_ctrl_c():
    """A shell starts what it runs in the background deaf to Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends signals")


def parts(count):
    return [Part(f"part-{number}", "in", number, 1, RowGroup("in", "parquet", number)) for number in range(count)]


class Work:
    """The first part is done at once; the others take longer than any test."""

    def __call__(self, part):
        time.sleep(0.0 if part.first_row == 0 else 60.0)
        return part


@pytest.fixture
def failed_threads(monkeypatch):
    failed = []
    monkeypatch.setattr(threading, "excepthook", lambda args: failed.append(args.exc_value))
    return failed


def test_ctrl_c_before_the_last_part_is_passed_on(monkeypatch, failed_threads):
    """On a loaded machine the manager thread may be told to stop before it has passed on what was submitted."""
    from joblib.externals.loky import process_executor

    manager = process_executor._ExecutorManagerThread
    real, slow = manager.is_shutting_down, threading.Event()

    def look_late(self):
        if slow.is_set():  # woken by a part that was submitted just now
            slow.clear()
            os.kill(os.getpid(), signal.SIGINT)
            give_up = time.monotonic() + 2.0
            while not self.executor_flags.shutdown and time.monotonic() < give_up:
                time.sleep(0.01)
        return real(self)

    monkeypatch.setattr(manager, "is_shutting_down", look_late)
    run = _engines._run_on_loky(Work(), parts(50), 2)
    next(run)
    slow.set()
    with pytest.raises(KeyboardInterrupt):
        next(run)  # submits one part more, and waits
    assert failed_threads == []


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="gives a signal to one thread")
def test_ctrl_c_that_another_thread_is_given_ends_the_wait():
    run = _engines._run_on_loky(Work(), parts(50), 2)
    next(run)

    def take_the_signal():
        time.sleep(0.5)  # until the main thread waits
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    threading.Thread(target=take_the_signal).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        next(run)
    assert time.monotonic() - begin < 30  # a part takes 60 seconds


def test_ctrl_c_waits_while_it_is_held():
    seen = []

    def interrupted():
        with _engines.holding_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            seen.append("went on")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert seen == ["went on"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_nothing_is_held_in_other_threads():
    failed = []

    def hold():
        try:
            with _engines.holding_interrupts():
                pass
        except ValueError as error:  # signals can be set in the main thread only
            failed.append(error)

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert failed == []


def test_workers_do_not_hear_ctrl_c_even_while_they_start():
    """A terminal sends it to all processes of a group. In a process of its own, which has started no worker before."""
    code = (
        "from batch import test_interrupts as t; "
        "print([p.label for p in t._engines._run_on_loky(t.Blocked(), t.parts(2), 2)])"
    )
    folders = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.stdout == "['blocked', 'blocked']\n", done.stderr


class Blocked:
    def __call__(self, part):
        blocked = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
        return replace(part, label="blocked" if blocked else "open")
