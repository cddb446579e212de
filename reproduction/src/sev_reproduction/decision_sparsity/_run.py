"""The whole follow-up in one call: tasks with a file each, then the page."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sev_reproduction import _registry
from sev_reproduction._plan import Plan
from sev_reproduction._reproduce import Reproduction, Running, carry_out
from sev_reproduction._task import Results, Store
from sev_reproduction.decision_sparsity._page import write_page

#: Rows of each split in a full run; the authors explain up to 1,000, without proofs.
_ROWS = {
    "max_train_rows": 10_000,
    "max_test_rows": 300,
    "max_network_rows": 30,
    "max_queries": 15,
    "time_limit": 5.0,
    "diabetes_splits": 10,
}
#: What a quick run has instead.
_QUICK_ROWS = {
    "max_test_rows": 60,
    "max_network_rows": 12,
    "max_queries": 4,
    "max_train_rows": 1000,
    "diabetes_splits": 2,
}


def follow_up_plan(*, quick: bool = False, **given: Any) -> Plan:
    """The plan of a quick or a full run; what is given and not None replaces its settings."""
    chosen = {name: value for name, value in given.items() if value is not None}
    return Plan.of(quick=quick, **{**_ROWS, **(_QUICK_ROWS if quick else {}), **chosen})


def reproduce_follow_up(
    folder: str | os.PathLike[str],
    plan: Plan | None = None,
    *,
    only: Sequence[str] | None = None,
    n_jobs: int = 1,
    page_only: bool = False,
    say: Callable[[str], None] | None = None,
    progress: bool = False,
) -> Reproduction:
    """Compute the follow-up's variants and write them on a page, with what follows from them.

    Parameters
    ----------
    folder : path
        Where results and pages go; a run that was stopped goes on where it was.
    plan : Plan, default=None
        Of :func:`follow_up_plan`; None is the full run.
    only : sequence of str, default=None
        Names of some measurements: "variants", "credible", "published", "tree", "peers", "training".
    n_jobs : int, default=1
        Tasks at the same time.
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
    >>> from sev_reproduction.decision_sparsity import follow_up_plan, reproduce_follow_up
    >>> reproduce_follow_up("results", follow_up_plan(quick=True, data=("german",)))  # doctest: +SKIP
    """
    plan = plan or follow_up_plan()
    modules = _registry.follow_up(None if only is None else tuple(only))
    wanted = [task for module in modules for task in module.tasks(plan)]
    # split by split, so that a run which is stopped has whole splits; by model, which is then fitted once for all
    wanted.sort(key=lambda task: (task.split, plan.data.index(task.data), task.variant))

    def write(done: Results, to: Path) -> tuple[Path, Path]:
        return write_page(done, plan, to)

    running = Running(n_jobs=n_jobs, page_only=page_only, say=say, progress=progress)
    return carry_out(Store(folder, plan), wanted, plan, write, running)
