"""How many queries need one reason, two, three: before and after training."""

from __future__ import annotations

from typing import Any

import pandas as pd
from sev import plots

from sev_reproduction._measure import KeptSizes
from sev_reproduction._models import BY_NAME
from sev_reproduction._section import Picture, Table
from sev_reproduction._task import Results


def kept(results: Results, data: str, variants: tuple[str, ...], kind: str) -> dict[str, KeptSizes]:
    """Sizes of several models on the same rows, of the splits that all of them have, by title."""
    states = {
        variant: {one.task.split: one.result[f"{kind}_states"] for one in results.of("models", data, variant)}
        for variant in variants
    }
    shared = sorted(set.intersection(*(set(found) for found in states.values())))
    if not shared:
        return {}
    return {
        BY_NAME[variant].title: KeptSizes("".join(found[split] for split in shared), kind)
        for variant, found in states.items()
    }


def distribution(name: str, caption: str, models: dict[str, KeptSizes]) -> Picture:
    """Bars of several models side by side."""

    def draw() -> Any:
        drawn: Any = models  # what the plot asks for is there
        return plots.sizes(drawn).figure

    return Picture(name, caption, draw)


def flow(name: str, caption: str, models: dict[str, KeptSizes]) -> Picture:
    """Bands from the first model to the second."""
    (first, before), (second, after) = models.items()

    def draw() -> Any:
        drawn: tuple[Any, Any] = before, after
        return plots.flow(*drawn, labels=(first, second)).figure

    return Picture(name, caption, draw)


def shares(models: dict[str, KeptSizes], caption: str) -> Table:
    """One line for each model: how many queries need how many reasons."""
    lines = []
    for title, many in models.items():
        asked = int((many.statuses != "not_target").sum())
        sized = {
            "size 1": (many.sizes == 1).sum(),
            "size 2": (many.sizes == 2).sum(),
            "size 3": (many.sizes == 3).sum(),
            "size 4 or more": (many.sizes > 3).sum(),
            "no set": (many.statuses == "unexplainable").sum(),
        }
        lines.append(
            {
                "model": title,
                "mean": f"{many.mean_size():.3f}",
                **{size: f"{100 * count / asked:.1f} %" for size, count in sized.items()},
                "queries": asked,
                "positive": f"{100 * asked / len(many):.1f} %",
            }
        )
    return Table(caption, pd.DataFrame(lines))


def changes(models: dict[str, KeptSizes]) -> str:
    """What became of the queries that both models predict positive."""
    (first, before), (second, after) = models.items()
    both = ~pd.isna(before.sizes) & ~pd.isna(after.sizes)
    fewer = int((after.sizes[both] < before.sizes[both]).sum())
    more = int((after.sizes[both] > before.sizes[both]).sum())
    return (
        f"{first} to {second}: of {int(both.sum()):,} queries that both predict positive, {fewer:,} need fewer "
        f"reasons, {int(both.sum()) - fewer - more:,} as many, {more:,} more."
    )
