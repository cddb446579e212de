"""What results need of the explainer that made them."""

from __future__ import annotations

from typing import Any, Protocol

import pandas as pd

from sev.core import Answers
from sev.typing import FloatArray


class Source(Protocol):
    """Lists further sets, scores rows, says where results come from: for results in the process that made them."""

    def score_rows(self, rows: pd.DataFrame, target: Any) -> FloatArray:
        """The model's own scores of rows, for one class."""
        ...

    def list_sets(self, queries: pd.DataFrame, answers: Answers) -> Answers:
        """The same answers with all minimum sets listed and checked."""
        ...

    def unrestricted(self) -> Source:
        """The same with every feature allowed."""
        ...

    def answer(self, queries: pd.DataFrame) -> Answers:
        """Explain rows."""
        ...

    def about(self) -> dict[str, Any]:
        """Names, hashes and settings, as plain values."""
        ...
