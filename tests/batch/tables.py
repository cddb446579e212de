"""Rows with an application number, the explainer of their model, and its answers in memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from files import loans

from sev.batch._formats import TableFormat
from sev.batch._writers import write_tables


def applications(n_rows=250, seed=3):
    frame = loans.rows(n_rows, seed)
    frame.insert(0, "number", [f"{row:05d}" for row in range(n_rows)])
    return frame.astype({"home": str})


def write(frame, path, row_group_size=100):
    """A table in the format that the path's ending tells."""
    suffixes = path.name.split(".")[1:]
    packed = {"gz": "gzip", "zst": "zstd"}.get(suffixes[-1])
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pieces = [table.slice(first, row_group_size) for first in range(0, len(frame), row_group_size)]
    write_tables(path, TableFormat(suffixes[0], packed), table.schema, pieces)
    return path


def expected(explainer, frame, **options):
    """What a call in memory gives, with the columns that files have."""
    many = explainer.explain(frame, **options)
    told = many.to_frame()
    return pd.DataFrame(
        {
            "number": frame["number"].to_numpy(),
            "status": told["status"].to_numpy(),
            "size": told["size"].to_numpy(),
            "features": list(told["features"]),
            "n_sets": told["n_sets"].to_numpy(),
            "score": told["score"].to_numpy(),
            "result_score": told["result_score"].to_numpy(),
        }
    )


def results(path):
    """Results on disk, in the order of the input."""
    if path.is_dir():
        parts = [pa.parquet.read_table(one, partitioning=None) for one in sorted(path.glob("part-*.parquet"))]
        table = pa.concat_tables(parts)
    else:
        table = pa.parquet.read_table(path)
    return table


def assert_same(table, wanted):
    assert table.column("number").to_pylist() == wanted["number"].tolist()
    assert table.column("status").to_pylist() == wanted["status"].tolist()
    found = [tuple(features or ()) for features in table.column("features").to_pylist()]
    assert found == wanted["features"].tolist()
    for name in ("size", "n_sets", "score", "result_score"):
        mine = table.column(name).to_pandas().to_numpy(dtype=float, na_value=np.nan)
        np.testing.assert_array_equal(mine, wanted[name].to_numpy(dtype=float))
