"""Where parts are worked on: this process, local workers, Dask, Ray or Spark.

Each engine maps one function over parts, in any order, and does the sharing out and the retrying in its own way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from importlib import import_module
from typing import Any, Literal

from sev._optional import require
from sev.batch._inputs import Part
from sev.exceptions import BatchError, InputError

EngineName = Literal["local", "dask", "ray", "spark"]
_FAILURES_IN_A_ROW = 3


class Queue:
    """Hands out parts and remembers those that are not finished, for workers that were killed."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = iter(parts)
        self._again: list[Part] = []
        self._unfinished: dict[str, Part] = {}
        self._lock = threading.Lock()  # joblib asks from its own threads

    def __iter__(self) -> Iterator[Part]:
        return self

    def __next__(self) -> Part:
        with self._lock:
            part = self._again.pop() if self._again else next(self._parts)
            self._unfinished[part.name] = part
            return part

    def finish(self, part: Part) -> None:
        """Forget a part."""
        with self._lock:
            self._unfinished.pop(part.name, None)

    def again(self) -> list[str]:
        """Hand out unfinished parts once more; gives their names."""
        with self._lock:
            self._again = list(self._unfinished.values())
            return sorted(self._unfinished)


def run(
    work: Callable[[Part], Part], parts: Iterable[Part], *, engine: EngineName, address: str | None, n_jobs: int
) -> Iterator[Part]:
    """Work on all parts; gives each as it is finished."""
    if engine not in _ENGINES:
        raise InputError(f"engine={engine!r} is not known: use one of {', '.join(_ENGINES)}.")
    if address is not None and engine == "local":
        raise InputError("address is for the engines dask, ray and spark; local has none.")
    return _ENGINES[engine](work, parts, address, n_jobs)


def _local(work: Callable[[Part], Part], parts: Iterable[Part], address: str | None, n_jobs: int) -> Iterator[Part]:
    if n_jobs == 1:
        yield from map(work, parts)
        return
    yield from _joblib(work, parts, n_jobs)


def _joblib(work: Callable[[Part], Part], parts: Iterable[Part], n_jobs: int) -> Iterator[Part]:
    """Share parts out over the active joblib backend, loky unless another is configured; what a killed worker had in
    hand is handed out again.
    """
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    queue, failures = Queue(parts), 0
    while True:
        try:
            workers = Parallel(n_jobs=n_jobs, prefer="processes", return_as="generator_unordered", batch_size=1)
            for part in workers(delayed(work)(part) for part in queue):
                queue.finish(part)
                failures = 0
                yield part
            return
        except BrokenProcessPool as error:
            failures += 1
            names = queue.again()
            if failures > _FAILURES_IN_A_ROW:
                raise BatchError(
                    f"Workers were killed {failures} times in a row while at {', '.join(names[:4])}; too little memory "
                    "is the usual cause. What is done is kept: run the same command again with fewer workers."
                ) from error


def _dask(work: Callable[[Part], Part], parts: Iterable[Part], address: str | None, n_jobs: int) -> Iterator[Part]:
    distributed = require("distributed", extra="engines", feature="The engine dask")
    import joblib

    with ExitStack() as stack:
        given = {"address": address} if address else {"n_workers": max(n_jobs, 1), "threads_per_worker": 1}
        stack.enter_context(distributed.Client(**given))
        stack.enter_context(joblib.parallel_config(backend="dask"))
        yield from _joblib(work, parts, -1)


def _ray(work: Callable[[Part], Part], parts: Iterable[Part], address: str | None, n_jobs: int) -> Iterator[Part]:
    ray = require("ray", extra="engines", feature="The engine ray")
    import_module("ray.data")
    waiting = _listed(parts, "ray")
    if not ray.is_initialized():
        ray.init(address=address) if address else ray.init(num_cpus=max(n_jobs, 1), include_dashboard=False)

    def one(row: dict[str, Any]) -> dict[str, Any]:
        work(waiting[row["id"]])
        return row

    data = ray.data.range(len(waiting), override_num_blocks=max(len(waiting), 1))
    yield from (waiting[row["id"]] for row in data.map(one).iter_rows())


def _spark(work: Callable[[Part], Part], parts: Iterable[Part], address: str | None, n_jobs: int) -> Iterator[Part]:
    require("pyspark", extra="engines", feature="The engine spark")
    from pyspark.sql import SparkSession

    waiting = _listed(parts, "spark")
    session = SparkSession.builder.master(address or f"local[{max(n_jobs, 1)}]").appName("sev").getOrCreate()
    numbers = session.sparkContext.parallelize(range(len(waiting)), max(len(waiting), 1))
    yield from (waiting[number] for number in numbers.map(lambda n: (work(waiting[n]), n)[1]).toLocalIterator())


def _listed(parts: Iterable[Part], engine: str) -> list[Part]:
    listed = []
    for part in parts:
        if len(part.source) == 1:
            raise InputError(
                f"{part.label} can only be read from its start, which the engine {engine} cannot share out: use the "
                "engines local or dask, or write the table as Parquet first."
            )
        listed.append(part)
    return listed


_ENGINES: dict[str, Callable[..., Iterator[Part]]] = {"local": _local, "dask": _dask, "ray": _ray, "spark": _spark}
