"""Solvers get machine code without numba; where they cannot, numba makes the same answers and somebody is told."""

import json
import os
import subprocess
import sys
import time

import pytest

from sev.kernels import _archive, _load, source

EXPLAIN = """
import json, sys, warnings
import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
import sev
rows = np.random.default_rng(0).normal(size=(400, 14))
y = (rows.sum(axis=1) + 0.5 * rows[:, 0] * rows[:, 1] > 0).astype(int)
sets = []
for model in (LogisticRegression(), GradientBoostingClassifier(n_estimators=20), RandomForestClassifier(30)):
    model.set_params(random_state=0)
    explainer = sev.Explainer(model.fit(rows, y), rows, y)
    for kind in ("minus", "plus"):
        found = explainer.explain(rows[:60], kind=kind)
        sets.append([[list(one) for one in row.sets] for row in found])
print(json.dumps({"sets": sets, "numba": "numba" in sys.modules}))
"""


def explain(folder, **environment):
    """What a process with its own cache answers, and what it logs."""
    out = subprocess.run(
        [sys.executable, "-c", EXPLAIN],
        capture_output=True,
        text=True,
        env={**os.environ, "SEV_CACHE_DIR": str(folder), "NUMBA_CACHE_DIR": str(folder), **environment},
    )
    assert out.returncode == 0, out.stderr
    return json.loads(out.stdout), out.stderr


def test_archives_and_numba_give_the_same_answers(tmp_path):
    quick, _ = explain(tmp_path / "quick")
    assert quick["numba"] is False
    assert max(len(sets) for kind in quick["sets"] for sets in kind) > 1
    names = {path.name.partition("-")[0].rpartition("backends.")[2] for path in (tmp_path / "quick").iterdir()}
    assert {"linear._kernels", "trees._kernels", "trees._wide"} <= names
    slow, _ = explain(tmp_path / "slow", SEV_KERNELS="numba")
    assert slow == {**quick, "numba": True}
    # Python then fills what it allocates with odd numbers, and watches both ends of it: nothing is read before it is
    # set, and nothing written outside.
    assert explain(tmp_path / "quick", PYTHONMALLOC="debug")[0] == quick


def test_what_cannot_be_used_is_compiled_by_numba_and_said(monkeypatch, caplog):
    with monkeypatch.context() as patch:
        patch.setattr(_archive, "digest_of", lambda *_: "another")
        kernels = _load._load.__wrapped__("sev.backends.linear._kernels", 2.0)
    assert kernels.__name__ == "sev.backends.linear._kernels"
    assert "linear._kernels with numba, which takes longer: their sources have changed" in caplog.text

    def refuses(*_):
        raise RuntimeError("LLVM is\ntoo old\n")

    monkeypatch.setattr("sev.kernels._machine.load", refuses)
    assert _load._from_archive("sev.backends.linear._kernels") is None
    assert "RuntimeError: LLVM is too old" in caplog.text
    monkeypatch.undo()
    archive = _archive.read(_archive.path_of("sev.backends.linear._kernels"))
    monkeypatch.setattr(_archive, "read", lambda _: archive._replace(kernels={"forgotten": ["int64"]}))
    assert _load._from_archive("sev.backends.linear._kernels") is None
    assert "LookupError: no machine code for forgotten" in caplog.text


def test_numba_compiles_where_it_has_no_folder_to_keep_anything():
    defined = {}
    exec("def add(a, b):\n    return a + b", defined)  # numba finds no folder for what is in no file
    with pytest.raises(RuntimeError, match="no locator"):
        source.compiled(cache=True)(defined["add"])
    assert source.njit("int64", "int64")(defined["add"])(2, 3) == 5


def test_nobody_waits_in_silence(monkeypatch, caplog):
    def wait_for_a_word(module):
        end = time.monotonic() + 30
        while not caplog.records and time.monotonic() < end:
            time.sleep(0.01)
        return module

    monkeypatch.setattr(_load, "_from_archive", wait_for_a_word)
    assert _load._load.__wrapped__("some.kernels", 0.01) == "some.kernels"
    assert "sev is compiling its search kernels" in caplog.text
    caplog.clear()
    monkeypatch.setattr(_load, "_from_archive", lambda module: module)
    assert _load._load.__wrapped__("some.kernels", 60.0) == "some.kernels"
    assert not caplog.records


@pytest.mark.parametrize("module", ["sev.backends.linear._nothing"])
def test_kernels_that_do_not_exist(module):
    with pytest.raises(ModuleNotFoundError):
        _load.load_kernels(module)
