"""The page about production runs as it stands, in an empty folder."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("pyarrow")
PAGE = (Path(__file__).parents[2] / "docs" / "production.md").read_text(encoding="utf-8")
ENGINES = ("--engine", "explain_dask", "explain_ray", "explain_spark")  # run by tests/batch/test_engines.py


def blocks():
    return [(kind, code) for kind, code in re.findall(r"```(python|sh)\n(.*?)```", PAGE, re.S)]


@pytest.mark.skipif(os.name != "posix", reason="runs a shell")
def test_the_page_runs_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = tmp_path / "bin" / "sev"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sev.cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    path = os.pathsep.join([str(command.parent), os.environ["PATH"]])
    modules = os.pathsep.join(filter(None, [str(Path(__file__).parents[2] / "src"), os.environ.get("PYTHONPATH")]))
    names: dict[str, object] = {}
    for kind, code in blocks():
        if any(word in code for word in ENGINES):
            continue
        if kind == "python":
            exec(compile(code, "production.md", "exec"), names)
        else:
            env = {**os.environ, "PATH": path, "PYTHONPATH": modules}
            done = subprocess.run(["sh", "-ec", code], env=env, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (code, done.stdout, done.stderr)
    assert len(pd.read_parquet("reasons.parquet")) == 200
    assert len(Path("reasons.jsonl").read_text("utf-8").splitlines()) == 200
    assert json.loads(Path("reasons/_manifest.json").read_text("utf-8"))["finished"]["rows"] == 400
    assert json.loads(Path("log/2026-01-31.json").read_text("utf-8"))["rows"] == 200
    assert len(pd.read_csv("notices/2026-01-31/reasons_wide.csv")) > 0
