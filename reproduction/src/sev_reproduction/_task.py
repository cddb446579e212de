"""Pieces of work, each with a file of its own, so that a run can stop anywhere and go on later."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sev.exceptions import InputError

from sev_reproduction._plan import Plan

#: Names of lists that hold one figure for each of many splits.
_FIGURES = ("auc",)


@dataclass(frozen=True, order=True)
class Task:
    """One measurement: an experiment on one split of one data set, in one variant.

    Parameters
    ----------
    experiment : str
        Name of the module that runs it.
    data : str
        Data set.
    split : int
        Number of the split.
    variant : str
        What is measured there, such as a model; letters, digits and ``_``.
    """

    experiment: str
    data: str
    split: int
    variant: str

    def path(self, folder: Path) -> Path:
        """Where the result goes."""
        return folder / self.experiment / f"{self.data}-{self.variant}-{self.split}.json"


@dataclass(frozen=True)
class Done:
    """A task with its result and the seconds that it took."""

    task: Task
    result: dict[str, Any]
    seconds: float


class Store:
    """The folder of results of one plan.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    plan : Plan
        A folder holds the results of one kind of plan only.
    """

    def __init__(self, folder: str | os.PathLike[str], plan: Plan) -> None:
        self.folder = Path(folder)
        self.plan = plan
        self._hash = plan.settings_hash()
        self.folder.mkdir(parents=True, exist_ok=True)
        settings = self.folder / "settings.json"
        if not settings.exists():
            _write(settings, plan.settings())
        elif json.loads(settings.read_text(encoding="utf-8")) != plan.settings():
            raise InputError(
                f"{self.folder} holds the results of a run with other settings "
                f"({settings.read_text(encoding='utf-8').strip()}): choose another folder, or delete it."
            )

    def is_done(self, task: Task) -> bool:
        """Whether the result is there, of these settings."""
        return self.read(task) is not None

    def read(self, task: Task) -> Done | None:
        """The result, or None."""
        path = task.path(self.folder)
        if not path.exists():
            return None
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["settings"] != self._hash:
            return None
        return Done(task, found["result"], found["seconds"])

    def write(self, task: Task, result: dict[str, Any], seconds: float) -> None:
        """Keep a result; a reader sees all of it or nothing."""
        path = task.path(self.folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        document = {"settings": self._hash, "seconds": round(seconds, 3), "result": result}
        _write(path, document)

    def all_done(self) -> list[Done]:
        """Every result in the folder, in order."""
        tasks = (_task(path) for path in sorted(self.folder.glob("*/*.json")))
        found = (self.read(task) for task in tasks if task is not None)
        return [done for done in found if done is not None]


class Results:
    """Results by experiment, data set and variant."""

    def __init__(self, done: Iterable[Done]) -> None:
        self._done = sorted(done, key=lambda one: one.task)

    def of(self, experiment: str, data: str | None = None, variant: str | None = None) -> list[Done]:
        """The results that fit, by data set, split and variant."""
        return [
            one
            for one in self._done
            if one.task.experiment == experiment
            and (data is None or one.task.data == data)
            and (variant is None or one.task.variant == variant)
        ]

    def values(self, experiment: str, data: str, variant: str, name: str) -> list[float]:
        """One figure of every split that has it."""
        found = (one.result.get(name) for one in self.of(experiment, data, variant))
        return [float(value) for value in found if value is not None]

    def mean(self, experiment: str, data: str, variant: str, name: str) -> float:
        """Mean of a figure over the splits; NaN without any."""
        values = self.values(experiment, data, variant, name)
        return float(np.mean(values)) if values else float("nan")

    def compact(self) -> str:
        """The numbers of all results as JSON, a line for each experiment, data set and variant.

        Figures of the splits stand in lists; texts, and what is kept of single queries, are left out. A list of
        :data:`_FIGURES` is not of queries and stays.
        """
        lines: dict[tuple[str, str, str], list[Done]] = {}
        for one in self._done:
            lines.setdefault((one.task.experiment, one.task.data, one.task.variant), []).append(one)
        written = []
        for (experiment, data, variant), found in lines.items():
            numbers = [_numbers(one.result) for one in found]
            entry = {
                "experiment": experiment,
                "data": data,
                "variant": variant,
                "splits": [one.task.split for one in found],
                "seconds": [round(one.seconds, 1) for one in found],
                **{name: [one.get(name) for one in numbers] for name in sorted(set().union(*numbers))},
            }
            written.append(json.dumps(entry, ensure_ascii=False))
        return "[\n" + ",\n".join(written) + "\n]\n"

    @classmethod
    def from_compact(cls, text: str) -> Results:
        """What :meth:`compact` wrote: the same figures to four digits, without what it leaves out."""
        done = []
        for line in json.loads(text):
            *key, splits, seconds = (line.pop(name) for name in ("experiment", "data", "variant", "splits", "seconds"))
            experiment, data, variant = key
            for number, split in enumerate(splits):
                values = {name: values[number] for name, values in line.items() if values[number] is not None}
                done.append(Done(Task(experiment, data, split, variant), _nested(values), seconds[number]))
        return cls(done)

    def __len__(self) -> int:
        return len(self._done)

    def __iter__(self) -> Any:
        return iter(self._done)


def _numbers(result: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Numbers of a result by name; those of dictionaries inside have the names joined."""
    found: dict[str, Any] = {}
    for name, value in result.items():
        if isinstance(value, dict):
            found |= _numbers(value, f"{prefix}{name}: ")
        elif isinstance(value, float):
            found[prefix + name] = round(value, 4)
        elif isinstance(value, int):  # booleans too
            found[prefix + name] = value
        elif name in _FIGURES:
            found[prefix + name] = [round(one, 4) for one in value]
    return found


def _nested(values: dict[str, Any]) -> dict[str, Any]:
    """Names that :func:`_numbers` joined, as dictionaries again."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        *parents, last = name.split(": ")
        inner = found
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[last] = value
    return found


def _task(path: Path) -> Task | None:
    parts = path.stem.split("-")
    if len(parts) != 3 or not parts[2].isdigit():
        return None
    return Task(path.parent.name, parts[0], int(parts[2]), parts[1])


def _write(path: Path, document: dict[str, Any]) -> None:
    text = json.dumps(_to_plain(document), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text + "\n", encoding="utf-8")
    os.replace(temporary, path)


def _to_plain(value: Any) -> Any:
    """Values that JSON knows; a number that is not there is null."""
    if isinstance(value, dict):
        return {str(key): _to_plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return _to_plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return round(value, 6) if np.isfinite(value) else None
    return value
