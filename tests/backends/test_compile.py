"""Kernels compiled by shortcuts are those that plain numba makes, and come from the cache without numba's compiler."""

import json
import os
import subprocess
import sys

import pytest

from sev import _compile

KERNEL = """
import json, sys
import numpy as np
from sev import _compile
{before}

@_compile.njit()
def power(base, exponent):
    made = np.empty(exponent)
    value, total = 1.0, 0.0
    for i in range(exponent):
        value *= base
        made[i] = value
    for i in range(exponent):
        total += made[i]
    return total

@_compile.njit("f8(f8, i8)")
def entry(base, exponent):
    return power(base, 2) + power(base, 3) + power(base, exponent)
"""
REPORT = """
import sums
print(json.dumps({"value": sums.entry(2.0, 4), "hits": len(sums.entry.stats.cache_hits),
                  "variants": len(sums.power.signatures), "compiler": "numba.np.linalg" in sys.modules}))
import numba, numpy as np
assert numba.njit(lambda n: np.ones(n).sum())(3) == 3.0  # others may still compile, and allocate
"""


def run(folder, before=""):
    """What a process says that imports the kernels, with its own cache folder."""
    (folder / "sums.py").write_text(KERNEL.replace("{before}", before))
    path = os.pathsep.join([str(folder), *sys.path])
    out = subprocess.run(
        [sys.executable, "-c", "import json, sys; " + REPORT.strip()],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": path},
    )
    assert out.returncode == 0, out.stderr
    return json.loads(out.stdout)


@pytest.fixture
def takes_shortcuts():
    if _compile._shortcuts() is None:
        pytest.skip("the shortcuts are for another series of numba")


@pytest.mark.usefixtures("takes_shortcuts")
def test_kernels_come_from_the_cache_without_the_compiler(tmp_path):
    first = run(tmp_path)
    assert first == {"value": 6.0 + 14.0 + 30.0, "hits": 0, "variants": 1, "compiler": True}
    assert run(tmp_path) == {**first, "hits": 1, "variants": 0, "compiler": False}


def test_plain_numba_makes_the_same_kernels(tmp_path):
    plain = run(tmp_path, before='_compile._SERIES = "none"')
    assert plain["value"] == 50.0
    assert plain["hits"] == 0


@pytest.mark.usefixtures("takes_shortcuts")
def test_garbage_is_collected_again_after_compiling():
    import gc

    shortcuts = _compile._shortcuts()
    with shortcuts.quick_typing():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), shortcuts.quick_typing():
        raise ZeroDivisionError
    assert gc.isenabled()
