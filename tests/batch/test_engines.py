"""Dask, Ray and Spark give the bytes that local work gives; ``make test-engines`` runs all, on rows of Adult."""

import contextlib
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from batch import tables
from files import loans
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import sev
from sev.batch import PartitionExplainer, explain_dask, explain_files, explain_ray, explain_spark

pytestmark = pytest.mark.filterwarnings("ignore")  # engines warn about themselves
N_ROWS = int(os.environ.get("SEV_ENGINE_ROWS", "4000"))
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def background():
    """Adult, where its data are; else the rows of the other tests."""
    if "SEV_DATA_HOME" not in os.environ:
        return loans.rows().astype({"home": str}), loans.labels(loans.rows())
    rows, labels = sev.datasets.fetch_adult(return_X_y=True)
    return rows, np.asarray(labels)


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    folder = tmp_path_factory.mktemp("engines")
    rows, labels = background()
    numbers = make_column_selector(dtype_include=np.number)
    encode = make_column_transformer(
        (StandardScaler(), numbers),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude=np.number)),
    )
    rows = rows.assign(**{name: rows[name].astype(str) for name in rows.columns if rows[name].dtype.kind not in "fiu"})
    rows = rows.fillna({name: 0 for name in rows.columns if rows[name].dtype.kind == "f"})
    explainer = sev.Explainer(make_pipeline(encode, LogisticRegression(max_iter=500)).fit(rows, labels), rows, labels)
    explainer.save(folder / "one.sev")
    chosen = np.random.default_rng(0).integers(0, len(rows), N_ROWS)
    many = rows.iloc[chosen].reset_index(drop=True)
    many.insert(0, "number", np.arange(N_ROWS))
    source = tables.write(many, folder / "in.parquet", max(1, N_ROWS // 20))
    explain_files(folder / "one.sev", source, folder / "local", keep=["number"])
    return folder, source, explainer


def part_bytes(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("part-*.parquet"))}


def assert_same_bytes(folder, name):
    mine, wanted = part_bytes(folder / name), part_bytes(folder / "local")
    assert len(wanted) == 20
    assert mine == wanted


def assert_same_rows(folder, found):
    """Frames come in the engine's own types and order: put both in order, then compare every cell."""
    wanted = tables.results(folder / "local").drop_columns(["row"])
    table = pa.table(found) if not isinstance(found, pa.Table) else found
    table = table.select(wanted.column_names).cast(wanted.schema).sort_by("number")
    assert table.equals(wanted)


def kill_soon(pids, folder):
    """Kill one of some processes once the first part is there."""

    def wait_and_kill():
        while not list(folder.glob("part-*")):
            time.sleep(0.05)
        os.kill(pids()[0], signal.SIGKILL)

    thread = threading.Thread(target=wait_and_kill, daemon=True)
    thread.start()
    return thread


def test_dask_runs_parts_and_survives_a_killed_worker(batch):
    distributed = pytest.importorskip("distributed", reason="dask is not installed: make test-engines")
    folder, source, _ = batch
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        thread = kill_soon(lambda: pids, folder / "dask")
        options = {"engine": "dask", "address": cluster.scheduler_address, "keep": ["number"]}
        result = explain_files(folder / "one.sev", source, folder / "dask", **options)
        thread.join(30)
        assert not thread.is_alive()
    assert result.rows == N_ROWS
    assert_same_bytes(folder, "dask")


def test_dask_frames(batch):
    pytest.importorskip("dask.dataframe", reason="dask is not installed: make test-engines")
    import dask.dataframe

    folder, source, explainer = batch
    frame = dask.dataframe.read_parquet(source, split_row_groups=5)
    found = explain_dask(frame, PartitionExplainer.of(explainer, keep=["number"])).compute(scheduler="synchronous")
    assert_same_rows(folder, pa.Table.from_pandas(found, preserve_index=False))


@pytest.fixture(scope="module")
def ray():
    package = pytest.importorskip("ray", reason="ray is not installed: make test-engines")
    package.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False)
    yield package
    package.shutdown()


