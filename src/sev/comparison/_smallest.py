"""The smallest set, by this package."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from sev.comparison._answers import Smallest
from sev.comparison._case import Case

if TYPE_CHECKING:
    from sev.typing import WorkOptions


def prepare(case: Case, options: dict[str, object]) -> Callable[[int], Smallest]:
    """The explainer is there already; options are those of :meth:`sev.Explainer.explain`."""

    def answer(query: int) -> Smallest:
        return Smallest(case.explainer.explain(case.queries.iloc[[query]], **cast("WorkOptions", options))[0])

    return answer
