"""``values="reference"`` under actions, in every family, against all sets of features and the letter of the actions."""

import numpy as np
import pandas as pd
import pytest
from actions.naive import is_missing, nearest, smallest, spread
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import sev
from sev.exceptions import InputError, RuleWarning

NUMBERS = ["a", "b", "c", "d"]
STEPS = {"b": 1.0, "d": 1.0}


def table(seed, *, missing=False, text=True):
    generator = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "a": generator.normal(size=160).round(2),
            "b": generator.integers(-3, 6, 160),
            "c": (generator.normal(size=160) * 10).round(1),
            "d": generator.integers(0, 30, 160).astype(float),
        }
    )
    if text:
        rows["job"] = generator.choice(["x", "y", "z"], 160)
    if missing:
        rows.loc[generator.random(160) < 0.2, "c"] = np.nan
    score = rows.a + rows.b / 3 + rows.c.fillna(4) / 10 - rows.d / 15 + generator.normal(size=160) * 0.3
    if text:
        score += rows.job.map({"x": 0.8, "y": 0.0, "z": -0.8})
    return rows, (score > score.median()).astype(int).to_numpy()


def encoded(model):
    return make_pipeline(
        make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), ["job"])),
        model,
    )


def _mlp():
    return MLPClassifier((6,), max_iter=600, tol=1e-2, random_state=0)


MODELS = {
    "linear": lambda: (encoded(LogisticRegression()), {}),
    "trees": lambda: (encoded(GradientBoostingClassifier(n_estimators=15, random_state=0)), {}),
    "missing": lambda: (HistGradientBoostingClassifier(max_iter=12), {"missing": True, "text": False}),
    "forest": lambda: (RandomForestClassifier(9, max_depth=4, random_state=0), {"text": False}),
    "additive": lambda: (GaussianNB(), {"text": False}),
    "networks": lambda: (encoded(_mlp()), {}),
    "function": lambda: (None, {"text": False}),
}


def random_entries(generator, names, *, missing):
    """Entries of actions as the naive code has them, some for each feature."""
    entries = {"frozen": [], "increase": [], "decrease": [], "within": {}, "allowed": {}, "steps": {}, "costs": {}}
    for name in names:
        kind = generator.integers(0, 9)
        if generator.random() < 0.3:
            entries["costs"][name] = float(generator.integers(0, 5))
        if name == "job":
            entries["allowed"].update([{}, {"job": ["x", "y"]}, {"job": {"x": ["z"], "y": ["x", "z"]}}][kind % 3])
        elif kind == 0:
            entries["frozen"].append(name)
        elif kind in (1, 2):
            entries["increase" if kind == 1 else "decrease"].append(name)
        elif kind == 3:
            entries["within"][name] = ("percent", -float(generator.integers(5, 80)), float(generator.integers(0, 60)))
        elif kind == 4:
            entries["within"][name] = ("change", -float(generator.integers(1, 4)), float(generator.integers(0, 5)) / 2)
        elif kind == 5:
            entries["within"][name] = ("between", -1.0, float(generator.integers(2, 9)))
        elif kind == 6:
            entries["steps"][name] = 0.5
        elif kind == 7:
            entries["allowed"][name] = [float(one) for one in generator.integers(-2, 6, 3)]
            if generator.random() < 0.5:
                entries["increase"].append(name)
    if missing and "c" not in entries["frozen"] and generator.random() < 0.5:
        entries["allow_missing"] = ["c"]
    return entries


def as_actions(entries, rules=()):
    def limits(kind, low, high):
        if kind == "between":
            return sev.between(low, high)
        sign = "%" if kind == "percent" else ""
        return (f"{low:+}{sign}", f"{high:+}{sign}")

    within = {name: limits(*one) for name, one in entries["within"].items()}
    return sev.Actions(**{**entries, "within": within}, rules=list(rules))


