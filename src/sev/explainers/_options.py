"""The options of one call of ``explain``: names, defaults and checks, in one list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, cast

import numpy as np

from sev.core import Limits
from sev.exceptions import InputError
from sev.explainers._work import Settings
from sev.typing import Kind, Minimise, Order, Values

if TYPE_CHECKING:
    from sev.explainers._setup import ExplainerSetup
    from sev.typing import SearchOptions

#: Vertices that a black box scores for one row before the search ends with what it knows.
DEFAULT_MAX_PREDICTIONS = 1_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class ExplainOptions:
    """What a call of :meth:`sev.Explainer.explain` may ask for; the meaning of each option is documented there.

    This is the one list of them. A new option is a field here, with its check in :meth:`settings`, and a parameter of
    :meth:`sev.Explainer.explain` with the same default. Questions that take some of the options use :meth:`of`.

    Parameters
    ----------
    kind, restricted, max_size, max_sets, time_limit, max_predictions, values, minimise, order, min_credibility
        As for :meth:`sev.Explainer.explain`.
    """

    kind: Kind = "minus"
    restricted: Iterable[str] | None = None
    max_size: int | None = None
    max_sets: int = 100
    time_limit: float | None = None
    max_predictions: int | None = DEFAULT_MAX_PREDICTIONS
    values: Values = "reference"
    minimise: Minimise = "features"
    order: Order = "margin"
    min_credibility: float = 0.0

    @classmethod
    def of(cls, options: Mapping[str, object], *, fixed: Mapping[str, object]) -> ExplainOptions:
        """Options of a question that decides some of them itself.

        Parameters
        ----------
        options : mapping
            What the user passed.
        fixed : mapping
            What the question decides, or has as parameters of its own.

        Returns
        -------
        ExplainOptions
            All options, with the defaults of those that were not passed.

        Raises
        ------
        InputError
            If an option is unknown, or decided by the question itself.
        """
        names = [field.name for field in fields(cls) if field.name not in fixed]
        unknown = sorted(set(options) - set(names))
        if unknown:
            raise InputError(f"{unknown[0]!r} is not an option here: use {', '.join(names)}.")
        return cls(**cast("SearchOptions", {**fixed, **options}))

    def settings(self, setup: ExplainerSetup) -> Settings:
        """Check the options against an explainer, and return what a search works with.

        Parameters
        ----------
        setup : ExplainerSetup
            The explainer.

        Returns
        -------
        Settings
            The options, checked.

        Raises
        ------
        InputError
            If a value is not permitted, or two options contradict each other.
        """
        if self.kind not in ("minus", "plus"):
            raise InputError(f'kind={self.kind!r} is not known: use "minus" or "plus".')
        self._check_limits()
        self._check_values(setup)
        self._check_choice(setup)
        return Settings(
            kind=self.kind,
            allowed=setup.allowed_features(self.restricted),
            limits=Limits(
                max_size=self.max_size,
                max_sets=self.max_sets,
                time_limit=self.time_limit,
                max_predictions=self.max_predictions,
            ),
            values=self.values,
            minimise=self.minimise,
            order=self.order,
            min_credibility=float(self.min_credibility),
            # which set comes first, or counts, depends on all of them
            settled=self.order != "margin" or self.min_credibility > 0,
        )

    def _check_limits(self) -> None:
        for name in ("max_size", "max_sets", "max_predictions"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        seconds = self.time_limit
        is_number = isinstance(seconds, (int, float, np.integer, np.floating)) and not isinstance(seconds, bool)
        if seconds is not None and not (is_number and seconds > 0):
            raise InputError(f"time_limit={self.time_limit!r} must be a positive number of seconds.")

    def _check_values(self, setup: ExplainerSetup) -> None:
        values, minimise = self.values, self.minimise
        if values not in ("reference", "typical", "any"):
            raise InputError(f'values={values!r} is not known: use "reference", "typical" or "any".')
        if minimise not in ("features", "cost"):
            raise InputError(f'minimise={minimise!r} is not known: use "features" or "cost".')
        if self.kind == "plus" and (setup.actions is not None or values != "reference"):
            raise InputError(
                'kind="plus" sets features of the reference to the row\'s own values: it takes no actions and only '
                'values="reference". Use kind="minus", or an explainer without actions.'
            )
        if self.kind == "plus" and minimise == "cost":
            raise InputError(
                'minimise="cost" is about changes of a row, and kind="plus" changes the reference: use kind="minus".'
            )
        if values == "reference" and minimise == "cost" and any(task.reference.several for task in setup.tasks):
            raise InputError(
                'minimise="cost" with values="reference" needs one reference row for each query, but Best(...) tries '
                'several: use the reference without Best, or values="any".'
            )
        asked = f"values={values!r}" if values != "reference" else 'minimise="cost"' if minimise == "cost" else None
        if asked is not None and any(task.bound is None for task in setup.tasks):
            raise InputError(
                f"{asked} needs an explainer that knows its background; this one was saved by an older "
                "version of sev: make it again from the model and the training rows."
            )

    def _check_choice(self, setup: ExplainerSetup) -> None:
        order, least = self.order, self.min_credibility
        if order not in ("margin", "closest", "credible"):
            raise InputError(f'order={order!r} is not known: use "margin", "closest" or "credible".')
        is_number = isinstance(least, (int, float, np.integer, np.floating)) and not isinstance(least, bool)
        if not is_number or not 0.0 <= least <= 1.0:
            raise InputError(f"min_credibility={least!r} must be a number from 0 (no limit) to 1.")
        asked = ['order="credible"'] * (order == "credible") + ["min_credibility"] * (least > 0)
        if asked and self.kind == "plus":
            raise InputError(
                f'{asked[0]} works with kind="minus" only: it compares changed rows with rows of the other class, and '
                'kind="plus" makes rows of the class being explained.'
            )
        if asked and any(task.credibility is None for task in setup.tasks):
            raise InputError(
                f"{asked[0]} needs an explainer that knows how ordinary rows are; this one was made with "
                "credibility=False, or saved by an older version of sev: make it again from the model and the "
                "training rows."
            )
        if order == "closest" and any(task.bound is None for task in setup.tasks):
            raise InputError(
                'order="closest" needs an explainer that knows its background; this one was saved by an older version '
                "of sev: make it again from the model and the training rows."
            )


def check_n_jobs(n_jobs: object) -> None:
    """Refuse what is not a number of workers.

    Parameters
    ----------
    n_jobs : object
        What a user passed.

    Raises
    ------
    InputError
        If it is not an integer, or 0.
    """
    if not isinstance(n_jobs, (int, np.integer)) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise InputError(f"n_jobs={n_jobs!r} must be an integer of at least 1, or -1 for all processors.")


def check_count(name: str, value: object) -> None:
    """Refuse what is not an integer of at least 1."""
    if not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"{name}={value!r} must be an integer of at least 1.")
