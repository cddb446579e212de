"""References with several rows: groups, neighbours, values of a column, and the best of them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import sev
from sev.exceptions import InputError, PositiveReferenceError, ReferenceWarning, UnknownFeatureError
from sev.references import Best, By, Clusters, Nearest, NearestToMean, Partial, Rows, Typical
from sev.testing import check_reference


def loans(seed=0, n=240):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": rng.normal(50, 12, n).round(2),
            "children": rng.integers(0, 5, n),
            "home": rng.choice(["own", "rent", "other"], n),
            "debt": rng.gamma(2.0, 5.0, n).round(2),
            "region": rng.choice(["north", "south"], n),
        }
    )
    score = 0.08 * X["debt"] - 0.05 * X["income"] + 0.4 * X["children"] + (X["home"] == "rent") + rng.normal(0, 0.5, n)
    return X, (score > score.median()).to_numpy()


def model_of(kind, X, y):
    encode = make_column_transformer(
        (StandardScaler(), ["income", "children", "debt"]), (OneHotEncoder(), ["home", "region"])
    )
    final = LogisticRegression() if kind == "linear" else GradientBoostingClassifier(n_estimators=15, random_state=0)
    return make_pipeline(encode, final).fit(X, y)


REFERENCES = {
    "clusters": Clusters(3),
    "auto clusters": Clusters(),
    "medoids": Clusters(3, centre="medoid"),
    "nearest": Nearest(),
    "nearest 3": Nearest(3),
    "by category": By("region"),
    "by number": By("income", Typical("median"), bins=3),
    "by and clusters": By("region", Clusters(2)),
    "best": Best(Clusters(4)),
    "partial": Partial({"income": 80.0}, over=Clusters(2)),
}


@pytest.mark.parametrize("kind", ["linear", "trees"])
@pytest.mark.parametrize("name", REFERENCES)
def test_the_contract_of_references(kind, name):
    X, y = loans()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReferenceWarning)
        assert check_reference(REFERENCES[name], model_of(kind, X, y), X, y) > 50


def smallest_by_hand(model, query, rows):
    """Size of the smallest set over all reference rows, by scoring every mixed row."""
    columns = list(query.index)
    masks = [[bool(number >> place & 1) for place in range(len(columns))] for number in range(2 ** len(columns))]
    best = np.inf
    for _, row in rows.iterrows():
        mixed = pd.DataFrame(
            [[row[c] if use else query[c] for c, use in zip(columns, mask, strict=True)] for mask in masks],
            columns=columns,
        )
        crosses = model.predict_proba(mixed)[:, 1] < 0.5
        best = min([best, *(sum(mask) for mask, ok in zip(masks, crosses, strict=True) if ok)])
    return best


@pytest.mark.parametrize("kind", ["linear", "trees"])
@pytest.mark.parametrize("seed", range(3))
def test_best_is_the_smallest_over_all_rows(kind, seed):
    X, y = loans(seed)
    model = model_of(kind, X, y)
    explainer = sev.Explainer(model, X, y, reference=Best(Rows(X[~y & ~model.predict(X)].iloc[:8])))
    rows = explainer.reference
    first = sev.Explainer(model, X, y, reference=Rows(rows)).explain(X.iloc[:60])
    many = explainer.explain(X.iloc[:60])
    many.verify()
    explained = [n for n in range(60) if many.statuses[n] == "optimal"]
    assert len(explained) > 15
    for number in explained:
        assert many.sizes[number] == smallest_by_hand(model, X.iloc[number], rows)
    assert (many.sizes[explained] < first.sizes[explained]).any()  # it made a difference


def test_best_says_unexplainable_only_when_every_row_is():
    X, y = loans()
    model = model_of("trees", X, y)
    rows = X[~y & ~model.predict(X)].iloc[:3]
    restricted = ["income", "debt", "children"]
    each = [
        sev.Explainer(model, X, y, reference=rows.iloc[[n]], restricted=restricted).explain(X).statuses
        for n in range(len(rows))
    ]
    best = sev.Explainer(model, X, y, reference=Best(Rows(rows)), restricted=restricted).explain(X).statuses
    none = np.logical_and.reduce([statuses == "unexplainable" for statuses in each])
    assert 0 < none.sum() < sum((statuses == "unexplainable").sum() for statuses in each)
    np.testing.assert_array_equal(best == "unexplainable", none)


@pytest.mark.parametrize("name", REFERENCES)
def test_saved_and_loaded_it_compares_with_the_same_rows(name, tmp_path):
    X, y = loans()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReferenceWarning)
        explainer = sev.Explainer(model_of("trees", X, y), X, y, reference=REFERENCES[name])
    explainer.save(tmp_path / "loans.sev")
    again = sev.load(tmp_path / "loans.sev")
    many, same = explainer.explain(X), again.explain(X)
    pd.testing.assert_frame_equal(many.to_frame(), same.to_frame())
    np.testing.assert_array_equal(many.answers.reference, same.answers.reference)
    assert again.reference_name == explainer.reference_name


def test_nearest_is_nearest_to_the_query_and_of_the_other_class():
    X, y = loans(n=400)
    model = model_of("linear", X, y)
    explainer = sev.Explainer(model, X, y, reference=Nearest())
    rows = explainer.reference
    assert not model.predict(rows).any()
    many = explainer.explain(X.iloc[:40])
    spread = X[["income", "children", "debt"]].std(ddof=0)
    for number in np.flatnonzero(many.statuses == "optimal"):
        query = X.iloc[number]
        far = (((rows[spread.index] - query[spread.index]) / spread) ** 2).sum(axis=1).astype(float)
        far += (rows["home"] != query["home"]).astype(float) + (rows["region"] != query["region"]).astype(float)
        got = many[int(number)].reference
        place = int(many.answers.reference[number])
        assert got["income"] == rows["income"].iloc[place]
        assert far.iloc[place] <= far.min() + 1e-9


def test_many_rows_are_searched_as_few_are(monkeypatch):
    X, y = loans(n=500)
    model = model_of("linear", X, y)
    one = sev.Explainer(model, X, y, reference=Nearest()).explain(X).answers.reference
    monkeypatch.setattr("sev.references._distance._FEW_ROWS", 10**9)
    np.testing.assert_array_equal(one, sev.Explainer(model, X, y, reference=Nearest()).explain(X).answers.reference)


def test_cluster_centres_have_values_that_occur():
    X, y = loans()
    for centre in ("typical", "medoid"):
        rows = sev.Explainer(model_of("linear", X, y), X, y, reference=Clusters(4, centre=centre)).reference
        assert len(rows) > 1
        for column in X:
            assert set(rows[column]) <= set(X[column])


def is_inside(rows):
    """Positive near the origin, where the mean of a ring is."""
    return (np.hypot(rows["x"], rows["y"]) < 0.5).to_numpy(dtype=float)


def ring_and_blob(with_blob):
    angles = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    ring = pd.DataFrame({"x": np.cos(angles), "y": np.sin(angles)})
    blob = pd.DataFrame({"x": 10 + ring["x"] / 9, "y": 10 + ring["y"] / 9})
    middle = ring.iloc[:10] / 10
    return pd.concat([ring, blob, middle] if with_blob else [ring, middle], ignore_index=True)


def test_a_positive_centre_is_left_out_and_counted():
    X = ring_and_blob(with_blob=True)
    with pytest.warns(ReferenceWarning, match="1 of 2 cluster centres are predicted"):
        explainer = sev.Explainer(is_inside, X, reference=Clusters(2))
    assert len(explainer.reference) == 1
    assert explainer.reference["x"].iloc[0] > 9
    with pytest.raises(PositiveReferenceError, match="medoid"):
        sev.Explainer(is_inside, ring_and_blob(with_blob=False), reference=Clusters(1))


def test_a_group_without_rows_and_an_unknown_value_get_the_reference_of_all():
    X, y = loans()
    X.loc[:9, "region"] = "west"
    y = y | (X.index < 10)
    model = model_of("trees", X, y)
    with pytest.warns(ReferenceWarning, match="region west"):
        explainer = sev.Explainer(model, X, y, reference=By("region"))
    overall = sev.Explainer(model, X, y).reference.iloc[0]
    west = explainer.explain_one(X.iloc[0])
    assert west.reference["region"] == overall["region"]
    assert west.reference["income"] == overall["income"]
    south = explainer.explain(X[X["region"] == "south"])
    used = south.answers.reference[south.statuses != "not_target"]
    assert set(south.references.loc[used, "region"]) == {"south"}


@pytest.mark.parametrize("reference", ["auto", "nearest", "clusters:2"])
def test_a_group_that_the_model_calls_positive_is_compared_with_all_rows(reference):
    """The group has rows of the other class, but the model is wrong about every one of them."""
    X, y = loans()

    def model(frame):
        return np.where(frame["region"] == "south", 0.9, np.where(frame["debt"] > 10, 0.8, 0.1))

    with pytest.warns(
        ReferenceWarning, match="for region south there is no background row that has the label of the other"
    ):
        explainer = sev.Explainer(model, X, y.astype(int), reference=By("region", reference))
    one = explainer.explain_one(X[X["region"] == "south"].iloc[0])
    assert one.compared_with.startswith("all rows")
    assert one.status == "optimal"


def test_by_a_column_that_is_not_there():
    X, y = loans()
    with pytest.raises(UnknownFeatureError, match="did you mean 'region'"):
        sev.Explainer(model_of("linear", X, y), X, y, reference=By("regio"))


def test_a_partial_row_keeps_the_rest_of_the_other_reference():
    X, y = loans()
    model = model_of("linear", X, y)
    usual = sev.Explainer(model, X, y).reference.iloc[0]
    explainer = sev.Explainer(model, X, y, reference={"income": 77.0})
    row = explainer.reference.iloc[0]
    assert row["income"] == 77.0
    assert all(row[column] == usual[column] for column in X if column != "income")
    assert "income 77" in explainer.reference_name
    with pytest.raises(UnknownFeatureError, match="'incom'"):
        sev.Explainer(model, X, y, reference={"incom": 77.0})


@pytest.mark.parametrize(
    ("name", "kind"),
    [("clusters:3", Clusters(3)), ("nearest", Nearest()), ("nearest:2", Nearest(2)), ("by:region", By("region"))],
)
def test_references_by_name(name, kind):
    assert sev.references.as_reference(name) == kind


@pytest.mark.parametrize("name", ["cluster", "clusters:x", "by:", "nearest:0", "best:nothing"])
def test_unknown_names_are_refused(name):
    with pytest.raises(InputError, match=r"nearest|k must"):
        sev.references.as_reference(name)


def test_the_old_name_still_works():
    with pytest.warns(DeprecationWarning, match="NearestToMean"):
        assert sev.references.NearestRow is NearestToMean


@pytest.mark.parametrize("wrong", [lambda: Clusters(0), lambda: Clusters(centre="mode"), lambda: Nearest(True)])
def test_wrong_arguments(wrong):
    with pytest.raises(InputError):
        wrong()


@pytest.mark.parametrize("kind", ["linear", "trees", "black box"])
def test_best_is_proven_where_a_row_that_explains_nothing_differs_in_few_features(kind):
    """Nothing crosses against a row that differs in one feature: that says nothing about larger sets elsewhere."""
    X, y = loans(1)
    model = model_of("trees" if kind == "black box" else kind, X, y)
    few = X[model.predict_proba(X)[:, 1] > 0.7].iloc[:20]
    accepted = X[~y & ~model.predict(X)].iloc[:3]
    checked = 0
    for place in range(len(few)):
        query = few.iloc[[place]]
        twin = query.assign(region="south" if query["region"].iloc[0] == "north" else "north")
        rows = pd.concat([twin, accepted])
        explainer = sev.Explainer(
            (lambda some: model.predict_proba(some)[:, 1]) if kind == "black box" else model,
            X,
            y,
            reference=Best(Rows(rows)),
            allow_positive_reference=True,
            restricted=["region"],
        )
        [one] = explainer.explain(query)
        by_hand = smallest_by_hand(model, query.iloc[0], accepted.assign(region=query["region"].iloc[0]))
        assert one.size == by_hand
        assert one.status == "optimal", (kind, place, one.size, one.lower_bound)
        checked += one.size > 1
    assert checked > 3


def test_by_a_number_that_is_at_its_largest_for_most_rows_has_two_groups():
    X, y = loans()
    rng = np.random.default_rng(3)
    X["income"] = np.where(rng.random(len(X)) < 0.8, 100.0, X["income"])
    model = model_of("trees", X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReferenceWarning)  # no value is unknown
        many = sev.Explainer(model, X, y, reference=By("income", Typical("median"))).explain(X)
    names = {one.compared_with for one in many if one.size is not None}
    assert len(names) == 2
    for one in many:
        if one.size is not None:
            assert one.compared_with.startswith("income above") == (one.query["income"] == 100.0)
            assert (one.reference["income"] == 100.0) == (one.query["income"] == 100.0)


FUZZED = {
    "by and best": By("region", Best(Clusters(2))),
    "best of by": Best(By("region", Typical("median"))),
    "by bins and nearest": By("income", Nearest(2), bins=3),
    "partial over best": Partial({"children": 1}, over=Best(Clusters(3))),
    "partial over by": Partial({"income": 75.0}, over=By("home", Typical("median"))),
}


@pytest.mark.parametrize("kind", ["linear", "trees"])
@pytest.mark.parametrize("name", FUZZED)
def test_references_within_references_give_the_smallest_set_over_the_rows_of_the_query(kind, name):
    X, y = loans(2)
    model = model_of(kind, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReferenceWarning)
        explainer = sev.Explainer(model, X, y, reference=FUZZED[name], allow_positive_reference=True)
    [task] = explainer.tasks
    many = explainer.explain(X.iloc[:40])
    candidates = task.reference.candidates(X.iloc[:40])
    for number in np.flatnonzero(many.statuses != "not_target").tolist():
        own = explainer.reference.iloc[np.unique(candidates[number])]
        size = smallest_by_hand(model, X.iloc[number], own)
        assert many[number].size == (None if size == np.inf else size)
        assert many.statuses[number] == ("unexplainable" if size == np.inf else "optimal")
        if name.startswith("partial"):
            column = "children" if "best" in name else "income"
            assert many[number].reference[column] == FUZZED[name].values[column]
