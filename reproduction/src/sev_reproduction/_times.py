"""How long a run will take, from the tasks that are done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from sev_reproduction._task import Done, Task

#: For a task of which nothing like it was done yet.
_GUESS = 10.0


class Times:
    """Seconds of tasks, by experiment, data set and variant."""

    def __init__(self, done: Iterable[Done] = ()) -> None:
        self._seconds: dict[tuple[str, ...], list[float]] = {}
        for one in done:
            self.add(one.task, one.seconds)

    def add(self, task: Task, seconds: float) -> None:
        """Another task is done."""
        for key in _keys(task):
            self._seconds.setdefault(key, []).append(seconds)

    def of(self, task: Task) -> float:
        """Expected seconds of a task: the median of the tasks most like it."""
        return next((median(self._seconds[key]) for key in _keys(task) if key in self._seconds), _GUESS)

    def left(self, tasks: Sequence[Task]) -> float:
        """Expected seconds of several tasks."""
        return sum(self.of(task) for task in tasks)


def spoken(seconds: float) -> str:
    """A duration for people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _keys(task: Task) -> list[tuple[str, ...]]:
    return [(task.experiment, task.data, task.variant), (task.experiment, task.data), (task.experiment,)]
