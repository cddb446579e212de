"""What results ask of the explainer that made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from sev.actions import Actions
from sev.core import Answers, LazyList, Solution, plain_value
from sev.credibility import FittedFunction
from sev.explainers._alone import alone_in_rows
from sev.explainers._batches import answer_all
from sev.explainers._free_answers import FreeAnswers, place_results
from sev.explainers._free_batches import answer_free, list_free
from sev.explainers._hashing import table_hash
from sev.explainers._origin import Origin
from sev.explainers._permitted import is_explained
from sev.explainers._task import Task
from sev.explainers._vertices import Vertices, score_rows_safely
from sev.explainers._work import Settings
from sev.explanations import EnoughValues, FoundArguments
from sev.space import Mixer, TableForm
from sev.typing import BoolArray, ClassLabel, FloatArray, IntArray, Kind, Parsed, ValuesSearched

_ROWS_AT_ONCE = 20_000


class ExplainerSource:
    """The tasks of an explainer, with the settings of one call."""

    def __init__(
        self, form: TableForm, tasks: list[Task], settings: Settings, origin: Origin, actions: Actions | None = None
    ) -> None:
        self._actions = actions
        self._form = form
        self._tasks = tasks
        self._settings = settings
        self._origin = origin

    def vertices(
        self, queries: pd.DataFrame, references: pd.DataFrame, assigned: IntArray, kind: Kind, target: ClassLabel | None
    ) -> Vertices:
        """Rows between queries and references, for one class, built and scored as in a search."""
        task = self._task_of(target)
        rows = self._form.to_frame(queries)
        mixer = Mixer(task.form, task.space, rows, references, assigned, dtypes_matter=task.dtype_test.matter)
        return Vertices(task.scorer, mixer, rows, assigned, kind)

    def score_tolerances(self, queries: pd.DataFrame, target: ClassLabel | None) -> FloatArray:
        """How far two scores of each row may be apart by rounding, in units of the score or of 1 if that is larger."""
        return self._task_of(target).score_tolerances(self._form.to_frame(queries))

    def _task_of(self, target: ClassLabel | None) -> Task:
        return next(task for task in self._tasks if plain_value(task.scorer.target) == plain_value(target))

    @property
    def decides_by_lead(self) -> bool:
        """Whether the class with the highest score is predicted, instead of a score compared with a threshold."""
        return self._tasks[0].scorer.leads

    def list_sets(self, queries: pd.DataFrame, answers: Answers) -> Answers:
        """The same answers with all minimum sets listed and checked."""
        waiting = np.flatnonzero(~answers.listed)
        parts = []
        for first in range(0, len(waiting), _ROWS_AT_ONCE):
            rows = waiting[first : first + _ROWS_AT_ONCE]
            for task in self._tasks:
                mine = rows[answers.target[rows] == task.number]
                if mine.size:
                    known, references = answers.take(mine), answers.reference[mine]
                    parts.append((mine, task.list_sets(queries.iloc[mine], known, self._settings, references)))
        return answers.with_sets(Solution.merge(parts), np.sort(waiting)) if parts else answers

    def list_values(
        self,
        queries: pd.DataFrame,
        answers: Answers,
        searched: tuple[ValuesSearched, ...],
        results: pd.DataFrame,
        enough: LazyList[Mapping[str, EnoughValues]],
    ) -> FoundArguments:
        """The same answers over free values with all minimum sets, as arguments of ``Explanations``."""
        known = FreeAnswers(
            answers=answers,
            results=results,
            searched=np.array(searched, dtype="<U10"),
            enough=enough,
            costs=np.full(len(answers), np.nan),
        )
        return self.place_free(list_free(list(self._tasks), queries, known, self._settings))

    def unrestricted(self) -> ExplainerSource:
        """The same with every feature allowed."""
        allowed = np.ones_like(self._settings.allowed)
        settings = replace(self._settings, allowed=allowed)
        return ExplainerSource(self._form, self._tasks, settings, self._origin, self._actions)

    def place_references(self, queries: pd.DataFrame, answers: Answers) -> tuple[Answers, pd.DataFrame]:
        """The rows that features are changed to, and the answers with the number of each one's own.

        Under actions each explained row has a row of its own, which holds its permitted values.
        """
        references = _stack_scores([task.reference.rows for task in self._tasks])
        if self._actions is None or self._settings.kind != "minus":
            return answers, references
        was_searched = is_explained(answers)
        parts, number = [references], answers.reference.copy()
        for task in self._tasks:
            rows = np.flatnonzero(was_searched & (answers.target == task.number))
            if rows.size and task.bound is not None:
                own = answers.reference[rows] - task.first_reference
                number[rows] = sum(map(len, parts)) + np.arange(len(rows))
                explained = queries.iloc[rows]
                parts.append(task.nearest.permit(explained, own).shown(explained, task.space))
        return replace(answers, reference=number), _stack_scores(parts)

    def answer(self, queries: pd.DataFrame) -> Answers:
        """Explain rows: the answers alone."""
        if self._settings.chooses_values:
            return answer_free(list(self._tasks), queries, replace(self._settings, settled=True)).answers
        return answer_all(self._tasks, queries, self._settings)

    def explain(self, queries: pd.DataFrame) -> FoundArguments:
        """Explain rows: the answers and what they are shown with, as arguments of ``Explanations``."""
        if self._settings.chooses_values:
            return self.place_free(answer_free(list(self._tasks), queries, replace(self._settings, settled=True)))
        answers, references = self.place_references(queries, answer_all(self._tasks, queries, self._settings))
        return {"answers": answers, "references": references}

    def place_free(self, found: FreeAnswers) -> FoundArguments:
        """Answers over free values, with the changed row of each set behind the references."""
        references = _stack_scores([task.reference.rows for task in self._tasks])
        answers, rows = place_results(found.answers, references, found.results)
        return {
            "answers": answers,
            "references": rows,
            "values": self._settings.values,
            "values_searched": tuple(found.searched.tolist()),
            "set_references": len(references) + np.arange(len(found.results)),
            "enough": found.enough,
        }

    def sample(self) -> pd.DataFrame:
        """Some rows of the background."""
        return self._tasks[0].sample

    def alone(self, queries: pd.DataFrame, number: IntArray, usable: BoolArray) -> pd.DataFrame | None:
        """What features of rows could do alone, with any permitted value; None without a background to know those.

        Parameters
        ----------
        queries : DataFrame
            Rows of the common form.
        number : ndarray of int, shape (n_rows,)
            The class of each row, by its number among those explained; -1 leaves a row out.
        usable : ndarray of bool, shape (n_rows, n_features)
            Features to look at; those that may not be used are left out.
        """
        if any(task.bound is None for task in self._tasks):
            return None
        return alone_in_rows(self._tasks, self._form.to_frame(queries), number, usable & self._settings.allowed, "any")

    def credibilities(self, results: pd.DataFrame, target: ClassLabel | None) -> FloatArray:
        """The share of real rows of the other class that are less ordinary than each row; NaN where it is not known."""
        task = self._task_of(target)
        if task.credibility is None:
            return np.full(len(results), np.nan)
        credibility = task.credibility.get()
        measure = credibility.measure
        if not isinstance(measure, FittedFunction):
            return credibility.of_rows(results, task.form)
        values, _ = score_rows_safely(measure.ordinariness_of_rows, task.form, results)
        return credibility.shares(values)

    def about(self) -> dict[str, Parsed]:
        """Names, hashes and settings, as plain values, for records and reports."""
        rows = pd.concat([task.reference.rows for task in self._tasks], ignore_index=True)
        limits = self._settings.limits
        origin = self._origin
        return {
            "model": origin.model_name,
            "class": type(origin.model).__name__,
            "last_step": origin.last_step,
            "package": origin.package,
            "backend": origin.backend,
            "reference": self._tasks[0].reference.name,
            "n_background": origin.n_background,
            "hashes": {
                "model": origin.model_hash,
                "background": origin.background_hash,
                "reference": table_hash(rows),
                **({} if self._actions is None else {"actions": self._actions.digest}),
            },
            "actions": None if self._actions is None else self._actions.to_plain(),
            "values": self._settings.values,
            "minimise": self._settings.minimise,
            "order": self._settings.order,
            "min_credibility": self._settings.min_credibility,
            "limits": {
                "max_size": limits.max_size,
                "max_sets": limits.max_sets,
                "time_limit": limits.time_limit,
                "max_predictions": limits.max_predictions,
            },
        }


def _stack_scores(parts: list[pd.DataFrame]) -> pd.DataFrame:
    return parts[0].copy() if len(parts) == 1 else pd.concat(parts, ignore_index=True)
