"""The whole paper in one call."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sev.datasets import DatasetNotFoundError

from sev_reproduction import _registry
from sev_reproduction._data import load
from sev_reproduction._page import introduction, write_page
from sev_reproduction._plan import DATA, Plan
from sev_reproduction._task import Results, Store, Task
from sev_reproduction._times import Times, spoken


@dataclass(frozen=True)
class Reproduction:
    """What a run left behind.

    Parameters
    ----------
    markdown, html : Path
        The page, in two forms.
    done, failed, left : int
        Tasks with a result, tasks that failed in this run, and tasks still to do.
    """

    markdown: Path
    html: Path
    done: int
    failed: int
    left: int


def reproduce(
    folder: str | os.PathLike[str],
    plan: Plan | None = None,
    *,
    only: Sequence[str] | None = None,
    n_jobs: int = 1,
    page_only: bool = False,
    say: Callable[[str], None] | None = None,
    progress: bool = False,
) -> Reproduction:
    """Compute the paper's tables and figures, and write them beside the paper's own figures.

    Every measurement is a file, so that a run can be stopped at any time and goes on where it was.

    Parameters
    ----------
    folder : path
        Where results and pages go.
    plan : Plan, default=None
        Data, splits and samples; None is the full run.
    only : sequence of str, default=None
        Names of some sections, such as ``"table1"``.
    n_jobs : int, default=1
        Tasks at the same time. Training times compare only with one.
    page_only : bool, default=False
        Write the page from what is there.
    say : callable, default=None
        Gets messages.
    progress : bool, default=False
        Show a bar.

    Returns
    -------
    Reproduction
        Where the pages are, and what is still to do.

    Examples
    --------
    >>> from sev_reproduction import Plan, reproduce
    >>> reproduce("results", Plan.of(quick=True, data=("german",)), only=["table1"])  # doctest: +SKIP
    """
    plan = plan or Plan()
    modules = _registry.chosen(None if only is None else tuple(only))
    wanted = list(dict.fromkeys(task for module in modules for task in module.tasks(plan)))

    def write(done: Results, to: Path) -> tuple[Path, Path]:
        return write_page(_choose_sections(modules, done, plan), done, plan, to)

    running = Running(n_jobs=n_jobs, page_only=page_only, say=say, progress=progress)
    return carry_out(Store(folder, plan), wanted, plan, write, running)


@dataclass(frozen=True, kw_only=True)
class Running:
    """How the tasks of a plan are run; see :func:`reproduce`."""

    n_jobs: int = 1
    page_only: bool = False
    say: Callable[[str], None] | None = None
    progress: bool = False


def carry_out(
    store: Store,
    wanted: list[Task],
    plan: Plan,
    write: Callable[[Results, Path], tuple[Path, Path]],
    running: Running,
) -> Reproduction:
    """Do tasks, and write the page of what is done.

    Parameters
    ----------
    store : Store
        Where results are kept.
    wanted : list of Task
        In the order in which they are done.
    plan : Plan
        Data, splits and samples.
    write : callable
        Takes results and a folder, writes the page and returns its two files.
    running : Running
        How the tasks are run.
    """
    failed: list[Task] = []
    try:
        if not running.page_only:
            failed = _work_through(wanted, plan, store, running)
    finally:  # also after Ctrl-C: the page shows what is done
        markdown, html = write(Results(store.all_done()), store.folder)
    left = sum(not store.is_done(task) for task in wanted)
    return Reproduction(markdown, html, len(wanted) - left, len(failed), left)


def show_recorded(recorded: str | os.PathLike[str], folder: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write the pages of a full run from its ``results.json``, without computing anything.

    Sections that show single queries are left out: the file holds the figures of splits only.

    Parameters
    ----------
    recorded : path
        The ``results.json`` of a run.
    folder : path
        Where the pages go; made if it is not there.

    Returns
    -------
    tuple of Path
        The page in Markdown and in HTML.
    """
    results = Results.from_compact(Path(recorded).read_text(encoding="utf-8"))
    modules = [module for module in _registry.chosen() if not module.NEEDS_QUERIES]
    left_out = [module.TITLE for module in _registry.chosen() if module.NEEDS_QUERIES]
    intro = [
        *introduction(results, Plan()),
        "Written from the recorded figures of splits. Left out, because they show single queries: "
        f"{'; '.join(left_out)}. `sev reproduce` without `--recorded` computes them.",
    ]
    Path(folder).mkdir(parents=True, exist_ok=True)
    return write_page(modules, results, Plan(), Path(folder), intro)


