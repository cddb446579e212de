"""The menu of one decision in words: every set of features, and what it would have to become."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, runtime_checkable

import pandas as pd

from sev.text._labels import Labels
from sev.text._sentences import Speaker
from sev.text._statements import AnyOther, Enough, EnoughRange
from sev.typing import Cell, ColumnLabel


@runtime_checkable
class Range(Protocol):
    """A range of numbers, such as :class:`sev.Interval`."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def low_is_limit(self) -> bool: ...
    @property
    def high_is_limit(self) -> bool: ...


def menu_table(
    menu: pd.DataFrame,
    labels: Labels | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
) -> pd.DataFrame:
    """What :meth:`sev.Explainer.menu` returned, in words: one line for each set, in the same order.

    Parameters
    ----------
    menu : DataFrame
        With the columns ``features``, ``outcome``, ``old``, ``changes``, ``enough`` and ``cost``.
    labels : Labels, default=None
        Names of features and values, and the language.
    limits : mapping, default=None
        The smallest and the largest value of numbers: an end of a range that reaches one is left out.

    Returns
    -------
    DataFrame
        ``features``, ``outcome``, ``changes`` and ``cost``: texts, and a number.
    """
    speaker = Speaker(_columns_of(menu), labels=_select_labels(labels, menu))
    lines = []
    for line in menu.to_dict("records"):
        works = line["outcome"] == "works"
        lines.append(
            {
                "features": speaker.join([speaker.label(name) for name in line["features"]]),
                "outcome": speaker.text(f"menu_{line['outcome'].replace(' ', '_')}"),
                "changes": "; ".join(_tell_changes(speaker, line, limits or {})) if works else "",
                "cost": line["cost"],
            }
        )
    return pd.DataFrame(lines, columns=["features", "outcome", "changes", "cost"], index=menu.index)


def enough_in_text(enough: Range | Iterable[Cell] | None) -> Enough | None:
    """Values that are enough, in the form that sentences take: a range as its ends, choices as a list.

    Parameters
    ----------
    enough : object
        An interval, choices or None.

    Returns
    -------
    Enough or None
        None where nothing is known.
    """
    if enough is None:
        return None
    if not isinstance(enough, Range):
        return AnyOther(enough) if getattr(enough, "is_any_other", False) else list(enough)
    return EnoughRange(enough.low, enough.high, enough.low_is_limit, enough.high_is_limit)


def _tell_changes(speaker: Speaker, line: pd.Series, limits: Mapping[str, tuple[float, float]]) -> list[str]:
    told = []
    for name, new in line["changes"].items():
        old, changed = (one if isinstance(one, Mapping) else {name: one} for one in (line["old"][name], new))
        text = speaker.change(name, old, changed, enough_in_text(line["enough"].get(name)), limits)
        told.append(f"{speaker.label(name)}: {text}" if len(line["changes"]) > 1 else text)
    return told


def _columns_of(menu: pd.DataFrame) -> dict[str, tuple[ColumnLabel, ...]]:
    """The columns of each feature; those of a feature of one column are called like it."""
    columns: dict[str, tuple[ColumnLabel, ...]] = {name: (name,) for names in menu["features"] for name in names}
    for changes in menu["changes"]:
        columns |= {name: tuple(new) for name, new in changes.items() if isinstance(new, Mapping)}
    return columns


def _select_labels(labels: Labels | None, menu: pd.DataFrame) -> Labels:
    """The labels of the features of a menu, which may be fewer than the labels name."""
    given = Labels() if labels is None else labels
    named = {name for names in menu["features"] for name in names}
    kept = {name: entry for name, entry in given.features.items() if name in named}
    return Labels(features=kept, classes=given.classes, language=given.language)
