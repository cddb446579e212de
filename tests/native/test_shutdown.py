"""The end of a process that still holds native objects."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_HELD_BY_A_DAEMON = """
import threading
from sev import _native

held = _native.ProofEffort(5, 1, 1)
threading.Thread(target=lambda one: threading.Event().wait(), args=(held,), daemon=True).start()
"""


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="a build with sanitizers reports them")
def test_objects_of_daemon_threads_are_not_reported_when_python_ends() -> None:
    ended = subprocess.run([sys.executable, "-c", _HELD_BY_A_DAEMON], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