RULES = {
    "a <= b + 1": lambda row: row.a <= row.b + 1,
    "c + d <= 25": lambda row: is_missing(row.c) or row.c + row.d <= 25,
    "if b >= 2 then d <= 20": lambda row: row.b < 2 or row.d <= 20,
    "b != 1 or a > 0": lambda row: row.b != 1 or row.a > 0,
}


@pytest.mark.filterwarnings("ignore::sev.exceptions.RuleWarning", "ignore::sev.exceptions.ReferenceWarning")
@pytest.mark.parametrize("with_rules", [False, True], ids=["plain", "rules"])
@pytest.mark.parametrize("family", list(MODELS))
def test_sizes_sets_and_costs_are_those_of_all_sets(family, with_rules):
    seen = set()
    for seed in range(4):
        generator = np.random.default_rng(100 * seed + len(family))
        model, options = MODELS[family]()
        rows, labels = table(seed, **options)
        if model is None:
            weights = generator.normal(size=4)

            def model(table, weights=weights):
                array = np.asarray(table, dtype=float)
                return 1 / (
                    1 + np.exp(-np.sin(array[:, 0]) - array[:, 1:] @ weights[1:] / 5 - array[:, 0] * array[:, 1])
                )

            score = model
        else:
            model.fit(rows, labels)

            def score(table, model=model):
                return model.predict_proba(table)[:, 1]

        entries = random_entries(generator, rows.columns, missing=options.get("missing", False))
        rules = list(generator.choice(list(RULES), 2, replace=False)) if with_rules else []
        reference = "mean" if seed % 2 else "auto"
        explainer = sev.Explainer(
            model, rows, labels, reference=reference, actions=as_actions(entries, rules), allow_positive_reference=True
        )
        queries = rows.iloc[:30]
        many = explainer.explain(queries)
        many.verify()
        target = explainer.reference.iloc[0]
        for one, (_, query) in zip(many, queries.astype(object).iterrows(), strict=True):
            if one.status == "not_target":
                continue
            changes, costs = {}, {}
            for name in rows.columns:
                step = entries["steps"].get(name, STEPS.get(name))
                usable, value = nearest(entries, name, query[name], target[name], step=step)
                if usable and value != query[name]:
                    changes[name] = value
                    far = 1.0
                    if name != "job" and not is_missing(value) and not is_missing(query[name]):
                        far = abs(value - query[name]) / spread(rows[name])
                    costs[name] = entries["costs"].get(name, 1.0) * far
            size, sets, cost = smallest(score, query, changes, costs, one.threshold, [RULES[rule] for rule in rules])
            assert one.status == ("unexplainable" if size is None else "optimal"), (entries, rules, query)
            assert one.size == size
            assert {frozenset(names) for names in one.sets} == sets, (entries, query, changes, one.reference)
            seen.add(size)
            if size is not None:
                assert one.cost == pytest.approx(cost, rel=1e-9, abs=1e-12)
                assert sum(costs[name] for name in one.features) == pytest.approx(cost, rel=1e-9, abs=1e-12)
                for name in one.features:
                    assert one.changes[name].old == query[name] or is_missing(query[name])
                    assert one.changes[name].new == pytest.approx(changes[name], nan_ok=True)
    assert len(seen) > 2


def test_unknown_features_and_impossible_entries_are_refused():
    rows, labels = table(0)
    model = encoded(LogisticRegression()).fit(rows, labels)
    for entries, message in (
        ({"increase": ["incom"]}, "increase names 'incom', which is not a feature"),
        ({"increase": ["job"]}, "increase names 'job', whose values have no order"),
        ({"within": {"job": sev.between(1, 2)}}, "within names 'job', which does not hold numbers: use allowed"),
        ({"steps": {"job": 1}}, "steps names 'job'"),
        ({"allowed": {"job": ["w"]}}, r"allowed\['job'\] lists 'w', which the background does not hold"),
        ({"allowed": {"job": [True]}}, "yes and no need quotes"),
        ({"allowed": {"a": ["x"]}}, r"allowed\['a'\] lists 'x', but 'a' holds numbers"),
        ({"within": {"a": sev.between(900, 1000)}}, "lies outside the values of the background, from"),
        ({"within": {"b": sev.between(0.2, 0.8)}}, "holds no multiple of 1, the step of 'b'"),
        ({"rules": ["a <= incom"]}, "rules names 'incom'"),
        ({"rules": ["job <= a"]}, "calculates with 'job', which does not hold numbers"),
        ({"costs": {"incom": 1}}, "costs names 'incom'"),
    ):
        with pytest.raises(InputError, match=message):
            sev.Explainer(model, rows, labels, actions=sev.Actions(**entries))


