"""Batches larger than memory: parts, a manifest, resuming, and the engines that people already have."""

from sev._optional import require

require("pyarrow", extra="batch", feature="Explaining files")

from sev.batch._batch import BatchResult, explain_files  # noqa: E402
from sev.batch._cells import rows_of  # noqa: E402
from sev.batch._frames import explain_dask, explain_ray, explain_spark  # noqa: E402
from sev.batch._inputs import input_files, n_rows_of  # noqa: E402
from sev.batch._partition import PartitionExplainer  # noqa: E402
from sev.batch._streaming import explain_stream  # noqa: E402
from sev.batch._whole import read_frame, read_table  # noqa: E402

__all__ = [
    "BatchResult",
    "PartitionExplainer",
    "explain_dask",
    "explain_files",
    "explain_ray",
    "explain_spark",
    "explain_stream",
    "input_files",
    "n_rows_of",
    "read_frame",
    "read_table",
    "rows_of",
]
