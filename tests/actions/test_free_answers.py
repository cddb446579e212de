"""Answers of ``values="any"``: what they state, sentences, files, batches, and ranges that are found later."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from actions.free_cases import NUMBERS, encoded, table
from actions.naive import is_missing
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import sev


def test_what_was_searched_is_stated_and_budgets_are_kept():
    generator = np.random.default_rng(0)
    rows = pd.DataFrame(generator.normal(size=(100, 4)), columns=list("abcd"))

    def score(table):
        array = np.asarray(table)
        return 1 / (1 + np.exp(-(array[:, 0] * array[:, 1] + np.sin(3 * array[:, 2]) + array[:, 3])))

    labels = (score(rows) >= 0.5).astype(int)
    explainer = sev.Explainer(score, rows, labels, allow_positive_reference=True)
    many = explainer.explain(rows.iloc[:20], values="any")
    assert {one for one, status in zip(many.values_searched, many.statuses, strict=True) if status != "not_target"} == {
        "candidates"
    }
    few = explainer.explain(rows.iloc[:20], values="any", max_predictions=3)
    assert {"undecided", "optimal"} >= set(few.statuses) - {"not_target"}
    assert "undecided" in few.statuses
    assert (few.lower_bounds[few.statuses == "undecided"] == 1).all()


@pytest.mark.parametrize("how", ["cannot be read", "not confirmed"])
def test_rows_that_the_search_of_trees_refuses_are_searched_with_the_model(how, monkeypatch):
    from sev.backends import CannotReadError
    from sev.backends.trees.free import search

    rows, labels = table(0)
    model = encoded(GradientBoostingClassifier(n_estimators=12, random_state=0)).fit(rows, labels)
    explainer = sev.Explainer(model, rows, labels)
    expected = explainer.explain(rows, values="any")
    refused = np.flatnonzero(expected.sizes > 0)[[1, 5, 6]]
    solve, n_calls = search.solve_free, []

    def solve_some(trees, problem):
        n_calls.append(len(problem.queries))
        mine = np.flatnonzero(problem.queries.index.isin(refused))
        if how == "cannot be read" and mine.size:
            raise CannotReadError("a row beside the cells")
        solution, moves = solve(trees, problem)
        owner = np.repeat(np.arange(len(solution)), np.diff(solution.offsets))
        kept = ~np.isin(owner, mine)
        return solution.with_errors(dict.fromkeys(mine.tolist(), "no")), type(moves)(
            targets=moves.targets[kept], cost=moves.cost[kept], proven_cost=moves.proven_cost[kept]
        )

    monkeypatch.setattr(search, "solve_free", solve_some)
    many = explainer.explain(rows, values="any")
    assert len(n_calls) > (how == "cannot be read")
    assert many.statuses.tolist() == expected.statuses.tolist()
    assert set(many.values_searched) == {"all"}
    for place, (one, other) in enumerate(zip(many, expected, strict=True)):
        assert {frozenset(names) for names in one.sets} == {frozenset(names) for names in other.sets}
        assert one.cost == pytest.approx(other.cost)
        assert bool(one.enough) == (other.size is not None and place not in refused)


def shows(cell, change):
    """Whether a cell of a picture is the new value, or a range that it lies in where one is known."""
    if change.enough is None or not isinstance(change.new, (int, float)):
        return str(change.new) in cell
    ends = [float(end) for end in re.findall(r"-?\d+(?:\.\d+)?", cell)]
    low = ends[0] if not cell.startswith("at most") else -np.inf
    high = ends[-1] if not cell.startswith("at least") else np.inf
    return low <= change.new <= high and (cell == f"{change.new:g}" or low < high)


def test_sentences_tables_and_pictures_show_the_values_of_each_set(tmp_path):
    from sev.plots._changes import _prepare
    from sev.plots._shown import speaker_of

    rows, labels = table(1)
    model = encoded(GradientBoostingClassifier(n_estimators=12, random_state=0)).fit(rows, labels)
    explainer = sev.Explainer(model, rows, labels, actions=sev.Actions(rules=["d <= 5"]))
    many = explainer.explain(rows, values="any")
    texts = many.to_text()
    checked = 0
    for one, text in zip(many, texts, strict=True):
        assert one.to_text() == text
        shown = _prepare(one, 4, 4, speaker_of(one)).set_index("feature")
        labels_of_sets = [column for column in shown if column.startswith("the change")]
        for number, label in enumerate(labels_of_sets):
            for name, change in one.changes_of(number).items():
                assert shows(shown.loc[name, label], change), (shown.loc[name, label], change)
                assert one.to_frame().iloc[2 + number][name] == change.new
                checked += number > 0
        for name, change in one.changes.items():
            if name != "job" and change.enough.low < change.enough.high:
                low, high = (f"{end:g}" for end in (change.enough.low, change.enough.high))
                told = (f"between {low} and {high}", f"at most {high}", f"at least {low}")
                assert any(f"{name} been {one}" in text for one in told)
    assert checked > 10
    sev.report(many, tmp_path / "report.html")
    assert "set to permitted values" in (tmp_path / "report.html").read_text("utf-8")


def test_missing_is_a_value_only_where_it_is_named():
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows, labels = table(0)
    rows = rows[NUMBERS].astype(float)
    rows.loc[::5, "d"] = np.nan
    model = HistGradientBoostingClassifier(max_iter=15).fit(rows, labels)
    for named in ((), ("d",)):
        explainer = sev.Explainer(model, rows, labels, actions=sev.Actions(allow_missing=named))
        many = explainer.explain(rows, values="any")
        new = [
            change.new for one in many for number in range(len(one.sets)) for change in one.changes_of(number).values()
        ]
        assert any(map(is_missing, new)) == bool(named)
        many.verify(explainer)


def test_answers_do_not_depend_on_the_batch_and_survive_files(tmp_path):
    rows, labels = table(1)
    model = encoded(LogisticRegression()).fit(rows, labels)
    explainer = sev.Explainer(model, rows, labels, actions=sev.Actions(increase=["d"], rules=["b <= 5 + d"]))
    together = explainer.explain(rows, values="any")
    alone = [explainer.explain_one(rows.iloc[place], values="any") for place in range(30)]
    # but for the last bit of a score, which depends on the rows that the model computes beside
    scores = {"score": 0.0, "result_score": 0.0}
    assert [{**one.to_dict(), **scores} for one in alone] == [{**one.to_dict(), **scores} for one in together[:30]]
    again = sev.Explanations.from_json(together.to_json(tmp_path / "x.json"))
    assert (again.to_json() == together.to_json()) is True
    assert [one.changes for one in again] == [one.changes for one in together]
    again.verify(explainer)
    explainer.save(tmp_path / "x.sev")
    assert (sev.load(tmp_path / "x.sev").explain(rows, values="any").to_json() == together.to_json()) is True
    assert together[[3, 1]][0].to_dict() == together[3].to_dict()


def test_ranges_are_found_when_they_are_read_and_leave_the_process_complete(tmp_path, monkeypatch):
    from sev.backends.trees.free import search

    rows, labels = table(1)
    model = encoded(GradientBoostingClassifier(n_estimators=12, random_state=0)).fit(rows, labels)
    explainer = sev.Explainer(model, rows, labels)
    grown = []
    find_ranges = search.find_ranges

    def find_and_count(trees, problem, numbers, sets, targets):
        grown.extend(numbers.tolist())
        return find_ranges(trees, problem, numbers, sets, targets)

    monkeypatch.setattr(search, "find_ranges", find_and_count)
    many = explainer.explain(rows, values="any")
    row = int(np.flatnonzero(np.diff(many.answers.offsets) > 1)[0])
    assert many[row].cost > 0
    many.to_frame()
    many.verify(explainer)
    assert grown == []
    first = many[row].changes
    assert len(grown) == 1
    assert many[row].enough == {name: change.enough for name, change in first.items()}
    assert len(grown) == 1
    second = many[row].changes_of(1)
    assert len(grown) == 2
    assert any(change.enough is not None for change in (*first.values(), *second.values()))
    n_explained = int((many.sizes > 0).sum())
    many.to_text()
    assert len(grown) == 1 + n_explained
    part = many[[row, 0]]
    whole = pickle.loads(pickle.dumps(many))
    read = sev.Explanations.from_json(many.to_json(tmp_path / "x.json"))
    n_grown = len(grown)
    assert n_grown == len(many.answers.masks)
    for other in (whole, read, part[[1, 0]]):
        mine = many[[0, row]] if len(other) == 2 else many
        for one, same in zip(other, mine, strict=True):
            assert [one.changes_of(at) for at in range(len(one.sets))] == [
                same.changes_of(at) for at in range(len(same.sets))
            ]
    assert len(grown) == n_grown
