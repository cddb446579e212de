"""The experiments, in the paper's order."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sev.exceptions import InputError

#: Module of each section of the page. A name here is what ``--only`` takes.
_SECTIONS = (
    "overview",
    "table1",
    "figure2",
    "figure3",
    "table2",
    "table3",
    "figure4",
    "table4",
    "table5",
    "restricted",
    "appendix_c1",
    "appendix_g",
    "appendix_h",
    "causes",
)

#: Modules that measure for several sections and show nothing themselves.
_MEASURES = ("models",)

#: Measurements of the follow-up paper; it has a page of its own.
_FOLLOW_UP = ("variants", "credible", "published", "tree", "peers", "training")


def names() -> tuple[str, ...]:
    """Names of all sections."""
    return _SECTIONS


def chosen(only: tuple[str, ...] | None = None) -> list[Any]:
    """Modules of the sections, all or those named."""
    strange = [name for name in only or () if name not in _SECTIONS]
    if strange:
        raise InputError(f"There is no experiment {strange}: use some of {list(_SECTIONS)}.")
    return [_module(name) for name in _SECTIONS if only is None or name in only]


def follow_up(only: tuple[str, ...] | None = None) -> list[Any]:
    """Modules of the follow-up's measurements, all or those named."""
    strange = [name for name in only or () if name not in _FOLLOW_UP]
    if strange:
        raise InputError(f"There is no measurement {strange}: use some of {list(_FOLLOW_UP)}.")
    return [_module(f"decision_sparsity.{name}") for name in _FOLLOW_UP if only is None or name in only]


def runner(experiment: str) -> Any:
    """The module that runs the tasks of an experiment."""
    if experiment in _FOLLOW_UP:
        return _module(f"decision_sparsity.{experiment}")
    if experiment not in (*_SECTIONS, *_MEASURES):
        raise InputError(f"There is no experiment {experiment!r}.")
    return _module(experiment)


def _module(name: str) -> Any:
    return import_module(f"sev_reproduction.{name}")
