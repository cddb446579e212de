"""Frames of Dask, Ray and Spark in, the engine's own frames of results out: thin calls of the engine's own map."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Unpack

import pandas as pd
import pyarrow as pa

from sev.batch._partition import PartitionExplainer, PartitionOptions
from sev.exceptions import OptionError

if TYPE_CHECKING:
    from dask.dataframe import DataFrame as DaskFrame
    from pyspark.sql import DataFrame as SparkFrame
    from ray.data import Dataset

    from sev.explainers import Explainer


def explain_dask(
    frame: DaskFrame, explainer: Explainer | PartitionExplainer, **options: Unpack[PartitionOptions]
) -> DaskFrame:
    """Explain the rows of a ``dask.dataframe``, lazily.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        Rows to explain.
    explainer : Explainer or PartitionExplainer
        The explainer.
    **options
        As for :class:`PartitionExplainer`.

    Returns
    -------
    dask.dataframe.DataFrame
        Results, partitioned and indexed like the rows.

    Examples
    --------
    >>> import dask.dataframe  # doctest: +SKIP
    >>> frame = dask.dataframe.from_pandas(applicants, npartitions=8)  # doctest: +SKIP
    >>> results = sev.batch.explain_dask(frame, explainer, max_sets=1).compute()  # doctest: +SKIP
    """
    explain = _as_partition(explainer, options)
    given = pa.Schema.from_pandas(frame._meta, preserve_index=False)
    meta = explain.schema(given).empty_table().to_pandas(types_mapper=pd.ArrowDtype)
    meta.index = frame._meta.index
    apply: Callable[..., DaskFrame] = frame.map_partitions  # which carries no types
    return apply(explain, meta=meta)


def explain_ray(
    data: Dataset, explainer: Explainer | PartitionExplainer, **options: Unpack[PartitionOptions]
) -> Dataset:
    """Explain the rows of a ``ray.data.Dataset``, lazily.

    Parameters
    ----------
    data : ray.data.Dataset
        Rows to explain.
    explainer : Explainer or PartitionExplainer
        The explainer.
    **options
        As for :class:`PartitionExplainer`.

    Returns
    -------
    ray.data.Dataset
        Results; Ray keeps the order of rows only when its own option says so.

    Examples
    --------
    >>> import ray  # doctest: +SKIP
    >>> results = sev.batch.explain_ray(ray.data.from_pandas(applicants), explainer).to_pandas()  # doctest: +SKIP
    """
    explain = _as_partition(explainer, options)
    return data.map_batches(explain.arrow, batch_format="pyarrow", zero_copy_batch=True)


def explain_spark(
    frame: SparkFrame, explainer: Explainer | PartitionExplainer, **options: Unpack[PartitionOptions]
) -> SparkFrame:
    """Explain the rows of a Spark DataFrame, lazily.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Rows to explain.
    explainer : Explainer or PartitionExplainer
        The explainer.
    **options
        As for :class:`PartitionExplainer`.

    Returns
    -------
    pyspark.sql.DataFrame
        Results.

    Examples
    --------
    >>> frame = spark.read.parquet("applicants.parquet")  # doctest: +SKIP
    >>> results = sev.batch.explain_spark(frame, explainer, max_sets=1)  # doctest: +SKIP
    >>> results.write.parquet("reasons.parquet")  # doctest: +SKIP
    """
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    explain = _as_partition(explainer, options)
    schema = explain.schema(to_arrow_schema(frame.schema))

    def explained(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from explain.arrow(pa.Table.from_batches([batch])).cast(schema).to_batches()

    return frame.mapInArrow(explained, from_arrow_schema(schema))


def _as_partition(explainer: Explainer | PartitionExplainer, options: PartitionOptions) -> PartitionExplainer:
    if not isinstance(explainer, PartitionExplainer):
        return PartitionExplainer.of(explainer, **options)
    if options:
        raise OptionError(
            f"{', '.join(options)} cannot be passed beside a PartitionExplainer, which has its options already: "
            "pass them to PartitionExplainer.of instead."
        )
    return explainer