def test_ray_runs_parts_and_survives_a_killed_worker(batch, ray):
    psutil = pytest.importorskip("psutil")
    folder, source, _ = batch

    def workers():
        below = psutil.Process().children(recursive=True)
        return [one.pid for one in below if " ".join(one.cmdline()).startswith("ray::Map")]

    thread = kill_soon(workers, folder / "ray")
    result = explain_files(folder / "one.sev", source, folder / "ray", engine="ray", keep=["number"])
    thread.join(30)
    assert not thread.is_alive()
    assert result.rows == N_ROWS
    assert_same_bytes(folder, "ray")


def test_ray_frames(batch, ray):
    import ray.data

    folder, source, explainer = batch
    found = explain_ray(ray.data.read_parquet(str(source)), PartitionExplainer.of(explainer, keep=["number"]))
    assert_same_rows(folder, pa.concat_tables(ray.get(found.to_arrow_refs())))


@pytest.fixture(scope="module")
def spark():
    pytest.importorskip("pyspark", reason="pyspark is not installed: make test-engines")
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    yield session
    session.stop()


def test_spark_runs_parts(batch, spark):
    folder, source, _ = batch
    result = explain_files(folder / "one.sev", source, folder / "spark", engine="spark", n_jobs=2, keep=["number"])
    assert result.rows == N_ROWS
    assert_same_bytes(folder, "spark")


def test_spark_frames(batch, spark):
    folder, source, explainer = batch
    found = explain_spark(spark.read.parquet(str(source)), PartitionExplainer.of(explainer, keep=["number"]))
    assert_same_rows(folder, found.toArrow())


def test_streams_are_not_shared_out_where_they_cannot_be(batch, spark, tmp_path):
    folder, _, _ = batch
    rows, _ = background()
    path = tables.write(rows.head(5), tmp_path / "in.csv")
    with pytest.raises(sev.exceptions.InputError, match="Parquet first"):
        explain_files(folder / "one.sev", path, tmp_path / "out", engine="spark")


def test_partitions_are_pure(batch):
    """The same rows give the same results in any partition, and the explainer travels by pickle."""
    import pickle

    _, source, explainer = batch
    rows = pd.read_parquet(source).head(400)
    explain = pickle.loads(pickle.dumps(PartitionExplainer.of(explainer, keep=["number"])))
    whole = explain(rows)
    pieces = pd.concat([explain(rows.iloc[first : first + 37]) for first in range(0, 400, 37)])
    pd.testing.assert_frame_equal(whole, pieces)
    assert whole.index.equals(rows.index)


@pytest.fixture(scope="module")
def documented(tmp_path_factory):
    """The code of the page about batches: what it has before the engines, as names, and the example of each engine."""
    page = Path(__file__).parents[2] / "docs" / "production.md"
    before, _, after = page.read_text(encoding="utf-8").partition("## 4. Spark, Dask and Ray")
    names = {}
    with contextlib.chdir(tmp_path_factory.mktemp("page")):
        for code in re.findall(r"```python\n(.*?)```", before.partition("## 2.")[0], re.S):
            exec(compile(code, "production.md", "exec"), names)
    examples = re.findall(r"```python\n(.*?)```", after.partition("## 5.")[0], re.S)
    return names, {code.rpartition("import explain_")[2].split()[0]: code for code in examples}


@pytest.mark.parametrize("engine", ["spark", "dask", "ray"])
def test_the_example_of_the_documentation_runs(documented, engine, request, capfd):
    request.getfixturevalue(engine) if engine != "dask" else pytest.importorskip("dask.dataframe")
    names, examples = documented
    exec(compile(examples[engine], "production.md", "exec"), dict(names))
    assert "A0002" in capfd.readouterr().out
