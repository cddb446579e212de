"""One seed: a random model and table, an explainer, some calls, every answer compared."""

from __future__ import annotations

import pickle
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from contracts.fuzz.compare import Truth, Vertices, answer_problems, query_problems, safe_scores
from contracts.fuzz.mixing import columns_of, kind_of, one_row, take
from contracts.fuzz.recipes import RECIPES
from contracts.fuzz.setups import Call, Setup, SkipSetup

import sev
from sev.exceptions import PositiveReferenceError, SevError

CALLS_PER_SETUP = 4
#: Smaller than the default: no answer that is compared here depends on it, and growing it is a third of the time.
CREDIBILITY = sev.credibility.IsolationForest(n_trees=8)
STYLES = ("reversed", "alone", "as one row", "halves", "two workers", "tiled", "loaded", "again")


@dataclass
class Failure:
    """An answer that is not true, and how to see it again."""

    seed: int
    recipe: str
    where: str
    problem: str

    def __str__(self) -> str:
        return f"seed {self.seed} ({self.recipe}) {self.where}: {self.problem}"


@dataclass
class Report:
    """Totals of a run."""

    setups: int = 0
    skipped: int = 0
    refused: int = 0
    cases: int = 0
    comparisons: int = 0
    vertices: int = 0
    ambiguous: int = 0
    backends: dict[str, int] = field(default_factory=dict)
    recipes: dict[str, int] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def first_failures(self) -> list[Failure]:
        """The first failure of each seed; the others mostly repeat it."""
        return list({failure.seed: failure for failure in reversed(self.failures)}.values())[::-1]

    def __str__(self) -> str:
        by_backend = ", ".join(f"{name} {count}" for name, count in sorted(self.backends.items()))
        return (
            f"{self.setups} models ({self.skipped} skipped, {self.refused} refused), {self.cases} cases, "
            f"{self.comparisons} answers compared ({self.ambiguous} left out as ambiguous) with {self.vertices} mixed "
            f"rows; {by_backend}; {len(self.failures)} failures in {len(self.first_failures())} seeds"
        )


def recipe_of(seed: int) -> str:
    """Recipes take turns, so that every run of consecutive seeds meets each of them."""
    names = list(RECIPES)
    return names[seed % len(names)]


