"""Credibility, distance and price on results: with values of their own, in tables and files, saved and loaded."""

import json
import pickle
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sev
from sev.credibility import GaussianMixture, IsolationForest, NearestNeighbours
from sev.exceptions import InputError

SMALL_FOREST = IsolationForest(n_trees=25, max_samples=64)


def _loans(seed: int = 0, n_rows: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "income": rng.normal(50, 12, n_rows).round(1),
            "debt": rng.normal(10, 4, n_rows).round(1),
            "children": rng.integers(0, 4, n_rows),
            "region": rng.choice(["north", "south", "west"], n_rows),
        }
    )
    refused = (table["debt"] - 0.25 * table["income"] + (table["region"] == "west") > -2).to_numpy().astype(int)
    return table, refused


def _pipeline(model) -> object:
    return make_pipeline(make_column_transformer((OneHotEncoder(), ["region"]), remainder="passthrough"), model)


def _explainer(**options) -> tuple[sev.Explainer, pd.DataFrame]:
    table, refused = _loans()
    model = _pipeline(GradientBoostingClassifier(n_estimators=30, random_state=0)).fit(table, refused)
    explainer = sev.Explainer(model, table, refused, **{"credibility": SMALL_FOREST, **options})
    return explainer, table[model.predict(table) == 1]


def _categories(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {name: rng.choice(["a", "b", "c"], 200, p=[0.7, 0.25, 0.05]) for name in ("one", "two", "three", "four")}
    )
    score = sum((table[name] == value).astype(float) for name, value in zip(table, "cbcb", strict=True))
    return table, (score + rng.normal(0, 0.4, 200) > 0.8).to_numpy().astype(int)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        GradientBoostingClassifier(n_estimators=15, random_state=0),
        MLPClassifier((6,), solver="lbfgs", max_iter=3000, tol=1e-2, random_state=0),
    ],
    ids=["linear", "trees", "networks"],
)
@pytest.mark.parametrize("least", [0.0, 0.3, 0.8])
def test_any_values_equal_brute_force(model, least):
    table, labels = _categories(4)
    fitted = make_pipeline(make_column_transformer((OneHotEncoder(), list(table))), model).fit(table, labels)
    explainer = sev.Explainer(fitted, table, labels, credibility=SMALL_FOREST)
    rows = table[fitted.predict(table) == 1].drop_duplicates().iloc[:6]
    many = explainer.explain(rows, values="any", min_credibility=least, order="credible")
    credibility = explainer.tasks[0].fitted_credibility
    changed = 0
    for number, one in enumerate(many):
        query = rows.iloc[number]
        size, best, without = _smallest(fitted, credibility, explainer, query, least)
        assert one.size == size
        assert one.status == ("unexplainable" if size is None else "optimal")
        if least > 0:
            assert one.size_without_limit == without
            changed += size != without
        if size is not None:
            assert one.credibility >= least
            assert one.credibility <= best
            assert fitted.predict(one.result.to_frame().T)[0] == 0
            assert not least or not one.enough  # what is proven about ranges says nothing of credibility
    assert changed or least < 0.8


def _smallest(model, credibility, explainer, query, least):
    found = []
    for size in range(1, len(query) + 1):
        for names in combinations(query.index, size):
            for values in product("abc", repeat=size):
                if all(query[name] != value for name, value in zip(names, values, strict=True)):
                    found.append((size, {**query, **dict(zip(names, values, strict=True))}))
    rows = pd.DataFrame([row for _, row in found])
    across = model.predict(rows) == 0
    shares = credibility.of_rows(rows, explainer.form)
    sizes = np.array([size for size, _ in found])
    without = sizes[across].min() if across.any() else None
    good = across & (shares >= least)
    if not good.any():
        return None, None, without
    return sizes[good].min(), shares[good & (sizes == sizes[good].min())].max(), without


def test_typical_values_come_closest_first():
    explainer, rows = _explainer()
    many = explainer.explain(rows.iloc[:20], values="typical", order="closest", max_sets=100)
    several = 0
    for one in many:
        scales = {name: scale for name, (_, scale) in one.efforts.items()}
        keys = []
        for number in range(len(one.sets)):
            moved = [
                abs(change.new - change.old) / scales[name]
                for name, change in one.changes_of(number).items()
                if scales[name]
            ]
            keys.append((round(max(moved, default=0.0), 9), round(sum(moved), 9)))
        assert keys == sorted(keys)
        several += len(keys) > 1
    assert several


