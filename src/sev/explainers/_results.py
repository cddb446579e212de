"""From rows and settings to explanations: which search answers, and what its answers are shown with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.core import Answers
from sev.exceptions import InterruptedExplanation
from sev.explainers._batches import answer_all
from sev.explainers._free_answers import FreeAnswers
from sev.explainers._free_batches import answer_free
from sev.explainers._permitted import warn_of_broken_rules
from sev.explainers._source import ExplainerSource
from sev.explainers._work import Settings
from sev.explanations import Explanations
from sev.typing import BoolArray

if TYPE_CHECKING:
    from sev.explainers._setup import ExplainerSetup
    from sev.explanations import FoundArguments


def source_for(setup: ExplainerSetup, settings: Settings) -> ExplainerSource:
    """What results need of an explainer after the call that made them."""
    return ExplainerSource(setup.form, list(setup.tasks), settings, setup.origin, setup.actions)


def answer_rows(
    setup: ExplainerSetup, queries: pd.DataFrame, settings: Settings, *, n_jobs: int, progress: bool
) -> Explanations:
    """Explain rows that are in the model's form already."""
    if settings.chooses_values:
        try:
            found = answer_free(list(setup.tasks), queries, settings, n_jobs=n_jobs, progress=progress)
        except InterruptedExplanation as stop:
            done: FreeAnswers = stop.answers
            stop.answers = done.answers
            stop.explanations = _make_explanations(setup, queries, done.answers, settings, done)
            raise
        _warn_of_rules(setup, queries, found.answers)
        return _make_explanations(setup, queries, found.answers, settings, found)
    try:
        answers = answer_all(list(setup.tasks), queries, settings, n_jobs=n_jobs, progress=progress)
    except InterruptedExplanation as stop:
        stop.explanations = _make_explanations(setup, queries, stop.answers, settings)
        raise
    _warn_of_rules(setup, queries, answers)
    return _make_explanations(setup, queries, answers, settings)


def answer_choices(setup: ExplainerSetup, query: pd.DataFrame, settings: Settings, usable: BoolArray) -> Explanations:
    """Explain one row several times, each time with other features that it may use.

    Parameters
    ----------
    setup : ExplainerSetup
        The explainer.
    query : DataFrame
        One row in the model's form.
    settings : Settings
        What is the same each time.
    usable : ndarray of bool, shape (n_times, n_features)
        Features that may be used each time, of those that the settings allow.
    """
    queries = query.iloc[np.zeros(len(usable), dtype=np.int64)]
    try:
        found = answer_free(list(setup.tasks), queries, replace(settings, settled=True), usable=usable)
    except InterruptedExplanation:
        raise KeyboardInterrupt from None  # a part of the times is no answer
    _warn_of_rules(setup, query, found.answers.take(np.zeros(1, dtype=np.int64)))
    return _make_explanations(setup, queries, found.answers, settings, found)


def _warn_of_rules(setup: ExplainerSetup, queries: pd.DataFrame, answers: Answers) -> None:
    if setup.actions is not None:
        warn_of_broken_rules(setup.actions.rules, setup.space, queries, answers)


def _make_explanations(
    setup: ExplainerSetup,
    queries: pd.DataFrame,
    answers: Answers,
    settings: Settings,
    free: FreeAnswers | None = None,
) -> Explanations:
    source = source_for(setup, settings)
    compared_with = _reference_names(setup, answers)
    if free is None:
        answers, references = source.place_references(queries, answers)
        placed: FoundArguments = {"answers": answers, "references": references}
    else:
        placed = source.place_free(free)
    many = Explanations(
        **placed,
        queries=queries,
        features={feature.name: feature.columns for feature in setup.space.features},
        kind=settings.kind,
        targets=tuple(task.scorer.target for task in setup.tasks),
        thresholds=tuple(task.scorer.threshold for task in setup.tasks),
        restricted=tuple(np.array(setup.space.names, dtype=object)[~settings.allowed]),
        source=source,
        labels=setup.labels,
        classes=setup.classes_,
        efforts=setup.tasks[0].efforts,
        has_actions=setup.actions is not None,
        order=settings.order,
        min_credibility=settings.min_credibility,
        compared_with=compared_with,
        actions_hash=None if setup.actions is None else setup.actions.digest,
        limits=setup.tasks[0].limits,
        minimise=settings.minimise,
    )
    many.space = setup.space  # made once, not for each call
    return many


def _reference_names(setup: ExplainerSetup, answers: Answers) -> tuple[str, ...]:
    """The name of each row's reference row, where the reference has several with names."""
    names: list[str] = []
    for task in setup.tasks:
        own = task.reference.row_names
        names += own if len(own) > 1 else [""] * len(task.reference.rows)
    return (
        tuple(names[number] for number in answers.reference.tolist()) if any(names) else ("",) * len(answers.reference)
    )
