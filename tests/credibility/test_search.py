"""Credible, closest and most credible sets against brute force over all sets and references, in every family."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier

import sev
from sev.credibility import Credibility, GaussianMixture, IsolationForest, NearestNeighbours
from sev.references import Best, Clusters, Nearest

SMALL_FOREST = IsolationForest(n_trees=25, max_samples=64)
FAMILIES = {
    "linear": lambda seed: LogisticRegression(),
    "additive": lambda seed: GaussianNB(),
    "boosting": lambda seed: GradientBoostingClassifier(n_estimators=20, max_depth=3, random_state=seed),
    "deep trees": lambda seed: RandomForestClassifier(n_estimators=15, max_depth=7, random_state=seed),
    "networks": lambda seed: MLPClassifier((8,), solver="lbfgs", max_iter=2000, tol=1e-2, random_state=seed),
}


def _table(seed: int, n_rows: int = 250, n_columns: int = 7) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, n_columns))
    rows[:, 1] = np.round(rows[:, 1] * 2)
    rows[:, 2] = rng.integers(0, 2, n_rows)
    rows[rng.random(rows.shape) < 0.03] *= 6  # some unusual values
    table = pd.DataFrame(rows, columns=[f"f{number}" for number in range(n_columns)])
    labels = rows[:, :3].sum(axis=1) + rows[:, 3] * rows[:, 4] + 0.3 * rng.normal(size=n_rows) > 0.4
    return table, labels.astype(int)


def _make(family: str, seed: int, **options) -> tuple[sev.Explainer, pd.DataFrame]:
    table, labels = _table(seed)
    if family == "black box":
        fitted = GradientBoostingClassifier(n_estimators=10, random_state=seed).fit(table, labels)

        def model(rows):
            return fitted.predict_proba(rows)[:, 1]
    else:
        model = FAMILIES[family](seed).fit(table, labels)
    explainer = sev.Explainer(
        model, table, labels, **{"credibility": SMALL_FOREST, **options}, allow_positive_reference=True
    )
    score = model if family == "black box" else lambda rows: model.predict_proba(rows)[:, 1]
    positive = np.flatnonzero(np.asarray(score(table)) >= explainer.threshold)
    return explainer, table.iloc[positive[:8]]


def _brute_force(explainer: sev.Explainer, query: pd.Series, least: float, restricted=()):
    """Smallest size, the sets of it with credibility, distance and reference; and the size without the limit."""
    [task] = explainer.tasks
    features = {feature.name: list(feature.columns) for feature in explainer.space.features}
    numbers = task.reference.candidates(query.to_frame().T.astype(float))[0]
    credibility = task.fitted_credibility
    scales = {name: effort[1] for name, effort in task.bound.efforts().items()}
    found = []
    for place, number in enumerate(dict.fromkeys(numbers.tolist())):
        reference = task.reference.rows.iloc[number]
        usable = [
            name
            for name, columns in features.items()
            if name not in restricted and any(query[c] != reference[c] for c in columns)
        ]
        sets = [chosen for size in range(1, len(usable) + 1) for chosen in combinations(usable, size)]
        rows = pd.DataFrame(
            [{**query, **{c: reference[c] for name in chosen for c in features[name]}} for chosen in sets]
        )[list(query.index)]
        if not len(rows):
            continue
        scores = task.scorer.scores(rows)
        shares = credibility.of_rows(rows, explainer.form)
        for chosen, score, share in zip(sets, scores, shares, strict=True):
            if score < explainer.threshold:
                far = [
                    abs(reference[c] - query[c]) / scales[name]
                    for name in chosen
                    if scales[name]
                    for c in features[name]
                ]
                others = sum(scales[name] is None for name in chosen)
                key = (round(max(far, default=0.0), 9), round(sum(far), 9), others)
                found.append((len(chosen), place, number, frozenset(chosen), share, key))
    credible = [one for one in found if one[4] >= least]
    without = min((one[0] for one in found), default=None)
    if not credible:
        return None, [], without
    size = min(one[0] for one in credible)
    # of equally small ones the first reference row's, else that of the reference row with the smallest number
    first = min((one[1] > 0, one[2]) for one in credible if one[0] == size)[1]
    return size, [one for one in credible if one[0] == size and one[2] == first], without


def _check(explainer, rows, least, restricted=(), order="margin", **options):
    many = explainer.explain(
        rows, min_credibility=least, restricted=restricted or None, order=order, max_sets=1000, **options
    )
    limited = 0
    for number, one in enumerate(many):
        size, sets, without = _brute_force(explainer, rows.iloc[number], least, restricted)
        assert one.size == size, (number, one.status, size)
        assert one.status == ("unexplainable" if size is None else "optimal")
        if least > 0:
            assert one.size_without_limit == without
        if size is None:
            limited += without is not None
            continue
        limited += size != without
        assert one.sets_complete
        assert {frozenset(names) for names in one.sets} == {chosen[3] for chosen in sets}
        by_set = {chosen[3]: chosen for chosen in sets}
        assert one.credibility == by_set[frozenset(one.features)][4] >= least
        assert one.credibility == many.credibilities[number]
        far = one.distance
        measured = (round(far.largest, 9), round(far.total, 9), far.categories)
        assert measured == by_set[frozenset(one.features)][5]
        if order == "closest":
            assert measured == min(chosen[5] for chosen in sets)
        if order == "credible":
            assert one.credibility == max(chosen[4] for chosen in sets)
        result = pd.DataFrame([one.result]).astype(float)
        assert explainer.tasks[0].scorer.scores(result)[0] == pytest.approx(one.result_score, abs=1e-9)
    return limited


@pytest.mark.parametrize("family", [*FAMILIES, "black box"])
class TestEveryFamily:
    def test_smallest_credible_sets_and_orders(self, family):
        limited = 0
        for seed in range(4):
            explainer, rows = _make(family, seed)
            assert explainer.backend == family or family in ("boosting", "deep trees")
            for least, order in ((0.3, "margin"), (0.7, "closest"), (0.9, "credible"), (0.0, "closest")):
                limited += _check(explainer, rows, least, order=order)
        assert limited > 5  # the limit matters

    def test_restricted_features_and_groups(self, family):
        limited = 0
        for seed in (11, 12):
            explainer, rows = _make(family, seed, groups={"pair": ["f3", "f4"]})
            limited += _check(explainer, rows, 0.5, restricted=("f0", "f5"))
            limited += _check(explainer, rows, 0.0, restricted=("pair",), order="credible")
        assert limited

    @pytest.mark.parametrize("reference", [Best(Clusters(3)), Clusters(3), Nearest(3)], ids=repr)
    def test_several_references(self, family, reference):
        for seed in (21, 22):
            explainer, rows = _make(family, seed, reference=reference)
            _check(explainer, rows.iloc[:5], 0.6)
            _check(explainer, rows.iloc[:5], 0.0, order="closest")

    @pytest.mark.parametrize(
        "measure",
        [GaussianMixture(2), NearestNeighbours(3), lambda rows: -np.abs(np.asarray(rows)[:, 0] - 0.3)],
        ids=["mixture", "neighbours", "function"],
    )
    def test_other_measures(self, family, measure):
        explainer, rows = _make(family, 31, credibility=measure)
        _check(explainer, rows, 0.5)
        _check(explainer, rows, 0.2, order="credible")


def test_all_rows_at_once_and_one_by_one_are_the_same():
    explainer, rows = _make("boosting", 3)
    together = explainer.explain(rows, min_credibility=0.6, order="closest")
    for number in range(len(rows)):
        alone = explainer.explain_one(rows.iloc[number], min_credibility=0.6, order="closest")
        assert alone.sets == together[number].sets
        assert alone.credibility == together[number].credibility


def test_a_short_list_is_cut_after_it_is_ordered():
    explainer, rows = _make("boosting", 5)
    long = explainer.explain(rows, order="closest", max_sets=1000)
    short = explainer.explain(rows, order="closest", max_sets=1)
    assert [one.features for one in short] == [one.features for one in long]
    assert any(len(one.sets) > 1 for one in long)
    for one, other in zip(short, long, strict=True):
        assert one.sets_complete == (len(other.sets) == 1)
        assert one.first_of_all


def test_a_function_that_fails_stops_its_row_only():
    table, labels = _table(7)
    fitted = LogisticRegression().fit(table.drop(columns="f6"), labels)

    def model(some):
        return fitted.predict_proba(some.drop(columns="f6"))[:, 1]

    rows = table.iloc[np.flatnonzero(model(table) >= 0.5)[:6]].copy()
    rows.iloc[2, 6] = 777.0
    rows.iloc[4, 6] = 888.0

    def ordinary(some):
        if (some["f6"] == 777.0).any():
            raise ZeroDivisionError("no such row")
        return np.where(some["f6"] == 888.0, np.nan, -some["f0"].abs())

    explainer = sev.Explainer(model, table, labels, credibility=ordinary)
    many = explainer.explain(rows, min_credibility=0.2, restricted=["f6"])
    assert (many.statuses == "error").tolist() == [False, False, True, False, True, False]
    assert "the credibility function failed: ZeroDivisionError: no such row" in many[2].reason
    assert "the credibility function's score is nan" in many[4].reason
    plain = explainer.explain(rows, restricted=["f6"])
    assert np.isnan(plain.credibilities).tolist() == [False, False, True, False, True, False]


def test_a_function_that_returns_the_wrong_length_stops_rows():
    table, labels = _table(7)
    model = LogisticRegression().fit(table, labels)
    rows = table.iloc[np.flatnonzero(model.predict(table))[:2]]

    def ordinary(some):
        return np.zeros(len(some)) if len(some) > 100 else np.zeros(len(some) + 1)

    many = sev.Explainer(model, table, labels, credibility=ordinary).explain(rows, min_credibility=0.2)
    assert many.statuses.tolist() == ["error", "error"]
    assert "the credibility function returned" in many[0].reason


def test_rows_that_are_the_same_have_the_same_answer():
    explainer, rows = _make("boosting", 3)
    several = pd.concat([rows.iloc[[1, 0, 1]], rows, rows.iloc[[1]]])
    many = explainer.explain(several, min_credibility=0.7)
    alone = explainer.explain(rows, min_credibility=0.7)
    places = [1, 0, 1, *range(len(rows)), 1]
    assert [one.sets for one in many] == [alone[place].sets for place in places]
    assert (many.sizes > many.sizes_without_limit).any()


@pytest.mark.parametrize("family", ["linear", "boosting"])
def test_a_result_that_is_ordinary_enough_by_the_last_bit_counts(family, monkeypatch):
    """Path lengths differ by at least one step: one step more than the limit is enough, the limit itself is not."""
    n_larger = 0
    for seed in range(4):
        explainer, rows = _make(family, seed)
        measure = explainer.tasks[0].fitted_credibility.measure
        reference, step = explainer.reference.iloc[0], 2 * measure.half_step
        names = explainer.feature_names
        sets = [chosen for size in range(1, len(names) + 1) for chosen in combinations(names, size)]
        for place in range(len(rows)):
            row = rows.iloc[[place]]
            results = pd.concat([row.assign(**{name: reference[name] for name in chosen}) for chosen in sets])
            crosses = explainer.tasks[0].scorer.scores(results) < explainer.threshold
            values = np.where(crosses, measure.ordinariness(measure.encode(results)), -np.inf)
            sizes = np.array([len(chosen) for chosen in sets])
            good = values == values.max()
            if sizes[good].min() == sizes[crosses].min():
                continue  # found before the limit is looked at
            n_larger += 1
            expected = {sets[at] for at in np.flatnonzero(good & (sizes == sizes[good].min()))}
            for limit, found in ((values.max() - step, expected), (values.max(), set())):
                monkeypatch.setattr(Credibility, "more_than", lambda self, share, limit=limit: float(limit))
                [one] = explainer.explain(row, min_credibility=0.5, max_sets=1000)
                assert {*one.sets} == found
                assert one.status == ("optimal" if found else "unexplainable")
    assert n_larger > 3
