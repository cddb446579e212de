"""Where parts are worked on: this process, local workers, Dask, Ray or Spark.

Each engine maps one function over parts, in any order, and distributes and retries in its own way.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, contextmanager
from importlib import import_module
from types import FrameType
from typing import Any, Literal

from sev._optional import require
from sev.batch._inputs import Finished, HeldTable, Part
from sev.core import list_names
from sev.exceptions import BatchError, InputError

EngineName = Literal["local", "dask", "ray", "spark"]
_FAILURES_IN_A_ROW = 3
#: Seconds. Ctrl-C does not end a wait that begins just after it, or one during which another thread gets the signal.
_LONGEST_WAIT = 0.1
_SECONDS_TO_PASS_ON = 10.0


def run(
    work: Callable[[Part], Part], parts: Iterable[Part], *, engine: EngineName, address: str | None, n_jobs: int
) -> Iterator[Part]:
    """Work on all parts; yields each as it is finished, in any order."""
    if engine not in _ENGINES:
        raise InputError(f"engine={engine!r} is not known: use one of {', '.join(_ENGINES)}.")
    if address is not None and engine == "local":
        raise InputError("address is for the engines dask, ray and spark; local has none.")
    return _ENGINES[engine](work, parts, address, n_jobs)


def _run_locally(
    work: Callable[[Part], Part], parts: Iterable[Part], address: str | None, n_jobs: int
) -> Iterator[Part]:
    from joblib import effective_n_jobs
    from joblib.parallel import get_active_backend

    if type(get_active_backend()[0]).__name__ not in ("LokyBackend", "ThreadingBackend", "SequentialBackend"):
        return _run_on_joblib(work, parts)  # the user has configured another backend
    n_workers = effective_n_jobs(n_jobs)
    return map(work, parts) if n_workers == 1 else _run_on_loky(work, parts, n_workers)


def _run_on_loky(work: Callable[[Part], Part], parts: Iterable[Part], n_workers: int) -> Iterator[Part]:
    """Distribute parts over local processes; those of a killed worker are distributed again."""
    from joblib.externals.loky import ProcessPoolExecutor
    from joblib.externals.loky.process_executor import BrokenProcessPool

    waiting, again, failures = iter(parts), list[Part](), 0
    _start_resource_tracker()
    while True:
        executor = ProcessPoolExecutor(
            n_workers, env=_threads_each(n_workers), initializer=_end_with, initargs=(os.getpid(),)
        )
        in_hand: dict[Future[Part], Part] = {}
        try:
            while True:
                # one part ahead for each worker: enough to keep it busy, and little in memory
                while len(in_hand) < 2 * n_workers and (again or _take_next(waiting, again)):
                    with holding_interrupts():
                        in_hand[executor.submit(work, again[-1])] = again[-1]
                    again.pop()  # only now: submitting may fail, too
                if not in_hand:
                    return
                finished: Collection[Future[Part]] = ()
                while not finished:
                    finished, _ = wait(in_hand, timeout=_LONGEST_WAIT, return_when=FIRST_COMPLETED)
                for future in finished:
                    done = future.result()
                    del in_hand[future]
                    failures = 0
                    yield done
        except BrokenProcessPool as error:
            again.extend(in_hand.values())
            failures += 1
            if failures > _FAILURES_IN_A_ROW:
                names = list_names(sorted(part.name for part in again), 4)
                raise BatchError(
                    f"Workers were killed {failures} times in a row while working on {names}; the usual cause is "
                    "too little memory. What is done is kept: run the same command again with fewer workers."
                ) from error
        finally:
            with holding_interrupts():
                _end_workers(executor, list(in_hand))


@contextmanager
def holding_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait until the block has ended.

    An executor that is interrupted while it takes work or starts workers is left with work that nobody knows of.
    Workers that are started in the block do not receive Ctrl-C at all, not even before they ignore it themselves:
    they inherit which signals are blocked.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is None:
        yield  # signals come to the main thread only
        return
    received: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda *arguments: received.append(arguments))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
        if received and callable(before):
            before(*received[0])


def _start_resource_tracker() -> None:
    """Start the process with which workers share their semaphores before the workers themselves.

    Python lets signals through again after it has started it: workers that are started along with it would receive
    Ctrl-C.
    """
    if os.name == "posix":
        from multiprocessing.resource_tracker import ensure_running

        ensure_running()


def _end_workers(executor: Any, in_hand: list[Future[Part]]) -> None:
    """Kill an executor's workers at once, whatever they are doing.

    loky's manager thread fails with a KeyError if it is told to stop while it still has work to pass on: it first
    forgets all work, then looks for the work that it has not passed on yet. So wait until everything is passed on,
    which takes milliseconds: the queue to the workers can take all that is in hand.
    """
    give_up = time.monotonic() + _SECONDS_TO_PASS_ON
    while time.monotonic() < give_up and not all(future.running() or future.done() for future in in_hand):
        time.sleep(0.001)
    executor.shutdown(wait=True, kill_workers=True)


def _end_with(parent: int) -> None:
    """Make a worker end soon after its parent, which may have been killed suddenly, and leave Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _take_next(waiting: Iterator[Part], taken: list[Part]) -> bool:
    """Move the next part over; False when there is none."""
    for part in waiting:
        taken.append(part)
        return True
    return False


