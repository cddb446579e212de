"""What results need of the explainer that made them."""

from __future__ import annotations

from typing import Any, Protocol

import pandas as pd

from sev.explanations._answers import Answers
from sev.typing import FloatArray


class Source(Protocol):
    """Lists further sets and scores rows, for results that are still in the process that made them."""

    def score_rows(self, rows: pd.DataFrame, target: Any) -> FloatArray:
        """The model's own scores of rows, for one class."""
        ...

    def list_sets(self, queries: pd.DataFrame, answers: Answers) -> Answers:
        """The same answers with all minimum sets listed and checked."""
        ...
