"""Rows per second, processor time and peak memory of batches on files, against the call in memory.

Rows of a synthetic table (ten numbers, four texts, no two rows alike) are written as Parquet with 100,000 rows a group.
Every measurement runs in a process of its own, so that its peak memory is its own. ``--rows`` takes millions:
``--rows 1 5 20`` is the full run. With ``--results`` what was measured before is not measured again, and with
``--folder`` the rows are kept, so that a long run can be done in pieces.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

N_NUMBERS, GROUP = 10, 100_000
WAYS = {"in memory": ("memory", 1), "files, 1 worker": ("file", 1), "files, 2 workers": ("file", 2)}


def rows(n_rows: int, seed: int) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    columns: dict[str, object] = {f"n{k}": generator.normal(size=n_rows).round(4) for k in range(N_NUMBERS)}
    for k in range(4):
        columns[f"t{k}"] = generator.choice([f"v{value}" for value in range(3 + k)], n_rows)
    return pd.DataFrame(columns)


def make_explainer(kind: str, path: Path) -> None:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    import sev

    frame = rows(20_000, 0)
    noise = np.random.default_rng(1).normal(size=len(frame))
    y = (frame["n0"] + frame["n1"] * (frame["t0"] == "v0") - frame["n2"] + noise > 0.5).astype(int)
    encode = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include=np.number)),
        (OneHotEncoder(sparse_output=False), make_column_selector(dtype_exclude=np.number)),
    )
    trees = GradientBoostingClassifier(n_estimators=200, max_depth=3, random_state=0)
    model = trees if kind == "trees" else LogisticRegression()
    sev.Explainer(make_pipeline(encode, model).fit(frame, y), frame, y).save(path)


def write_rows(n_rows: int, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    writer = None
    for number, first in enumerate(range(0, n_rows, GROUP)):
        table = pa.Table.from_pandas(rows(min(GROUP, n_rows - first), number + 2), preserve_index=False)
        writer = writer or pa.parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def cpu_seconds() -> float:
    """Of this process and its workers: unlike time on the clock, it hardly depends on what else the machine does."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def peak_mb() -> float:
    """Of the largest single process."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(one).ru_maxrss for one in whose) / 1024


def measure(way: str, archive: str, source: str, n_jobs: int) -> None:
    """Run in a process of its own; prints one JSON line."""
    import sev
    from sev.batch import explain_files

    sev.load(archive).explain(rows(2_000, 1)).to_frame()  # kernels are compiled once after an installation
    started, spent = time.perf_counter(), cpu_seconds()
    if way == "memory":
        n_rows = len(sev.load(archive).explain(pd.read_parquet(source)).to_frame())
    else:
        with tempfile.TemporaryDirectory(dir=Path(source).parent) as folder:
            n_rows = explain_files(archive, source, Path(folder) / "out", n_jobs=n_jobs).rows
    seconds = time.perf_counter() - started
    found = {
        "rows_per_second": n_rows / seconds,
        "seconds": seconds,
        "cpu": cpu_seconds() - spent,
        "peak_mb": peak_mb(),
    }
    print(json.dumps(found))


def run(way: str, archive: Path, source: Path, n_jobs: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", way, str(archive), str(source), str(n_jobs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def conditions() -> dict[str, Any]:
    import sklearn

    return {
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "scikit-learn": sklearn.__version__,
        "rows": "ten numbers and four texts, 100,000 rows a group",
    }


class Results:
    """Measurements so far, in a file if one is given."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        held = json.loads(path.read_text("utf-8")) if path is not None and path.exists() else {}
        self.measured: list[dict[str, Any]] = held.get("measured", [])

    def has(self, **what: Any) -> bool:
        return any(what.items() <= one.items() for one in self.measured)

    def add(self, entry: dict[str, Any]) -> None:
        self.measured.append(
            {name: round(value, 2) if type(value) is float else value for name, value in entry.items()}
        )
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps({"conditions": conditions(), "measured": self.measured}, indent=1) + "\n")


def measure_all(folder: Path, given: argparse.Namespace, results: Results) -> None:
    for millions in given.rows:
        for model in given.models:
            archive, source = folder / f"{model}.sev", folder / f"{millions:g}.parquet"
            for name, (way, n_jobs) in WAYS.items():
                n_rows = int(millions * 1_000_000)
                too_large = way == "memory" and millions > given.memory_up_to
                if too_large or n_jobs not in given.workers or results.has(model=model, rows=n_rows, way=name):
                    continue
                if not archive.exists():
                    make_explainer(model, archive)
                if not source.exists():
                    write_rows(n_rows, source)
                found = run(way, archive, source, n_jobs)
                results.add({"model": model, "rows": n_rows, "way": name, **found})
                print(
                    f"{model:8} {n_rows:12,} {name:18} {found['rows_per_second']:10,.0f} "
                    f"{found['seconds']:9.1f} {found['cpu']:8.1f} {found['peak_mb']:9,.0f}",
                    flush=True,
                )


def table(measured: list[dict[str, Any]]) -> str:
    """Measurements as a table for the documentation."""
    lines = ["| model | rows | way | rows per second | processor seconds per million rows | peak MB of a process |"]
    lines.append("| --- | ---: | --- | ---: | ---: | ---: |")
    for one in sorted(measured, key=lambda one: (one["model"], one["rows"], list(WAYS).index(one["way"]))):
        lines.append(
            f"| {one['model']} | {one['rows'] // 1_000_000} million | {one['way']} | {one['rows_per_second']:,.0f} "
            f"| {one['cpu'] / one['rows'] * 1e6:.1f} | {one['peak_mb']:,.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, nargs="+", default=[1.0], help="in millions")
    parser.add_argument("--models", nargs="+", default=["linear", "trees"])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--memory-up-to", type=float, default=5.0, help="largest call in memory, in millions of rows")
    parser.add_argument("--folder", type=Path, help="where rows are kept between runs; default: a temporary folder")
    parser.add_argument("--results", type=Path, help="JSON file of results; what it holds is not measured again")
    parser.add_argument("--table", action="store_true", help="measure nothing: print --results as a table")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        way, archive, source, n_jobs = given.measure
        measure(way, archive, source, int(n_jobs))
        return
    if given.table:
        print(table(Results(given.results).measured))
        return
    print(f"{'model':8} {'rows':>12} {'way':18} {'rows/s':>10} {'seconds':>9} {'cpu s':>8} {'peak MB':>9}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        measure_all(folder, given, Results(given.results))


if __name__ == "__main__":
    main()
