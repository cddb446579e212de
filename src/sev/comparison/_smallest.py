"""The smallest set, by this package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sev.comparison._answers import Smallest
from sev.comparison._case import Case


def prepare(case: Case, options: dict[str, Any]) -> Callable[[int], Smallest]:
    """The explainer is there already; options are those of :meth:`sev.Explainer.explain`."""

    def answer(query: int) -> Smallest:
        return Smallest(case.explainer.explain(case.queries.iloc[[query]], **options)[0])

    return answer
