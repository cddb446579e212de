"""Of many rows only the first sets are found at once; the others, when somebody reads them, are the same as at once."""

from __future__ import annotations

import pickle
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sev
from sev.backends.trees.free import solver
from sev.explainers import _free_batches, _free_best

MODELS = {
    "linear": lambda: LogisticRegression(max_iter=1000),
    "trees": lambda: GradientBoostingClassifier(n_estimators=40, max_depth=3, random_state=0),
}


def table(n_rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=list("abcd"))
    frame["kind"] = rng.choice(["red", "green", "blue"], size=n_rows)
    return frame


def make_explainer(name: str, **options: object) -> tuple[sev.Explainer, pd.DataFrame]:
    frame = table(400, 0)
    value = frame["a"] + 0.8 * frame["b"] - 0.7 * frame["c"] + 0.5 * (frame["kind"] == "red")
    labels = (value + 0.3 * np.sin(3 * frame["d"]) > 0.9).astype(int)
    encoder = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = make_pipeline(encoder, MODELS[name]()).fit(frame, labels)
    rows = table(400, 1)
    rows = rows[model.predict(rows) == 1].reset_index(drop=True)
    assert len(rows) > 40
    return sev.Explainer(model, frame, labels, **options), rows


def explain_at_once(explainer: sev.Explainer, rows: pd.DataFrame, **options: object) -> sev.Explanations:
    with patch.object(_free_batches, "_ROWS_LISTED_AT_ONCE", len(rows)):
        return explainer.explain(rows, values="any", **options)


def assert_same(later: sev.Explanations, at_once: sev.Explanations) -> None:
    assert later.to_json() == at_once.to_json()


@pytest.fixture(scope="module", params=sorted(MODELS))
def case(request):
    return make_explainer(request.param)


def test_the_same_sets_values_and_ranges_as_at_once(case):
    explainer, rows = case
    later, at_once = explainer.explain(rows, values="any"), explain_at_once(explainer, rows)
    assert not later._answers.listed.all(), "nothing was left for later"
    assert at_once._answers.listed.all()
    assert any(len(one.sets) > 2 for one in at_once)
    assert_same(later, at_once)


def test_two_rows_are_enough_to_leave_sets_for_later(case):
    explainer, rows = case
    several = [place for place, one in enumerate(explain_at_once(explainer, rows)) if len(one.sets) > 2]
    few = rows.iloc[several[:2]]
    later, at_once = explainer.explain(few, values="any"), explain_at_once(explainer, few)
    assert not later._answers.listed.any()
    assert_same(later, at_once)
    assert explainer.explain(few[:1], values="any")._answers.listed.all()


def test_first_sets_are_not_searched_for_again():
    """The work of both searches is that of the one that finds everything."""
    explainer, rows = make_explainer("trees", actions=sev.Actions(within=dict.fromkeys("abcd", ("-0.7", "+0.7"))))
    rows = rows[explainer.explain(rows, values="any").sizes > 1].iloc[:8]
    assert len(rows) == 8
    work = []

    def search(self):
        found = find(self)
        work.append(int(found.work.sum()))
        return found

    find = solver.Run._search_rows
    with patch.object(solver.Run, "_search_rows", search):
        later = explainer.explain(rows, values="any")
        assert len(work) == 1
        assert_same(later, explain_at_once(explainer, rows))
    first, whole, others = work
    assert max(first, others) < whole
    assert first + others == pytest.approx(whole, rel=0.01)


def test_first_sets_are_known_without_listing(case):
    explainer, rows = case
    later, at_once = explainer.explain(rows, values="any"), explain_at_once(explainer, rows)
    known = later.first_sets(), later.sizes.tolist(), later.result_scores.tolist(), later.credibilities.tolist()
    assert not later._answers.listed.all()
    assert known[0] == at_once.first_sets()
    assert known[1:] == (
        at_once.sizes.tolist(),
        at_once.result_scores.tolist(),
        at_once.credibilities.tolist(),
    )
    assert len(later.references) == len(at_once.references)
    assert known[2] == later.result_scores.tolist() == later.answers.result_score.tolist()


