"""One feature alone, the price of locks, and the menu, against the model itself."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import sev
from sev.exceptions import InputError


@pytest.fixture(scope="module")
def case():
    generator = np.random.default_rng(0)
    rows = pd.DataFrame(generator.integers(0, 6, (150, 4)), columns=list("abcd"))
    labels = (rows.a + rows.b - rows.c + rows.d / 2 > 5).to_numpy().astype(int)
    model = LogisticRegression().fit(rows, labels)
    actions = sev.Actions(frozen=["d"], increase=["c"], rules=["b + c >= 2"])
    return rows, model, sev.Explainer(model, rows, labels, actions=actions)


@pytest.mark.filterwarnings("ignore::sev.exceptions.RuleWarning")
def test_alone_is_what_the_model_says(case):
    rows, model, explainer = case
    queries = rows.iloc[:40]
    found = explainer.alone(queries)
    positive = queries[model.predict(queries) == 1]
    assert sorted(set(found.index.get_level_values("row"))) == sorted(positive.index)
    assert set(found.index.get_level_values("feature")) == {"a", "b", "c"}
    for label, query in positive.iterrows():
        for name in "abc":
            options = [value for value in range(6) if value != query[name] and (name != "c" or value > query.c)]
            points = pd.DataFrame([query] * len(options)).assign(**{name: options}) if options else positive.iloc[:0]
            good = (model.predict(points) == 0) if options else np.zeros(0, dtype=bool)
            if query.b + query.c >= 2:
                good &= (points.b + points.c >= 2).to_numpy()
            line = found.loc[(label, name)]
            assert line["works"] == good.any()
            assert line["share"] == pytest.approx(good.mean() if options else 0.0)
            assert line["searched"] == "all"
    assert found["works"].any()
    assert not found["works"].all()


@pytest.mark.filterwarnings("ignore::sev.exceptions.RuleWarning")
def test_a_lock_that_costs_effort_but_no_further_feature_is_not_free(case):
    rows, model, explainer = case
    prices = pd.concat(
        [explainer.price(rows.loc[label], ["a", "b", "c"]) for label in rows.index[model.predict(rows) == 1][:12]]
    )
    same = prices[prices["size_with"] == prices["size_without"]]
    assert set(same["outcome"]) == {"free", "costlier"}
    rises = same["cost_with"] > same["cost_without"] + 1e-6
    assert ((same["outcome"] == "costlier") == rises).all()


@pytest.mark.filterwarnings("ignore::sev.exceptions.RuleWarning")
def test_the_price_of_locks_and_the_menu(case):
    rows, model, explainer = case
    seen = set()
    for label in rows.index[model.predict(rows) == 1][:6]:
        row = rows.loc[label]
        price = explainer.price(row, ["a", "d"], values="reference")
        free = explainer.with_actions(sev.Actions(increase=["c"], rules=["b + c >= 2"]))
        without = free.explain_one(row)
        assert price["size_without"].tolist() == [without.size] * 3
        for lock, names in (("a", ["a"]), ("d", ["d"]), ("all of them", ["a", "d"])):
            one = free.explain_one(row, restricted=names)
            shown = price.loc[lock, "size_with"]
            assert (None if pd.isna(shown) else shown) == one.size
            assert (price.loc[lock, "outcome"] == "impossible") == (one.status == "unexplainable")
            seen.add(price.loc[lock, "outcome"])
        menu = explainer.menu(row, max_size=2)
        works = {frozenset(names) for names in menu.loc[menu.outcome == "works", "features"]}
        for size in (1, 2):
            for names in combinations("abc", size):
                one = explainer.explain_one(
                    row, values="any", restricted=[name for name in "abcd" if name not in names]
                )
                assert (frozenset(names) in works) == (one.size == size)
        smallest = explainer.explain_one(row, values="any")
        if smallest.size and smallest.size <= 2:
            assert {frozenset(names) for names in smallest.sets} <= works
    assert len(seen) > 1


@pytest.mark.parametrize("values", ["reference", "typical", "any"])
def test_the_menu_scores_the_sets_of_a_size_together(case, values, monkeypatch):
    rows, model, _ = case
    wide = pd.concat([rows.add_suffix(str(copy)) for copy in range(4)], axis=1)
    labels = model.predict(rows)
    wider = LogisticRegression().fit(wide, labels)
    row = wide[wider.predict(wide) == 1].iloc[0]
    calls, usual = [], LogisticRegression.predict_proba
    monkeypatch.setattr(LogisticRegression, "predict_proba", lambda self, X: calls.append(len(X)) or usual(self, X))
    explainer = sev.Explainer(wider, wide, labels)
    calls.clear()
    menu = explainer.menu(row, max_size=2, values=values)
    assert len(menu) > 20
    assert 0 < len(calls) < 10


def test_a_price_is_that_of_the_set_which_explain_puts_first():
    generator = np.random.default_rng(1)
    rows = pd.DataFrame(generator.normal(size=(200, 3)), columns=list("abc")) * [1.0, 3.0, 2.0]
    labels = (rows.a * 3 + rows.b + rows.c > 0).to_numpy().astype(int)
    model = LogisticRegression().fit(rows, labels)
    explainer = sev.Explainer(model, rows, labels)
    for values in ("reference", "any"):
        for label in rows.index[model.predict(rows) == 1][:20]:
            price = explainer.price(rows.loc[label], ["a"], values=values)
            assert price["cost_without"].tolist() == [explainer.explain_one(rows.loc[label], values=values).cost]


def test_bad_questions_are_refused(case):
    rows, model, explainer = case
    other = rows.loc[rows.index[model.predict(rows) == 0][0]]
    with pytest.raises(InputError, match="nothing to undo"):
        explainer.price(other, ["a"])
    with pytest.raises(InputError, match="nothing to undo"):
        explainer.menu(other)
    with pytest.raises(InputError, match="at least one feature"):
        explainer.price(other, [])
    with pytest.raises(InputError, match="locks names 'z'"):
        explainer.price(other, ["z"])
    with pytest.raises(InputError, match="max_size=0"):
        explainer.menu(other, max_size=0)
    with pytest.raises(InputError, match="'kind' is not an option here"):
        explainer.price(other, ["a"], kind="plus")


@pytest.fixture(scope="module")
def spike():
    """Trees that say no in one narrow place of a column with very many values."""
    generator = np.random.default_rng(3)
    rows = pd.DataFrame({"amount": generator.integers(0, 20_000, 400), "other": generator.integers(0, 3, 400)})
    rows.loc[:5, "amount"] = [7_102, 7_104, 7_106, 7_108, 7_090, 7_120]
    narrow = rows.amount.between(7_101, 7_109).to_numpy()
    return rows, DecisionTreeClassifier(random_state=0).fit(rows, ~narrow), (~narrow).astype(int)


def test_alone_agrees_with_the_search_over_all_values(spike):
    rows, model, labels = spike
    explainer = sev.Explainer(model, rows, labels)
    queries = rows[model.predict(rows)].iloc[:5]
    found = explainer.alone(queries)
    for label, one in zip(queries.index, explainer.explain(queries, values="any"), strict=True):
        assert one.sets == (("amount",),)
        assert found.loc[(label, "amount"), "works"]
        assert 0 < found.loc[(label, "amount"), "share"] < 0.1
        assert not found.loc[(label, "other"), "works"]
    barred = explainer.with_actions(sev.Actions(within={"amount": sev.between(0, 7_000)})).alone(queries)
    assert not barred["works"].any()
    assert (barred["searched"] == "all").all()


def test_alone_with_values_of_the_reference_looks_at_one_value(case):
    rows, _, explainer = case
    found = explainer.alone(rows.iloc[:40], values="reference")
    assert found["n_values"].max() == 1
    many = explainer.explain(rows.iloc[:40], values="reference")
    for label, one in zip(rows.index[:40], many, strict=True):
        if one.size == 1 and one.sets_complete:
            works = found.loc[label].index[found.loc[label, "works"]]
            assert {names[0] for names in one.sets} == set(works)


@pytest.mark.parametrize("step", [1, 7, 0.25, None])
def test_the_share_of_numbers_with_many_values_is_exact_for_trees(step):
    generator = np.random.default_rng(5)
    rows = pd.DataFrame({"a": generator.integers(0, 900, 500), "b": generator.normal(0, 20, 500).round(1)})
    labels = ((rows.a % 300 > 120) ^ (rows.b > 0)).astype(int)
    model = GradientBoostingClassifier(n_estimators=20, max_depth=3, random_state=0).fit(rows, labels)
    actions = sev.Actions(increase=["a"], steps={} if step is None else {"a": max(1, step), "b": step})
    explainer = sev.Explainer(model, rows, labels, actions=actions, allow_positive_reference=True)
    queries = rows[model.predict(rows) == 1].iloc[:8]
    found = explainer.alone(queries)
    shares = set()
    for label, query in queries.iterrows():
        for name in "ab":
            fine = step is None and name == "b"  # every number is permitted: the share of its range
            size = 0.02 if fine else max(1, step or 1) if name == "a" else step
            first = np.ceil((query.a + 1 if name == "a" else rows.b.min()) / size)
            options = np.arange(first, np.floor(rows[name].max() / size) + 1) * size
            options = options[options != query[name]]
            points = pd.DataFrame([query] * len(options)).assign(**{name: options})
            line = found.loc[(label, name)]
            good = model.predict(points) == 0 if len(points) else np.zeros(0)
            assert line["searched"] == "all"
            assert line["works"] == good.any()
            share = good.mean() if len(good) else 0.0
            assert line["share"] == pytest.approx(share, abs=2e-3 if fine else 1e-12)
            assert fine or line["n_values"] == len(options)
            shares.add(line["share"])
    assert len(shares) > 6


@pytest.mark.filterwarnings("ignore::sev.exceptions.RuleWarning")
def test_the_price_over_reference_values_is_that_of_an_explanation_with_the_lock(case, monkeypatch):
    rows, model, explainer = case
    searches, usual = [], type(explainer).explain_rows
    monkeypatch.setattr(
        type(explainer), "explain_rows", lambda *given, **options: searches.append(1) or usual(*given, **options)
    )
    labels = rows.index[model.predict(rows) == 1][:25]
    wanted = sev.Explainer(model, rows, model.predict(rows), actions=sev.Actions(costs={"a": 3.0}, increase=["c"]))
    seen = set()
    for one in (wanted, wanted.with_actions(None)):
        for label in labels:
            searches.clear()
            prices = one.price(rows.loc[label], list("abcd"), values="reference")
            seen.add(len(searches))
            for lock, line in prices.iterrows():
                other = one.explain_one(rows.loc[label], restricted=list("abcd") if lock == "all of them" else [lock])
                assert (None if pd.isna(line["size_with"]) else line["size_with"]) == other.size
                assert (None if pd.isna(line["cost_with"]) else line["cost_with"]) == pytest.approx(other.cost)
    assert min(seen) < 5  # a lock that leaves a smallest set needs no search


def test_rows_of_permitted_values_are_made_and_scored_once(case):
    rows, model, _ = case
    explainer = sev.Explainer(
        model, rows, model.predict(rows), actions=sev.Actions(within={"a": ("-1", "+1")}, decrease=["b"])
    )
    [task] = explainer.tasks
    queries, assigned = rows[model.predict(rows) == 1].iloc[:3], np.zeros(3, dtype=np.int64)
    found = task.nearest.permit(queries, assigned)
    assert found.rows is not task.reference.rows
    assert task.nearest.permit(queries.copy(), assigned).rows is found.rows
    assert task.compared_with(found) is task.compared_with(task.nearest.permit(queries, assigned))
    other = task.nearest.permit(queries.assign(a=0), assigned)
    assert other.key != found.key
    assert task.compared_with(other) is not task.compared_with(found)


def test_what_only_some_values_could_not_do_is_not_called_impossible():
    generator = np.random.default_rng(3)
    rows = pd.DataFrame(generator.normal(size=(300, 3)), columns=list("abc"))
    labels = (rows.a + rows.b + rows.c > 0).to_numpy().astype(int)
    model = LogisticRegression().fit(rows, labels)
    hidden = sev.Explainer(lambda given: model.predict_proba(given)[:, 1], rows, labels)
    row = rows[model.predict(rows) == 1].iloc[[0]] * 0 + 9.0  # no feature can do it alone
    menu = hidden.menu(row, max_size=1)
    assert set(menu["searched"]) == {"candidates"}
    assert set(menu["outcome"]) == {"not decided"}
    assert not hidden.price(row, ["a"])["proven"].any()
    known = sev.Explainer(model, rows, labels).menu(row, max_size=1)
    assert set(known["outcome"]) == {"cannot work"}
