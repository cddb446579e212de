"""Batches larger than memory: parts, a manifest, resuming, and the engines that people already have."""

from sev._optional import name_missing

with name_missing("pyarrow", extra="batch", feature="Explaining files"):
    from sev.batch._batch import BatchResult, explain_files
    from sev.batch._cells import rows_of
    from sev.batch._frames import explain_dask, explain_ray, explain_spark
    from sev.batch._partition import PartitionExplainer
    from sev.batch._whole import read_frame, read_table

__all__ = [
    "BatchResult",
    "PartitionExplainer",
    "explain_dask",
    "explain_files",
    "explain_ray",
    "explain_spark",
    "read_frame",
    "read_table",
    "rows_of",
]
