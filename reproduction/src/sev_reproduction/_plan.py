"""What a run is told: which data, which splits, how much of each."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from sev.exceptions import InputError

#: The paper's data sets, in its order.
DATA = ("adult", "compas", "mimic", "german", "fico", "diabetes")

#: Raised when what a task computes changes, so that older results are not taken for newer ones.
VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Settings of one run.

    Parameters
    ----------
    quick : bool
        Samples of rows and queries, for a look at the whole in minutes.
    data : tuple of str
        Data sets to use, of :data:`DATA`.
    splits : tuple of int
        Numbers of the random splits, 0 to 9.
    diabetes_splits : int
        How many of the splits Diabetes gets, which is ten times as large as the others.
    max_train_rows : int or None
        Rows of the training part that models are fitted on; None is all.
    max_test_rows : int
        Rows of the test part, a fixed sample, whose positive predictions are explained. Accuracy is on all rows.
    max_network_rows : int
        The same for networks, whose proofs take longest.
    max_queries : int
        Positive predictions that the slow methods of others explain in one task.
    time_limit : float
        Seconds for the explanation of one row; after that it counts as not decided.
    data_home, mimic : str or None
        Folder of the data files, and the user's own file of MIMIC-III.
    """

    quick: bool = False
    data: tuple[str, ...] = DATA
    splits: tuple[int, ...] = tuple(range(10))
    diabetes_splits: int = 3
    max_train_rows: int | None = None
    max_test_rows: int = 2000
    max_network_rows: int = 500
    max_queries: int = 200
    time_limit: float = 20.0
    data_home: str | None = None
    mimic: str | None = None

    def __post_init__(self) -> None:
        strange = [name for name in self.data if name not in DATA]
        if strange:
            raise InputError(f"There is no data set {strange}: use some of {list(DATA)}.")
        strange_splits = [number for number in self.splits if number not in range(10)]
        if strange_splits:
            raise InputError(f"splits={strange_splits}: splits have the numbers 0 to 9.")

    @classmethod
    def of(cls, *, quick: bool = False, **given: Any) -> Plan:
        """The plan of a quick or a full run; what is given and not None replaces its settings."""
        settings: dict[str, Any] = {"quick": quick}
        if quick:
            settings |= {
                "splits": (0, 1),
                "diabetes_splits": 2,
                "max_train_rows": 2000,
                "max_test_rows": 120,
                "max_network_rows": 60,
                "max_queries": 12,
            }
        return cls(**settings | {name: value for name, value in given.items() if value is not None})

    @property
    def runnable(self) -> tuple[str, ...]:
        """The data sets whose rows can be had: MIMIC-III only with the user's file."""
        return tuple(name for name in self.data if name != "mimic" or self.mimic)

    def splits_of(self, data: str) -> tuple[int, ...]:
        """Numbers of the splits of one data set."""
        return self.splits if data != "diabetes" else tuple(n for n in self.splits if n < self.diabetes_splits)

    def settings(self) -> dict[str, Any]:
        """Whatever changes the result of a task, and nothing else."""
        elsewhere = {"data", "splits", "diabetes_splits", "data_home", "mimic"}
        return {"version": VERSION} | {name: value for name, value in asdict(self).items() if name not in elsewhere}

    def settings_hash(self) -> str:
        """A short name for :meth:`settings`."""
        return hashlib.sha256(json.dumps(self.settings(), sort_keys=True).encode()).hexdigest()[:12]
