"""Rows per second and peak memory of batches on files, against the call in memory.

Rows of a synthetic table (ten numbers, four texts) are written as Parquet with 100,000 rows a group. Every measurement
runs in a process of its own, so that its peak memory is its own. ``--rows`` takes millions: ``--rows 1 5 20`` is the
full run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

N_NUMBERS, GROUP = 10, 100_000


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
    model = GradientBoostingClassifier(n_estimators=200, max_depth=3) if kind == "trees" else LogisticRegression()
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


def peak_of(kind: str) -> float:
    import resource

    whose = resource.RUSAGE_CHILDREN if kind == "children" else resource.RUSAGE_SELF
    return resource.getrusage(whose).ru_maxrss / 1024


def cpu_seconds() -> float:
    """Of this process alone: unlike time on the clock, it hardly depends on what else the machine does."""
    return time.process_time()


def measure(way: str, archive: str, source: str, n_jobs: int) -> None:
    """Run in a process of its own; prints one JSON line."""
    import sev
    from sev.batch import explain_files

    sev.load(archive).explain(rows(2_000, 1)).to_frame()  # kernels are compiled once after an installation
    started, spent = time.perf_counter(), cpu_seconds()
    if way == "memory":
        n_rows = len(sev.load(archive).explain(pd.read_parquet(source)).to_frame())
    else:
        with tempfile.TemporaryDirectory() as folder:
            n_rows = explain_files(archive, source, Path(folder) / "out", n_jobs=n_jobs).rows
    seconds = time.perf_counter() - started
    peak = max(peak_of("self"), peak_of("children") if n_jobs > 1 else 0.0)
    found = {"rows_per_second": n_rows / seconds, "seconds": seconds, "cpu": cpu_seconds() - spent, "peak_mb": peak}
    print(json.dumps(found))


def run(way: str, archive: Path, source: Path, n_jobs: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", way, str(archive), str(source), str(n_jobs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, nargs="+", default=[1.0], help="in millions")
    parser.add_argument("--models", nargs="+", default=["linear", "trees"])
    parser.add_argument("--memory-up-to", type=float, default=5.0, help="largest call in memory, in millions of rows")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        way, archive, source, n_jobs = given.measure
        measure(way, archive, source, int(n_jobs))
        return
    print(f"{'model':8} {'rows':>12} {'way':18} {'rows/s':>10} {'seconds':>9} {'cpu s':>8} {'peak MB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for model in given.models:
            archive = Path(folder) / f"{model}.sev"
            make_explainer(model, archive)
            for millions in given.rows:
                source = Path(folder) / f"{millions}.parquet"
                if not source.exists():
                    write_rows(int(millions * 1_000_000), source)
                for way, n_jobs in (("memory", 1), ("file", 1), ("file", 2)):
                    if way == "memory" and millions > given.memory_up_to:
                        continue
                    found = run(way, archive, source, n_jobs)
                    name = "in memory" if way == "memory" else f"files, {n_jobs} worker{'s' if n_jobs > 1 else ''}"
                    print(
                        f"{model:8} {int(millions * 1e6):12,} {name:18} {found['rows_per_second']:10,.0f} "
                        f"{found['seconds']:9.1f} {found['cpu'] if n_jobs == 1 else float('nan'):8.1f} {found['peak_mb']:9,.0f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