def _work_through(wanted: list[Task], plan: Plan, store: Store, running: Running) -> list[Task]:
    """Do the tasks that have no result yet, and return those that failed."""
    say = running.say or (lambda message: None)
    waiting = [task for task in wanted if not store.is_done(task)]
    missing = _missing_data(waiting, plan, say)
    waiting = [task for task in waiting if task.data not in missing]
    if not waiting:
        return []
    times = Times(store.all_done())
    say(f"{len(wanted) - len(waiting)} of {len(wanted)} tasks are done; {_forecast(times, waiting, running.n_jobs)}.")
    return _run_all(waiting, plan, store, times, running.n_jobs, say, running.progress)


def _missing_data(waiting: list[Task], plan: Plan, say: Callable[[str], None]) -> set[str]:
    """Data sets without a file; where the user named them, that is an error."""
    missing = set()
    for name in dict.fromkeys(task.data for task in waiting):
        try:
            load(name, plan)
        except DatasetNotFoundError as error:
            if plan.data != DATA:
                raise
            missing.add(name)
            say(f"{name} is left out. {error}")
    return missing


def _choose_sections(modules: list[Any], done: Results, plan: Plan) -> list[Any]:
    """The sections that were asked for, those that have results from earlier runs, and those that sum up."""
    everything = replace(plan, data=DATA, splits=tuple(range(10)), mimic=plan.mimic or "given earlier")
    there = {one.task for one in done}
    return [
        module
        for module in _registry.chosen()
        if module in modules or (needed := module.tasks(everything)) == [] or any(task in there for task in needed)
    ]


def _run_all(
    waiting: list[Task],
    plan: Plan,
    store: Store,
    times: Times,
    n_jobs: int,
    say: Callable[[str], None],
    progress: bool,
) -> list[Task]:
    from tqdm.auto import tqdm

    failed = []
    bar = tqdm(total=len(waiting), unit=" tasks", disable=not progress)
    undone = set(waiting)
    for task, seconds, problem in _outcomes(waiting, plan, store, n_jobs):
        undone.discard(task)
        bar.update()
        name = f"{task.experiment} {task.data} {task.variant} split {task.split}"
        if problem:
            failed.append(task)
            say(f"{name} failed: {problem}")
            continue
        times.add(task, seconds)
        bar.set_postfix_str(f"{spoken(times.left(list(undone)) / n_jobs)} left")
        if not progress:
            say(f"{name}: {seconds:.1f} s; {len(undone)} tasks, {spoken(times.left(list(undone)) / n_jobs)} left")
    bar.close()
    return failed


def _outcomes(waiting: list[Task], plan: Plan, store: Store, n_jobs: int) -> Iterator[tuple[Task, float, str]]:
    if n_jobs == 1:
        yield from (_run_one(task, plan, store.folder) for task in waiting)
        return
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1)
    yield from parallel(delayed(_run_one)(task, plan, store.folder) for task in waiting)


def _run_one(task: Task, plan: Plan, folder: Path) -> tuple[Task, float, str]:
    """Do a task and keep its result; a failure of one task does not end the others."""
    start = time.perf_counter()
    try:
        result = _registry.runner(task.experiment).run(task, plan)
    except Exception as error:
        return task, 0.0, f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - start
    Store(folder, plan).write(task, result, seconds)
    return task, seconds, ""


def _forecast(times: Times, waiting: list[Task], n_jobs: int) -> str:
    return f"the other {len(waiting)} will take about {spoken(times.left(waiting) / n_jobs)}"
