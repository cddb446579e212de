"""Values of a set's own under ``min_credibility``: against every permitted cell, and within a budget."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from actions.free_cases import as_actions, fitted, random_entries, table
from actions.test_free_values import every_cell
from sklearn.ensemble import GradientBoostingClassifier

import sev
from sev.credibility import IsolationForest
from sev.explainers import _free

FAMILIES = ("linear", "additive", "bins", "trees", "forest", "networks", "function")
LEAST = (0.3, 0.8)


def crossing_cells(explainer, score, rows, query, cells):
    """All points that cross: which features each moves, and its credibility."""
    points = pd.DataFrame(list(product(*cells)), columns=list(rows.columns)).astype(rows.dtypes.to_dict())
    moved = np.column_stack([points[name].to_numpy() != query[name] for name in rows.columns])
    crosses = np.asarray(score(points)) < explainer.threshold
    shares = explainer.tasks[0].fitted_credibility.of_rows(points, explainer.form)
    return moved[crosses], shares[crosses]


@pytest.mark.filterwarnings("ignore:Bins whose width", "ignore::sev.exceptions.ReferenceWarning")
@pytest.mark.parametrize("values", ["any", "typical"])
@pytest.mark.parametrize("family", FAMILIES)
def test_sizes_and_sets_are_those_of_all_credible_cells(family, values):
    limited, n_checked = 0, 0
    for seed in range(3):
        rows, labels = table(seed)
        model, score = fitted(family, seed)
        entries = random_entries(np.random.default_rng(seed))
        explainer = sev.Explainer(
            model,
            rows,
            labels,
            actions=as_actions(entries),
            credibility=IsolationForest(n_trees=20, max_samples=64),
            allow_positive_reference=True,
        )
        queries = rows.iloc[:24]
        found_for = [explainer.explain(queries, values=values, min_credibility=least, max_sets=1000) for least in LEAST]
        for number, query in enumerate(queries.to_dict("records")):
            if found_for[0][number].status == "not_target":
                continue
            cells = every_cell(rows, labels, entries, query, explainer.reference.iloc[0], values)
            crossing, shares = crossing_cells(explainer, score, rows, query, cells)
            for many, least in zip(found_for, LEAST, strict=True):
                one, good = many[number], crossing[shares >= least]
                where = (family, values, seed, least, query)
                n_checked += 1
                sizes, size_without = good.sum(axis=1), crossing.sum(axis=1).min() if len(crossing) else None
                assert one.size_without_limit == size_without, where
                limited += len(crossing) > 0 and (not len(good) or sizes.min() > size_without)
                assert one.values_searched == "all"
                if not len(good):
                    assert one.status == "unexplainable", where
                    continue
                assert one.status == "optimal", where
                assert one.size == one.lower_bound == sizes.min(), where
                expected = {
                    frozenset(np.array(rows.columns)[line].tolist()) for line in good[sizes == sizes.min()].tolist()
                }
                found = {frozenset(names) for names in one.sets}
                assert found <= expected, where
                assert not one.sets_complete or found == expected, where
                assert one.credibility >= least
    assert n_checked > 40
    assert limited > 3


def test_a_row_that_takes_too_long_has_an_honest_answer(monkeypatch):
    """Continuous columns leave more values than can be tried: bounds hold, and no set is claimed to be the smallest."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(400, 14)), columns=[f"x{at}" for at in range(14)])
    labels = (rows.iloc[:, :6].sum(axis=1) + rows.x6 * rows.x7 > 0.8).to_numpy().astype(int)
    model = GradientBoostingClassifier(n_estimators=60, random_state=0).fit(rows, labels)
    explainer = sev.Explainer(model, rows, labels)
    queries = rows[model.predict(rows) == 1].iloc[:12]
    free = explainer.explain(queries, values="any")
    scored, score = [], _free.score_rows_safely

    def count(function, form, frame, **options):
        scored.append(len(frame))
        return score(function, form, frame, **options)

    monkeypatch.setattr(_free, "score_rows_safely", count)
    many = explainer.explain(queries, values="any", min_credibility=0.9)
    n_scored = sum(scored)
    scored.clear()
    explainer.explain(queries.iloc[:2], values="any", min_credibility=0.9, max_predictions=500)
    n_few = sum(scored)
    open_rows = [one for one in many if one.status in ("feasible", "undecided")]
    assert open_rows
    assert n_scored < 25_000 * len(many)
    assert n_few < 2_000
    for one, other in zip(many, free, strict=True):
        assert one.lower_bound >= other.lower_bound
        assert one.size_without_limit == other.size
        if one.size is not None:
            assert one.credibility >= 0.9
            assert one.result_score < 0.5
            assert (one.status == "optimal") == (one.size == one.lower_bound)


def test_the_search_for_a_row_ends_where_a_result_cannot_be_measured():
    """The row is an error whatever else would be found: nothing else is tried for it."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd"))

    def score(frame):
        return 1 / (1 + np.exp(-(frame["a"] * frame["b"] + frame["c"] + frame["d"]).to_numpy()))

    seen = []

    def measure(frame):
        seen.append(len(frame))
        if sum(seen) > 2 * len(rows):  # the background is measured first
            raise ValueError("no more")
        return np.zeros(len(frame)) + frame["a"].to_numpy()

    labels = (score(rows) >= 0.5).astype(int)
    explainer = sev.Explainer(score, rows, labels, credibility=measure, allow_positive_reference=True)
    explainer.explain(rows[labels == 1].iloc[:1], values="any", min_credibility=0.999, max_predictions=1)
    seen.append(2 * len(rows))
    n_before = len(seen)
    [one] = explainer.explain(rows[labels == 1].iloc[:1], values="any", min_credibility=0.5, max_predictions=8_000)
    assert one.status == "error"
    assert "no more" in one.reason
    # one block of one level of the search, which is taken apart to find the row that fails
    assert len(seen) - n_before < 400
    assert sum(seen[n_before:]) < 2_000
