"""Rules between numbers of many values: the values that decide give the sizes and sets of all cells."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import sev
from sev.backends.free import _joint_blocks, _joint_groups

pytestmark = pytest.mark.filterwarnings("ignore::sev.exceptions.RuleWarning")

MODELS = {
    "linear": lambda: LogisticRegression(),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=15, max_depth=3, random_state=0),
    "forest": lambda: RandomForestClassifier(n_estimators=6, max_depth=4, random_state=0),
}
RULES = {
    "a <= b": lambda a, b, c, d: a <= b,
    "a < b": lambda a, b, c, d: a < b,
    "a + b <= 60": lambda a, b, c, d: a + b <= 60,
    "b >= 3 * a - 20": lambda a, b, c, d: b >= 3 * a - 20,
    "if d >= 2 then a <= b": lambda a, b, c, d: (d < 2) | (a <= b),
    "a <= 10 + 4 * c": lambda a, b, c, d: a <= 10 + 4 * c,
    "not a > b": lambda a, b, c, d: ~(a > b),
}
WIDTHS = {"a": 48, "b": 45, "c": 6, "d": 4}
NAMES = list(WIDTHS)


@pytest.fixture(autouse=True)
def few_combinations(monkeypatch):
    monkeypatch.setattr(_joint_blocks, "MOST_COMBINATIONS", 1_500)
    monkeypatch.setattr(_joint_groups, "MOST_COMBINATIONS", 1_500)
    monkeypatch.setattr(_joint_groups, "MANY_VALUES", 20)


def draw(seed, make, unit=1.0):
    random = np.random.default_rng(seed)
    rows = pd.DataFrame({name: random.integers(0, width, 400) for name, width in WIDTHS.items()})
    rows.iloc[:2] = [[0] * 4, [width - 1 for width in WIDTHS.values()]]
    weights = random.normal(size=4) * [0.05, 0.05, 0.25, 0.3]
    labels = (rows.to_numpy() @ weights + random.normal(size=400) * 0.3 > np.median(rows.to_numpy() @ weights)).astype(
        int
    )
    rows = rows if unit == 1.0 else rows * unit
    return rows, labels, make().fit(rows, labels)


def smallest_sets(across, kept, query, moves):
    """The smallest sets over all cells, by number of the feature."""
    works = across & kept if kept[tuple(query)] else across
    for size in range(1, 5):
        found = set()
        for some in combinations(range(4), size):
            axes = [moves[at] if at in some else [query[at]] for at in range(4)]
            if all(len(one) for one in axes) and works[np.ix_(*axes)].any():
                found.add(tuple(NAMES[at] for at in some))
        if found:
            return found
    return set()


@pytest.mark.parametrize("band", [None, 9], ids=["any", "band"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("family", [*MODELS, "continuous"])
def test_sizes_and_sets_are_those_of_all_cells(family, rule, band, monkeypatch):
    most = {"if d >= 2 then a <= b": 6_000, "a <= 10 + 4 * c": 200}.get(rule, 1_500)  # fewer than all combinations
    monkeypatch.setattr(_joint_blocks, "MOST_COMBINATIONS", most)
    monkeypatch.setattr(_joint_groups, "MOST_COMBINATIONS", most)
    # thresholds lie between the values that occur, so that trees decide about these as about all numbers between them
    unit = 0.125 if family == "continuous" else 1.0
    if unit != 1.0 and rule not in ("a <= b", "not a > b"):
        pytest.skip("between the integers there are more values")
    rows, labels, model = draw(list(RULES).index(rule), MODELS.get(family, MODELS["boosting"]), unit)
    within = {} if band is None else dict.fromkeys("ab", (f"-{band * unit}", f"+{band * unit}"))
    explainer = sev.Explainer(
        model, rows, labels, actions=sev.Actions(rules=[rule], within=within), allow_positive_reference=True
    )
    grid = np.meshgrid(*map(np.arange, WIDTHS.values()), indexing="ij")
    points = pd.DataFrame({name: one.ravel() * unit for name, one in zip(NAMES, grid, strict=True)})
    across = (model.predict_proba(points)[:, 1] < 0.5).reshape(grid[0].shape)
    kept = RULES[rule](*grid)
    queries = rows[model.predict_proba(rows)[:, 1] >= 0.5].iloc[:16]
    for one, row in zip(explainer.explain(queries, values="any"), queries.to_numpy(), strict=True):
        query = np.round(row / unit).astype(int)
        moves = [[value for value in range(width) if value != query[at]] for at, width in enumerate(WIDTHS.values())]
        for at in (0, 1) if band else ():
            moves[at] = [value for value in moves[at] if abs(value - query[at]) <= band]
        wanted = smallest_sets(across, kept, query, moves)
        assert one.status == ("optimal" if wanted else "unexplainable")
        assert one.values_searched == "all"
        assert one.sets_complete
        assert {tuple(sorted(chosen)) for chosen in one.sets} == wanted
        for number in range(len(one.sets)):
            new = {name: change.new for name, change in one.changes_of(number).items()}
            point = {**dict(zip(NAMES, row.tolist(), strict=True)), **new}
            assert model.predict_proba(pd.DataFrame([point]))[0, 1] < 0.5
            keeps = {name: np.array(value / unit) for name, value in point.items()}
            assert RULES[rule](**keeps) or not kept[tuple(query)]
            ranges = [moves[at] if name in new else [query[at]] for at, name in enumerate(NAMES)]
            for name, change in one.changes_of(number).items():
                at = NAMES.index(name)
                inside = [value for value in ranges[at] if change.enough is not None and value * unit in change.enough]
                ranges[at] = inside or [round(change.new / unit)]
            works = across & kept if kept[tuple(query)] else across
            assert works[np.ix_(*ranges)].all()


def test_values_are_brought_nearer_to_the_row():
    """Not those at the ends that decide, where others do."""
    rows, labels, model = draw(3, MODELS["linear"])
    queries = rows[model.predict_proba(rows)[:, 1] >= 0.5].iloc[:30]
    rule = "a <= b"
    explainer = sev.Explainer(model, rows, labels, actions=sev.Actions(rules=[rule]), allow_positive_reference=True)
    checked = 0
    for one, query in zip(explainer.explain(queries, values="any"), queries.to_dict("records"), strict=True):
        for number in range(len(one.sets)):
            changes = one.changes_of(number)
            if len(changes) > 1 or not set(changes) & {"a", "b"}:
                continue
            [(name, change)] = changes.items()
            nearer = {**query, name: change.new - np.sign(change.new - query[name])}
            still = model.predict_proba(pd.DataFrame([nearer]))[0, 1] < 0.5 and (
                nearer["a"] <= nearer["b"] or query["a"] > query["b"]
            )
            assert not still or nearer == query
            checked += 1
    assert checked > 5


def test_rules_that_no_corner_decides_are_searched_over_candidates():
    rows, labels, model = draw(0, MODELS["boosting"])
    rules = ["a <= b", "2 * b >= a + 7", "a != 9"]
    frozen = ["c", "d"]
    actions = sev.Actions(rules=rules, frozen=frozen, increase=["a"])
    explainer = sev.Explainer(model, rows, labels, actions=actions, allow_positive_reference=True)
    queries = rows[model.predict_proba(rows)[:, 1] >= 0.5].iloc[:60]
    searched = {one.values_searched for one in explainer.explain(queries, values="any")}
    assert "candidates" in searched