def run_seed(seed: int, report: Report, recipe: str | None = None) -> None:
    """Make the case of a seed, run it, and add what it finds to the report."""
    name = recipe or recipe_of(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            setup = RECIPES[name](np.random.default_rng([seed, 14]))
        except SkipSetup:
            report.skipped += 1
            return
        report.setups += 1
        report.recipes[name] = report.recipes.get(name, 0) + 1
        _Run(seed, name, setup, report).run()


class _Run:
    def __init__(self, seed: int, recipe: str, setup: Setup, report: Report) -> None:
        self._seed, self._recipe, self._setup, self._report = seed, recipe, setup, report
        self._rng = np.random.default_rng([seed, 15])
        self._n_rows = setup.queries.shape[0]
        self._n_features = len(setup.feature_columns())
        self._vertices: dict[tuple[int, str], Vertices] = {}

    def run(self) -> None:
        setup = self._setup
        kept = [_copy(table) for table in (setup.background, setup.queries)]
        explainer = self._explainer()
        if explainer is not None and self._check_features(explainer):
            self._report.backends[explainer.backend] = self._report.backends.get(explainer.backend, 0) + 1
            self._reference = _native_reference(setup, explainer)
            self._names = list(explainer.feature_names)
            self._setups = self._setup_of_rows()
            self._scores = [float(self._score_of(row)) for row in range(self._n_rows)]
            for call in self._calls():
                self._call(explainer, call)
            if setup.repeatable:
                self._confirm(explainer)
        for table, before, what in zip((setup.background, setup.queries), kept, ("background", "queries"), strict=True):
            if not _same_table(table, before):
                self._fail("after the calls", f"the caller's {what} has changed")

    def _setup_of_rows(self) -> list[Setup]:
        """The setup of each row: they differ where each row is explained as its own class."""
        setup = self._setup
        if setup.by_class is None:
            return [replace(setup, reference=self._reference)] * self._n_rows
        scores = np.column_stack([score(setup.queries) for score in setup.by_class])
        return [setup.of_class(int(number), self._reference) for number in scores.argmax(axis=1)]

    def _score_of(self, row: int) -> float:
        return safe_scores(self._setups[row].score, take(self._setup.queries, [row]), 1)[0]

    # -- the explainer -------------------------------------------------------------------------------------------------

    def _explainer(self) -> sev.Explainer | None:
        setup = self._setup
        given = {"groups": setup.groups, "credibility": CREDIBILITY, **setup.options}
        if setup.reference is not None:
            given["reference"] = setup.reference
        try:
            return sev.Explainer(setup.model, setup.background, setup.y, **given)
        except PositiveReferenceError:
            self._report.refused += 1
        except Exception as error:
            one_sided = "Every background row is predicted as the class" in str(error)
            if isinstance(error, setup.refuses) or one_sided:
                self._report.refused += 1
            else:
                self._fail("Explainer", f"{type(error).__name__}: {str(error)[:300]}")
        return None

    def _check_features(self, explainer: sev.Explainer) -> bool:
        if len(explainer.feature_names) != self._n_features:
            self._fail("Explainer", f"features {explainer.feature_names} for {self._n_features} columns or groups")
            return False
        expected = self._setup.expects_backend
        if expected is not None and explainer.backend != expected:
            self._fail("Explainer", f"backend {explainer.backend}, not {expected}: {explainer.backend_reason}")
        return True

    # -- calls ---------------------------------------------------------------------------------------------------------

    def _calls(self) -> Iterator[Call]:
        """The plain call first, then random ones."""
        yield Call()
        rng = self._rng
        for _ in range(CALLS_PER_SETUP - 1):
            n_closed = int(rng.choice([0, 0, 1, 2]))
            limit = rng.random()
            yield Call(
                kind=str(rng.choice(["minus", "minus", "plus"])),
                restricted=tuple(sorted(rng.permutation(self._n_features)[:n_closed].tolist())),
                max_size=None if rng.random() < 0.7 else int(rng.integers(1, 4)),
                max_sets=int(rng.choice([100, 100, 1, 2, 3, 5])),
                time_limit=[1e-6, 1e-4, 2e-3, 100.0][int(limit * 40)] if limit < 0.1 else None,
                max_predictions=int(rng.integers(1, 40)) if limit > 0.85 else 1_000_000,
                style=str(rng.choice(STYLES)),
            )

    def _call(self, explainer: sev.Explainer, call: Call) -> None:
        self._report.cases += 1
        options = {
            "kind": call.kind,
            "restricted": [self._names[place] for place in call.restricted],
            "max_size": call.max_size,
            "max_sets": call.max_sets,
            "time_limit": call.time_limit,
            "max_predictions": call.max_predictions,
        }
        where = f"{call}"
        try:
            answers = self._explain(explainer, options, "batch")
            other = None if call.style == "batch" else self._explain(explainer, options, call.style)
        except Exception as error:
            if not isinstance(error, self._setup.may_raise):
                self._fail(where, f"{type(error).__name__}: {str(error)[:300]}")
            return
        wrong = self._compare_all(answers, call, f"{where} batch")
        if other is not None:
            wrong |= self._compare_all(other, call, where)
            # a limit of time has no reproducible answer; a wrong answer is reported once
            if call.time_limit is None and self._setup.repeatable:
                for row, (one, two) in enumerate(zip(answers, other, strict=True)):
                    if row not in wrong and _summary(one) != _summary(two):
                        self._fail(f"{where} row {row}", f"in a batch {_summary(one)}, {call.style} {_summary(two)}")
                        break

    def _confirm(self, explainer: sev.Explainer) -> None:
        """Right answers are confirmed: with the model at hand, against the explainer, and from a file."""
        setup = self._setup
        queries = setup.queries if setup.explained is None else setup.explained
        for kind in ("minus", "plus"):
            self._report.cases += 1
            try:
                many = explainer.explain(queries, kind=kind)
            except Exception as error:
                if not isinstance(error, setup.may_raise):
                    self._fail(f"{kind} to confirm", f"{type(error).__name__}: {str(error)[:300]}")
                return
            read = sev.Explanations.from_json(many.to_json())
            for where, confirm in (
                ("with the model", many.verify),
                ("against the explainer", lambda many=many: many.verify(explainer)),
                ("from a file", lambda read=read: read.verify(explainer)),
            ):
                try:
                    confirm()
                except Exception as error:
                    self._fail(f"{kind} confirmed {where}", f"{type(error).__name__}: {str(error)[:300]}")

    def _explain(self, explainer: sev.Explainer, options: dict[str, Any], style: str) -> list[Any]:
        setup, n_rows = self._setup, self._n_rows
        queries = setup.queries if setup.explained is None else setup.explained
        rows = list(range(n_rows))
        if style == "reversed":
            return list(explainer.explain(take(queries, rows[::-1]), **options))[::-1]
        if style == "alone":
            return [self._explain_alone(explainer, take(queries, [row]), options) for row in rows]
        if style == "as one row":
            return [explainer.explain_one(one_row(queries, row), **options) for row in rows]
        if style == "halves":
            cut = int(self._rng.integers(1, n_rows)) if n_rows > 1 else 1
            parts = [rows[:cut], rows[cut:]]
            return [one for part in parts if part for one in explainer.explain(take(queries, part), **options)]
        if style == "two workers":
            return list(explainer.explain(queries, n_jobs=2, **options))
        if style == "tiled":
            tiled = [row for row in rows for _ in range(1 + 256 // n_rows)]
            many = explainer.explain(take(queries, tiled), **options)
            return [many[tiled.index(row)] for row in rows]
        if style == "loaded" and setup.saves:
            return list(_loaded(explainer).explain(queries, **options))
        if style == "again":
            explainer.explain(take(queries, rows[n_rows // 2 :]), **options)
        return list(explainer.explain(queries, **options))

    def _explain_alone(self, explainer: sev.Explainer, row: Any, options: dict[str, Any]) -> Any:
        scored = self._setup.scored
        before = scored() if scored is not None else 0
        one = explainer.explain(row, **options)[0]
        if scored is not None and explainer.backend == "black box" and options["max_predictions"] is not None:
            used = scored() - before
            # the query's own score, and those that confirm it and the reported set, are always needed
            if used > max(options["max_predictions"], 3):
                self._fail("a row alone", f"{used} rows scored with max_predictions={options['max_predictions']}")
        return one

    # -- answers -------------------------------------------------------------------------------------------------------

    def _compare_all(self, answers: list[Any], call: Call, where: str) -> set[int]:
        """Compare the answers of one call; only the first problem of a call is reported."""
        wrong: set[int] = set()
        predicted = None
        if self._setup.predict is not None and self._setup.repeatable:
            predicted = _safe_predictions(self._setup, self._n_rows)
        for row, one in enumerate(answers):
            problems = self._problems(row, one, call)
            if predicted is not None and not problems:
                problems = self._prediction_problems(row, one, predicted)
            self._report.comparisons += 1
            if problems:
                if not wrong:
                    self._fail(f"{where} row {row}", "; ".join(problems))
                wrong.add(row)
        return wrong

    def _problems(self, row: int, one: Any, call: Call) -> list[str]:
        setup = self._setups[row]
        if not setup.repeatable:
            return _unrepeatable_problems(one, setup, call)
        problems, goes_on = query_problems(one, self._scores[row], setup)
        if problems or not goes_on:
            return problems
        truth = Truth(self._vertices_of(row, call.kind), setup.threshold, setup.rounding, call, self._n_features)
        if truth.is_ambiguous:
            self._report.ambiguous += 1
            return []
        return answer_problems(one, truth, self._names, setup)

    def _vertices_of(self, row: int, kind: str) -> Vertices:
        if (row, kind) not in self._vertices:
            setup = self._setups[row]
            found = Vertices.of(setup, take(setup.queries, [row]), setup.reference, kind)
            self._report.vertices += len(found.sets)
            self._vertices[row, kind] = found
        return self._vertices[row, kind]

    def _prediction_problems(self, row: int, one: Any, predicted: np.ndarray) -> list[str]:
        """The decision explained is the model's own, but for exact ties, where the score rules."""
        score = self._scores[row]
        tie = abs(score - self._setup.threshold) <= self._setup.rounding
        if tie or str(one.status) == "error" or not np.isfinite(score):
            return []
        explained = str(one.status) != "not_target"
        return [] if explained == predicted[row] else [f"status {one.status}, predict says {predicted[row]}"]

    def _fail(self, where: str, problem: str) -> None:
        self._report.failures.append(Failure(self._seed, self._recipe, where, problem))


def _safe_predictions(setup: Setup, n_rows: int) -> np.ndarray | None:
    assert setup.predict is not None
    try:
        return np.asarray(setup.predict(take(setup.queries, range(n_rows))), dtype=bool)
    except Exception:
        if setup.may_fail:
            return None
        raise


def _unrepeatable_problems(one: Any, setup: Setup, call: Call) -> list[str]:
    """Without a brute force: a set that is reported has been seen to cross when it was scored again."""
    if str(one.status) == "error":
        return [] if one.reason else ["status error without a reason"]
    if one.size is None or not one.sets:
        return []
    positive = one.result_score >= setup.threshold
    if not np.isfinite(one.result_score) or positive != (call.kind == "plus"):
        return [f"{one.status} with result_score {one.result_score} and threshold {setup.threshold}"]
    return []


def _summary(one: Any) -> tuple[Any, ...]:
    return str(one.status), one.size, one.lower_bound, tuple(one.sets), one.sets_complete


def _loaded(explainer: sev.Explainer) -> sev.Explainer:
    """The explainer after a round trip through its own file format, or a pickle where the model has no safe form."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "explainer.sev"
        try:
            explainer.save(path)
        except SevError:
            return pickle.loads(pickle.dumps(explainer))
        return sev.load(path)


def _native_reference(setup: Setup, explainer: sev.Explainer) -> Any:
    """The reference as a table of the queries' library; pandas rows are what the explainer reports."""
    if setup.reference is not None:
        return setup.reference
    frame = explainer.reference
    kind = kind_of(setup.queries)
    if kind == "pandas":
        return frame
    if kind == "numpy":
        return frame.to_numpy(dtype=None if setup.queries.dtype == object else np.float64)
    raise AssertionError("cases of polars and pyarrow name their reference")


def _copy(table: Any) -> Any:
    kind = kind_of(table)
    if kind == "pandas":
        return table.copy(deep=True)
    return table.copy() if kind == "numpy" else table


def _same_table(one: Any, other: Any) -> bool:
    kind = kind_of(one)
    if kind == "numpy":
        return pd.DataFrame(one).equals(pd.DataFrame(other))
    if kind == "pandas":
        return one.equals(other) and list(columns_of(one)) == list(columns_of(other))
    return True  # tables of polars and pyarrow cannot be written into
