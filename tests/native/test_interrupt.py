"""Ctrl-C ends a search that runs in compiled code, soon."""

import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import signal, sys, threading, time
    import numpy as np
    sys.path[:0] = {path!r}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the process that runs the tests does with it
    from backends.trees.test_limits import Hand, chain, stump
    from backends.trees.problems import with_limits
    from sev.backends.trees.search import plan

    rng = np.random.default_rng(1)
    trees = [stump(column, -1.0) for column in range(40)]
    for _ in range(200):
        some = list(rng.choice(40, {width}, replace=False))
        trees += [chain(some, 0.02), chain(some[:-1], -0.02), chain(some[:-1], 0.02), chain(some, -0.02)]
    model = Hand(trees, 40, 19.5)
    problem = with_limits(model.problem(np.zeros((1, 40)), np.ones((1, 40))), time_limit=100.0, max_sets=10**9)
    began = []

    def interrupt():
        time.sleep(1.0)
        began.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    try:
        model.backend.solve(problem)
        print("ended")
    except KeyboardInterrupt:
        print("interrupted", time.perf_counter() - began[0])
"""


@pytest.mark.parametrize("width", [3, 6], ids=["tables of triples", "branch and bound"])
def test_a_long_search_is_interrupted(width):
    program = textwrap.dedent(PROGRAM).format(path=sys.path, width=width)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.startswith("interrupted"), done.stdout + done.stderr