def test_distance_counts_numbers_in_standard_deviations_and_categories_one_by_one():
    explainer, rows = _explainer()
    table, _ = _loans()
    seen = set()
    for one in explainer.explain(rows.iloc[:60]):
        far = [
            abs(change.new - change.old) / table[name].std(ddof=0)
            for name, change in one.changes.items()
            if name != "region"
        ]
        assert one.distance.largest == pytest.approx(max(far, default=0.0))
        assert one.distance.total == pytest.approx(sum(far))
        assert one.distance.categories == ("region" in one.features)
        seen.add(one.distance.categories)
    assert seen == {0, 1} or len(seen) == 1


def test_tables_dictionaries_and_files_hold_it(tmp_path):
    explainer, rows = _explainer()
    many = explainer.explain(rows.iloc[:12], min_credibility=0.4, order="closest")
    frame = many.to_frame()
    assert frame["credibility"].tolist() == many.credibilities.tolist()
    assert frame["size_without_limit"].tolist() == many.sizes_without_limit.tolist()
    assert "size_without_limit" not in explainer.explain(rows.iloc[:2]).to_frame()
    plain = many[0].to_dict()
    assert json.loads(json.dumps(plain))["credibility"] == many[0].credibility >= 0.4
    assert plain["distance"] == {
        "largest": many[0].distance.largest,
        "total": many[0].distance.total,
        "categories": many[0].distance.categories,
    }
    many.to_json(tmp_path / "many.json")
    for again in (sev.Explanations.from_json(tmp_path / "many.json"), pickle.loads(pickle.dumps(many))):
        assert again.credibilities.tolist() == many.credibilities.tolist()
        assert again.sizes_without_limit.tolist() == many.sizes_without_limit.tolist()
        assert (again.order, again.min_credibility) == ("closest", 0.4)
        assert again[0].price_of_credibility == many[0].size - many[0].size_without_limit
        assert again[0].distance == many[0].distance
        again.verify(explainer)
    many.verify()


@pytest.mark.parametrize("measure", [None, GaussianMixture(2), NearestNeighbours(2)], ids=repr)
def test_a_loaded_explainer_measures_the_same(tmp_path, measure):
    explainer, rows = _explainer(credibility=measure)
    explainer.save(tmp_path / "loans.sev")
    loaded = sev.load(tmp_path / "loans.sev")
    for options in ({}, {"min_credibility": 0.5}, {"order": "credible"}):
        one, other = (each.explain(rows.iloc[:10], **options) for each in (explainer, loaded))
        assert one.credibilities.tolist() == other.credibilities.tolist()
        assert one.to_frame().equals(other.to_frame())
    again = pickle.loads(pickle.dumps(loaded)).explain(rows.iloc[:10])
    assert again.credibilities.tolist() == explainer.explain(rows.iloc[:10]).credibilities.tolist()


def test_nothing_is_fitted_until_somebody_asks(monkeypatch):
    fits = []
    real = IsolationForest.fit
    monkeypatch.setattr(IsolationForest, "fit", lambda self, others: fits.append(1) or real(self, others))
    explainer, rows = _explainer()
    many = explainer.explain(rows)
    assert many.sizes.size
    assert many[0].features
    assert many[0].to_text()
    assert not fits
    assert many[0].credibility is not None
    assert many.credibilities.size
    assert explainer.explain(rows, order="credible").sizes.size
    assert len(fits) == 1


def test_rows_of_the_user_may_change_afterwards():
    table, refused = _loans()
    model = _pipeline(LogisticRegression(max_iter=5000)).fit(table, refused)
    rows = table[model.predict(table) == 1].iloc[:5].copy()
    untouched = sev.Explainer(model, table.copy(), refused, credibility=SMALL_FOREST).explain(rows).credibilities
    explainer = sev.Explainer(model, table, refused, credibility=SMALL_FOREST)
    table["income"] = -1000.0
    assert explainer.explain(rows).credibilities.tolist() == untouched.tolist()


@pytest.mark.filterwarnings("ignore::sev.exceptions.FallbackWarning")
def test_each_class_has_credibility_of_its_own():
    table, refused = _loans()
    classes = np.where(table["children"] > 2, 2, refused)
    model = _pipeline(GradientBoostingClassifier(n_estimators=15, random_state=0)).fit(table, classes)
    explainer = sev.Explainer(model, table, classes, target="predicted", credibility=SMALL_FOREST)
    many = explainer.explain(table.iloc[:40], min_credibility=0.2)
    found = ~np.isnan(many.sizes)
    assert found.any()
    assert len(set(many.answers.target[found].tolist())) > 1
    assert (many.credibilities[found] >= 0.2).all()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"order": "nearest"}, "order='nearest' is not known"),
        ({"min_credibility": 1.5}, "min_credibility=1.5 must be a number from 0"),
        ({"min_credibility": True}, "min_credibility=True"),
        ({"min_credibility": float("nan")}, "min_credibility=nan"),
        ({"min_credibility": "0.05"}, "min_credibility='0.05'"),
        ({"kind": "plus", "min_credibility": 0.1}, 'works with kind="minus" only'),
        ({"kind": "plus", "order": "credible"}, 'works with kind="minus" only'),
    ],
)
def test_options_are_checked(options, problem):
    explainer, rows = _explainer()
    with pytest.raises(InputError, match=problem):
        explainer.explain(rows, **options)