def test_plus_takes_no_actions():
    rows, labels = table(0, text=False)
    explainer = sev.Explainer(LogisticRegression().fit(rows, labels), rows, labels, actions=sev.Actions(increase=["a"]))
    with pytest.raises(InputError, match=r'kind="plus" .* takes no actions'):
        explainer.explain(rows, kind="plus")
    with pytest.raises(InputError, match="values='all' is not known"):
        explainer.explain(rows, values="all")


def test_actions_are_saved_hashed_and_can_be_exchanged(tmp_path):
    rows, labels = table(0)
    actions = sev.Actions(frozen=["a"], within={"c": ("-20%", "+0%")}, rules=["b <= d + 10"], costs={"d": 2})
    explainer = sev.Explainer(encoded(LogisticRegression()).fit(rows, labels), rows, labels, actions=actions)
    explainer.save(tmp_path / "x.sev")
    again = sev.load(tmp_path / "x.sev")
    assert again.actions == actions
    assert again.restricted == ("a",)
    many = explainer.explain(rows)
    many.verify(again)
    assert many.to_json() == again.explain(rows).to_json()
    assert many.source.about()["hashes"]["actions"] == actions.digest
    other = again.with_actions(None)
    assert other.restricted == ()
    plain = sev.Explainer(explainer.model, rows, labels).explain(rows)
    assert other.explain(rows).to_json() == plain.to_json()
    with pytest.raises(AssertionError, match="differ"):
        many.verify(other)


def test_frozen_stays_frozen_and_is_reported():
    rows, labels = table(0, text=False)
    model = LogisticRegression(max_iter=1000).fit(rows, labels)
    frozen = sev.Explainer(model, rows, labels, actions=sev.Actions(frozen=["a"]))
    restricted = sev.Explainer(model, rows, labels, restricted=["a"])
    one, other = frozen.explain(rows), restricted.explain(rows)
    assert one.restricted == other.restricted == ("a",)
    assert [{*map(frozenset, a.sets)} for a in one] == [{*map(frozenset, a.sets)} for a in other]
    assert one.not_permitted == other.not_permitted
    assert "smaller" in one.not_permitted
    both = frozen.explain(rows, restricted=["b"])
    assert both.restricted == ("a", "b")
    assert not any({"a", "b"} & set(a.features) for a in both)
    assert any("a" in a.features for a in one.unrestricted())
    assert any("a" in a.features for a in one.unrestricted(frozen))


def test_a_rule_that_the_query_breaks_does_not_apply_to_it():
    rows, labels = table(0, text=False)
    model = LogisticRegression(max_iter=1000).fit(rows, labels)
    explainer = sev.Explainer(model, rows, labels, actions=sev.Actions(rules=["b <= 4"]))
    broken = rows[rows.b > 4]
    with pytest.warns(
        RuleWarning, match=rf"{(model.predict(broken) == 1).sum()} rows? breaks? the rule 'b <= 4' before any"
    ):
        many = explainer.explain(broken)
    free = sev.Explainer(model, rows, labels, actions=sev.Actions()).explain(broken)
    assert many.sizes.tolist() == pytest.approx(free.sizes.tolist(), nan_ok=True)


