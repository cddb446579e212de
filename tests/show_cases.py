"""Small results to say, draw and report: every status, hostile names, a fitted model."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sev
from sev.backends import Scorer
from sev.core import Answers, Status, pack
from sev.explainers._vertices import Vertices
from sev.explanations import Explanations
from sev.space import FeatureSpace, Mixer, TableForm

HOSTILE = (
    "$\\frac{$",
    "<script>alert(1)</script>",
    "two\nlines",
    "=cmd|' /C calc'!A0",
    "{label}",
    "_hidden",
    "</script><img src=x onerror=alert(1)>",
)


def made(
    rows: list[tuple[Status, list[tuple[int, ...]]]],
    names: tuple[str, ...] = ("age", "income", "debt"),
    *,
    kind: sev.typing.Kind = "minus",
    restricted: tuple[str, ...] = (),
    complete: bool = True,
    target: object = "bad",
) -> Explanations:
    """Explanations with the statuses and sets that a test needs, and no model."""
    sets = [one for _, some in rows for one in some]
    chosen = np.zeros((len(sets), len(names)), dtype=bool)
    for number, members in enumerate(sets):
        chosen[number, list(members)] = True
    has_set = np.array([bool(some) for _, some in rows])
    positive = np.array([status is not Status.NOT_TARGET for status, _ in rows])
    answers = Answers(
        status=np.array([status.code for status, _ in rows], dtype=np.int8),
        lower_bound=np.array([len(some[0]) if some else 1 for _, some in rows], dtype=np.int64),
        score=np.where(positive, 0.75, 0.25),
        result_score=np.where(has_set, 0.25, np.nan),
        target=np.zeros(len(rows), dtype=np.int64),
        reference=np.zeros(len(rows), dtype=np.int64),
        offsets=np.cumsum([0, *(len(some) for _, some in rows)]),
        masks=pack(chosen),
        complete=np.full(len(rows), complete),
        listed=np.ones(len(rows), dtype=bool),
        size_without_limit=np.full(len(rows), np.nan),
        first_of_all=np.ones(len(rows), dtype=bool),
        reasons={row: "the model raised" for row, (status, _) in enumerate(rows) if status is Status.ERROR},
    )
    queries = pd.DataFrame({name: np.arange(len(rows)) + 10.0 * place for place, name in enumerate(names)})
    return Explanations(
        answers=answers,
        queries=queries,
        references=pd.DataFrame({name: [-1.5 - place] for place, name in enumerate(names)}),
        features={name: (name,) for name in names},
        kind=kind,
        targets=(target,),
        thresholds=(0.5,),
        restricted=restricted,
    )


def every_status(names: tuple[str, ...] = ("age", "income", "debt"), **options: object) -> Explanations:
    """One row of each status, and a second optimal one with two sets."""
    return made(
        [
            (Status.OPTIMAL, [(0,)]),
            (Status.OPTIMAL, [(0, 1), (1, 2)]),
            (Status.FEASIBLE, [(0, 1, 2)]),
            (Status.UNEXPLAINABLE, []),
            (Status.UNDECIDED, []),
            (Status.NOT_TARGET, []),
            (Status.ERROR, []),
        ],
        names,
        **options,
    )


@cache
def loans(n_rows: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    """Made-up loans: amounts, a two-valued and a text-like column that decide, and some that hardly do."""
    rng = np.random.default_rng(7)
    rows = pd.DataFrame(
        {
            "amount": rng.gamma(3.0, 2000.0, n_rows).round(),
            "months": rng.integers(6, 60, n_rows).astype(float),
            "income": rng.normal(3000.0, 900.0, n_rows).round(),
            "age": rng.integers(19, 75, n_rows).astype(float),
            "owner": rng.integers(0, 2, n_rows).astype(float),
        }
    )
    lead = rows["amount"] / 3000 + rows["months"] / 15 - rows["income"] / 1000 - rows["age"] / 30 - rows["owner"]
    labels = np.where(lead + rng.normal(0, 0.7, n_rows) > lead.median(), "refuse", "accept")
    return rows, labels


@cache
def loan_model(columns: tuple[str, ...] = ()) -> object:
    rows, labels = loans()
    chosen = rows[list(columns)] if columns else rows
    return make_pipeline(StandardScaler(), LogisticRegression(C=10.0)).fit(chosen, labels)


@cache
def loan_explainer(restricted: tuple[str, ...] = ()) -> sev.Explainer:
    rows, labels = loans()
    return sev.Explainer(loan_model(), rows, labels, target="refuse", restricted=restricted)


class StandIn:
    """Stands for an explainer of made-up results: scores rows with a function of a DataFrame."""

    def __init__(self, score):
        self.source = self
        self._score = score

    def vertices(self, queries, references, assigned, kind, target):
        scorer = Scorer(self._score, "call", 2, target, 1, 0.5)
        form, space = TableForm.of(queries), FeatureSpace.of_columns({one: [one] for one in queries}, queries.columns)
        return Vertices(scorer, Mixer(form, space, queries, references, assigned), queries, assigned, kind)

    def score_tolerances(self, queries, target):
        return np.zeros(len(queries))

    def sample(self):
        return pd.DataFrame()

    def alone(self, queries, number, usable):
        return None