def test_an_explainer_without_credibility():
    explainer, rows = _explainer(credibility=False)
    assert explainer.explain_one(rows.iloc[0]).credibility is None
    assert np.isnan(explainer.explain(rows.iloc[:3]).credibilities).all()
    with pytest.raises(InputError, match="credibility=False"):
        explainer.explain(rows, min_credibility=0.1)


def test_plus_has_no_credibility_but_may_come_closest_first():
    explainer, rows = _explainer()
    many = explainer.explain(rows.iloc[:5], kind="plus", order="closest")
    assert np.isnan(many.credibilities).all()
    assert many[0].credibility is None


def test_actions_and_rules_hold_beside_the_limit():
    table, refused = _loans()
    model = _pipeline(GradientBoostingClassifier(n_estimators=30, random_state=0)).fit(table, refused)
    rows = table[model.predict(table) == 1].iloc[:15]
    actions = sev.Actions(decrease=["debt"], rules=["debt <= income"], costs={"income": 3.0})
    explainer = sev.Explainer(model, table, refused, actions=actions, credibility=SMALL_FOREST)
    plain, limited = explainer.explain(rows), explainer.explain(rows, min_credibility=0.5)
    for one, other in zip(plain, limited, strict=True):
        assert other.size_without_limit == one.size
        if other.size is not None:
            assert other.credibility >= 0.5
            assert other.result["debt"] <= min(other.query["debt"], other.result["income"])


def test_sentences_state_the_price_and_what_rows_are_compared_with():
    explainer, rows = _explainer(reference=sev.references.Clusters(3))
    many = explainer.explain(rows.iloc[:40], min_credibility=0.9)
    texts = many.to_text()
    prices = {one.price_of_credibility for one in many}
    assert {0, 1} <= prices
    for one, text in zip(many, texts, strict=True):
        assert text == one.to_text()
        assert f"Compared with {one.compared_with}." in text
        assert one.compared_with.startswith("group ")
        if one.price_of_credibility is not None:
            assert "The result is credible: at least 90% of the real rows" in text
            assert ("Without this limit" in text) == (one.price_of_credibility > 0)
        if one.price_of_credibility == 1 and one.size == 2:
            assert "Without this limit, one feature would do." in text
    plain = explainer.explain(rows.iloc[:3]).to_text()
    assert not any("credible" in text for text in plain)


def test_sentences_of_rows_without_a_credible_result():
    explainer, rows = _explainer()
    many = explainer.explain(rows.iloc[:40], min_credibility=0.9, restricted=["income"])
    one = next(one for one in many if one.status == "unexplainable" and one.size_without_limit == 1)
    assert "no permitted change with a credible result undoes that without using income" in one.to_text()
    assert "One feature would do, but no result is credible" in one.to_text()


@pytest.mark.parametrize("reference", [sev.references.Nearest(), sev.references.By("region")], ids=repr)
def test_the_reference_is_named_in_records_and_files(reference, tmp_path):
    table, refused = _loans()
    table.index = [f"A{number}" for number in range(len(table))]
    model = _pipeline(GradientBoostingClassifier(n_estimators=30, random_state=0)).fit(table, refused)
    explainer = sev.Explainer(model, table, refused, reference=reference, credibility=SMALL_FOREST)
    rows = table[model.predict(table) == 1].iloc[:4]
    many = explainer.explain(rows)
    for one, query in zip(many, rows.to_dict("records"), strict=True):
        if isinstance(reference, sev.references.By):
            assert one.compared_with == f"region {query['region']}"
        else:
            label = one.compared_with.removeprefix("row ")
            assert table.loc[label].to_dict() == one.reference.to_dict()
    assert sev.Explanations.from_json(many.to_json()).compared_with == many.compared_with
    explainer.save(tmp_path / "loans.sev")
    assert sev.load(tmp_path / "loans.sev").explain(rows).compared_with == many.compared_with
    codes = {name: {"code": f"R{number}", "text": name} for number, name in enumerate(table)}
    [first, *_] = sev.reasons(many, codes).records()
    assert first["compared_with"] == many.compared_with[0]
    assert first["credibility"] == pytest.approx(many.credibilities[0])