def test_without_actions_nothing_changes_and_answers_do_not_depend_on_the_batch():
    rows, labels = table(3)
    model = encoded(GradientBoostingClassifier(n_estimators=15, random_state=0)).fit(rows, labels)
    actions = sev.Actions(within={"c": ("-30%", "+10%"), "d": ("-6", "+0")}, decrease=["a"], rules=["b <= d + 10"])
    explainer = sev.Explainer(model, rows, labels, actions=actions)
    together = explainer.explain(rows)
    parts = [explainer.explain(rows.iloc[[place]], n_jobs=1) for place in range(40)]
    assert [part[0].to_dict() for part in parts] == [one.to_dict() for one in together[:40]]
    assert explainer.explain(rows, n_jobs=3).to_json() == together.to_json()
    empty = sev.Explainer(model, rows, labels, actions={}).explain(rows)
    plain = sev.Explainer(model, rows, labels).explain(rows)
    assert [{*map(frozenset, one.sets)} for one in empty] == [{*map(frozenset, one.sets)} for one in plain]


@pytest.mark.filterwarnings("ignore::sev.exceptions.ReferenceWarning")
def test_every_destination_is_the_nearest_permitted_value():
    cells = unusable = 0
    for seed in range(12):
        generator = np.random.default_rng(seed)
        rows, labels = table(seed, missing=True, text=False)
        entries = random_entries(generator, rows.columns, missing=True)
        wanted = {
            name: round(float(generator.choice(rows[name].dropna())) + 0.3 * (seed % 3), 2) for name in rows.columns
        }
        explainer = sev.Explainer(
            HistGradientBoostingClassifier(max_iter=3).fit(rows, labels), rows, labels, reference=wanted,
            actions=as_actions(entries), allow_positive_reference=True,
        )  # fmt: skip
        [task] = explainer.tasks
        found = task.nearest.permit(rows, np.zeros(len(rows), dtype=np.int64))
        for row in range(len(rows)):
            for number, name in enumerate(rows.columns):
                if name in entries["frozen"]:
                    continue
                old = rows[name].iloc[row]
                usable, value = nearest(
                    entries, name, old, wanted[name], step=entries["steps"].get(name, STEPS.get(name))
                )
                assert found.usable[row, number] == usable, (entries, name, old, wanted[name])
                if usable:
                    assert found.rows[name].iloc[found.assigned[row]] == pytest.approx(value)
                cells += 1
                unusable += not usable
    assert 0.1 < unusable / cells < 0.9


@pytest.mark.filterwarnings("ignore::sev.exceptions.ReferenceWarning", "ignore::sev.exceptions.RuleWarning")
@pytest.mark.parametrize("model", [LogisticRegression(), GradientBoostingClassifier(n_estimators=12, random_state=0)])
def test_of_several_reference_rows_the_best_is_the_one_with_the_fewest_permitted_changes(model, tmp_path):
    generator = np.random.default_rng(0)
    rows = pd.DataFrame(generator.normal(size=(300, 5)), columns=list("abcde"))
    labels = (rows.a + rows.b - rows.c + rows.d * rows.e > 0.4).to_numpy().astype(int)
    model.fit(rows, labels)
    actions = sev.Actions(increase=["c"], within={"a": ("-0.6", "+0.6"), "d": ("-1", "+1")}, rules=["a <= b + 2"])
    best = sev.Explainer(model, rows, labels, reference="best:clusters:3", actions=actions)
    queries = rows.iloc[:80]
    many = best.explain(queries)
    many.verify()
    many.verify(best)
    sizes = []
    for number in range(len(best.reference)):
        row = best.reference.iloc[number].to_dict()
        one = sev.Explainer(model, rows, labels, reference=row, actions=actions, allow_positive_reference=True)
        sizes.append(one.explain(queries).sizes)
    found = ~np.isnan(sizes).all(axis=0)
    assert (np.isnan(many.sizes) == ~found).all()
    assert (many.sizes[found] == np.nanmin(np.array(sizes)[:, found], axis=0)).all()
    assert (np.array(sizes)[0][found] != many.sizes[found]).any()
    best.save(tmp_path / "best.sev")
    assert (sev.load(tmp_path / "best.sev").explain(queries).to_json() == many.to_json()) is True
