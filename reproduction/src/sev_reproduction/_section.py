"""A part of the page: what an experiment shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import pandas as pd

from sev_reproduction._plan import Plan
from sev_reproduction._task import Results, Task


@dataclass(frozen=True)
class Table:
    """A table of the page; cells are texts or numbers, NaN is an empty cell."""

    caption: str
    frame: pd.DataFrame


@dataclass(frozen=True)
class Picture:
    """A picture of the page.

    Parameters
    ----------
    name : str
        Name of the file, without ending.
    caption : str
        What it shows.
    draw : callable
        Returns a matplotlib figure.
    """

    name: str
    caption: str
    draw: Callable[[], Any]


@dataclass
class Section:
    """A heading with sentences, tables and pictures."""

    heading: str
    sentences: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)


class Experiment(Protocol):
    """What a module of this package has to have.

    ``run`` may be left out by a module that only shows what the tasks of another one found.
    """

    NAME: str
    TITLE: str
    #: Whether the section shows single queries or texts, which a file of recorded results does not hold.
    NEEDS_QUERIES: bool

    def tasks(self, plan: Plan) -> list[Task]:
        """The measurements that the section needs."""

    def run(self, task: Task, plan: Plan) -> dict[str, Any]:
        """Make one measurement; the result is plain JSON."""

    def section(self, results: Results, paper: Mapping[str, Any]) -> Section:
        """What to show of the results, beside the paper's figures."""


#: Modules are what the registry holds; their attributes are those of :class:`Experiment`.
ExperimentModule = ModuleType


def number(value: float | None, digits: int = 3) -> str:
    """A figure as text; empty where there is none."""
    return "" if value is None or not np.isfinite(value) else f"{value:.{digits}f}"


def spread(values: list[float], digits: int = 3) -> str:
    """Mean and standard deviation over splits as text."""
    if not values:
        return ""
    mean = f"{np.mean(values):.{digits}f}"
    return f"{mean} ± {np.std(values, ddof=1):.{digits}f}" if len(values) > 1 else mean


def printed(pair: list[float] | None, digits: int = 2) -> str:
    """The paper's mean and standard deviation as text."""
    return "" if pair is None else f"{pair[0]:.{digits}f} ± {pair[1]:.{digits}f}"