def test_rows_one_at_a_time(case):
    explainer, rows = case
    later, at_once = explainer.explain(rows, values="any"), explain_at_once(explainer, rows)
    for place in [7, 3, *range(len(rows)), -1]:
        one, other = later[place], at_once[place]
        assert (one.sets, one.sets_complete, one.cost) == (other.sets, other.sets_complete, other.cost)
        assert one.enough == other.enough
        assert one.result.equals(other.result)
        assert [a.explanation.cost for a in one.alternatives()] == [a.explanation.cost for a in other.alternatives()]
    assert not later._answers.listed.all()
    assert_same(later, at_once)


def test_some_of_the_rows(case):
    explainer, rows = case
    later, at_once = explainer.explain(rows, values="any")[5:30:2], explain_at_once(explainer, rows)[5:30:2]
    assert not later._answers.listed.all()
    assert [one.sets for one in later] == [one.sets for one in at_once]
    assert [one.result.tolist() for one in later] == [one.result.tolist() for one in at_once]
    later.verify()


def test_a_copy_without_the_model_has_all_sets(case):
    explainer, rows = case
    copy = pickle.loads(pickle.dumps(explainer.explain(rows, values="any")))
    assert [one.sets for one in copy] == [one.sets for one in explain_at_once(explainer, rows)]


def test_few_sets_are_kept(case):
    explainer, rows = case
    later, at_once = (call(explainer, rows, max_sets=2) for call in (_explain_any, explain_at_once))
    assert_same(later, at_once)


def _explain_any(explainer: sev.Explainer, rows: pd.DataFrame, **options: object) -> sev.Explanations:
    return explainer.explain(rows, values="any", **options)


def test_rules_and_orders_are_not_left_for_later(case):
    explainer, rows = case
    settings = explainer.explain(rows[:1], values="any").source._settings
    tasks = list(explainer.tasks)
    assert _free_best.can_list_later(tasks, settings)
    for change in ({"order": "closest"}, {"minimise": "cost"}, {"time_limit": 5.0}, {"min_credibility": 0.2}):
        many = explainer.explain(rows[:20], values="any", **change)
        assert many._answers.listed.all(), change
    ruled, rows = make_explainer("linear", actions=sev.Actions(rules=["a <= b + 20"]))
    assert ruled.explain(rows, values="any")._answers.listed.all()


def test_rows_that_the_model_alone_answers_are_kept_as_they_are(case):
    explainer, rows = case
    at_once = explain_at_once(explainer, rows)
    whole = _free_batches.answer_free_chunk
    asked = []

    def answer(tasks, queries, settings, *, first_only=False, **_):
        asked.append((len(queries), first_only))
        found = whole(tasks, queries, settings, first_only=first_only)
        if not first_only:
            return found
        # every other row comes with all its sets, as those do on which reading and model differ
        all_sets = whole(tasks, queries, settings)
        both = type(found).concatenate([found, all_sets])
        n_rows = len(queries)
        return both.take(np.arange(n_rows) + n_rows * (np.arange(n_rows) % 2))

    with patch.object(_free_batches, "answer_free_chunk", answer):
        later = explainer.explain(rows, values="any")
        n_waiting = int((~later._answers.listed).sum())
        assert 0 < n_waiting < len(rows)
        asked.clear()
        assert_same(later, at_once)
    assert sum(n for n, _ in asked) == n_waiting


def test_rows_of_sums_are_searched_at_once_where_none_takes_long():
    explainer, rows = make_explainer("linear")
    rows = pd.concat([rows] * 2)[:70]

    def count_chunks(**options):
        with patch.object(_free_batches, "answer_free_chunk", wraps=_free_batches.answer_free_chunk) as asked:
            explainer.explain(rows, values="any", **options)
        return asked.call_count

    assert count_chunks() == 1
    assert count_chunks(minimise="cost") > 1
