"""Searches go on while another thread holds the GIL."""

import subprocess
import sys
import textwrap
import time

import pytest

#: The search may take 60 seconds, and the process ends as soon as there is an answer. A search asks for signals after a
#: few milliseconds of work; a quarter of a second of the processor is many times that.
PROGRAM = """
    import os, sys, threading, time
    import numpy as np
    sys.path[:0] = {path!r}
    from backends.trees.problems import with_limits
    from backends.trees.test_limits import Hand, chain, stump

    rng = np.random.default_rng(1)
    trees = [stump(column, -1.0) for column in range(40)]
    for _ in range(200):
        some = list(rng.choice(40, 3, replace=False))
        trees += [chain(some, 0.02), chain(some[:-1], -0.02), chain(some[:-1], 0.02), chain(some, -0.02)]
    model = Hand(trees, 40, 19.5)
    problem = with_limits(model.problem(np.zeros((1, 40)), np.ones((1, 40))), time_limit=60.0, max_sets=10**9)
    thread = threading.Thread(target=model.backend.solve, args=(problem,), daemon=True)
    thread.start()
    clock = time.pthread_getcpuclockid(thread.ident)
    while time.clock_gettime(clock) < 0.25:  # until it searches
        time.sleep(0.01)
    sys.setswitchinterval(1000.0)  # from here on this thread keeps the GIL
    begin, end = time.clock_gettime(clock), time.monotonic() + 20.0
    while time.clock_gettime(clock) - begin < 0.25 and time.monotonic() < end:
        pass
    print("went on" if time.monotonic() < end else "waited", flush=True)
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(time, "pthread_getcpuclockid"), reason="no clock of another thread")
def test_a_search_outside_the_main_thread_does_not_wait_for_the_gil():
    program = textwrap.dedent(PROGRAM).format(path=sys.path)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.strip() == "went on", done.stdout + done.stderr