def _threads_each(n_workers: int) -> dict[str, str]:
    """Threads for libraries in each worker: all workers together use each processor once."""
    threads = str(max(1, (os.cpu_count() or 1) // n_workers))
    return dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), threads)


def _run_on_joblib(work: Callable[[Part], Part], parts: Iterable[Part]) -> Iterator[Part]:
    """Distribute parts over the active joblib backend, which retries by itself."""
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=-1, return_as="generator_unordered", batch_size=1)(delayed(work)(part) for part in parts)


def _run_on_dask(
    work: Callable[[Part], Part], parts: Iterable[Part], address: str | None, n_jobs: int
) -> Iterator[Part]:
    distributed = require("distributed", extra="engines", feature="The engine dask")
    import joblib

    with ExitStack() as stack:
        given = {"address": address} if address else {"n_workers": max(n_jobs, 1), "threads_per_worker": 1}
        stack.enter_context(distributed.Client(**given))
        stack.enter_context(joblib.parallel_config(backend="dask"))
        yield from _run_on_joblib(work, parts)


def _run_on_ray(
    work: Callable[[Part], Part], parts: Iterable[Part], address: str | None, n_jobs: int
) -> Iterator[Part]:
    ray = require("ray", extra="engines", feature="The engine ray")
    import_module("ray.data")
    waiting = _list_parts(parts, "ray")
    if not ray.is_initialized():
        ray.init(address=address) if address else ray.init(num_cpus=max(n_jobs, 1), include_dashboard=False)

    def one(row: dict[str, int]) -> dict[str, int | str]:
        done = work(waiting[row["id"]]).rows
        return {"id": row["id"], "sha256": done.sha256 if isinstance(done, Finished) else ""}

    data = ray.data.range(len(waiting), override_num_blocks=max(len(waiting), 1))
    yield from (waiting[row["id"]].finished(sha256=row["sha256"]) for row in data.map(one).iter_rows())


def _run_on_spark(
    work: Callable[[Part], Part], parts: Iterable[Part], address: str | None, n_jobs: int
) -> Iterator[Part]:
    require("pyspark", extra="engines", feature="The engine spark")
    from pyspark.sql import SparkSession

    if address is None:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else Spark takes the first python3 that it finds
    waiting = _list_parts(parts, "spark")
    session = SparkSession.builder.master(address or f"local[{max(n_jobs, 1)}]").appName("sev").getOrCreate()
    numbers = session.sparkContext.parallelize(range(len(waiting)), max(len(waiting), 1))
    yield from numbers.map(lambda number: work(waiting[number])).toLocalIterator()


def _list_parts(parts: Iterable[Part], engine: str) -> list[Part]:
    listed = []
    for part in parts:
        if isinstance(part.rows, HeldTable):
            raise InputError(
                f"{part.label} can only be read from start to end, which cannot be distributed with engine={engine!r}: "
                "use engine='local' or 'dask', or write the table as Parquet first."
            )
        listed.append(part)
    return listed


_ENGINES: dict[str, Callable[..., Iterator[Part]]] = {
    "local": _run_locally,
    "dask": _run_on_dask,
    "ray": _run_on_ray,
    "spark": _run_on_spark,
}
