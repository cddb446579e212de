"""Rules between features are kept exactly: sizes, sets, costs and ranges are those of all cells."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer

import sev

pytestmark = pytest.mark.filterwarnings("ignore::sev.exceptions.RuleWarning")

MODELS = {
    "linear": lambda: LogisticRegression(),
    "bins": lambda: make_pipeline(KBinsDiscretizer(4, strategy="uniform"), LogisticRegression()),
    "bayes": lambda: GaussianNB(),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=12, max_depth=3, random_state=0),
    "forest": lambda: RandomForestClassifier(n_estimators=8, max_depth=4, random_state=0),
}
RULES = {
    "order": {"a <= b": lambda a, b, c, d: a <= b},
    "sum": {"a + b <= 24": lambda a, b, c, d: a + b <= 24},
    "chain": {"a <= b": lambda a, b, c, d: a <= b, "b <= c + 6": lambda a, b, c, d: b <= c + 6},
    "apart": {"a <= b": lambda a, b, c, d: a <= b, "c >= 2 * d - 3": lambda a, b, c, d: c >= 2 * d - 3},
    "implied": {"if a > 6 then b <= d": lambda a, b, c, d: (a <= 6) | (b <= d)},
    "unlike": {"a != b": lambda a, b, c, d: a != b, "c == d or c < 5": lambda a, b, c, d: (c == d) | (c < 5)},
}
#: How many values each number has: more than a search of candidates tries.
WIDTHS = {"a": 20, "b": 19, "c": 9, "d": 4}
MOVES = {
    "none": {},
    "one way": {"increase": ["a"], "decrease": ["c"]},
    "bands": {"within": {"a": ("-8", "+5"), "b": ("-6", "+6")}},
}


def draw(seed, make):
    random = np.random.default_rng(seed)
    rows = pd.DataFrame({name: random.integers(0, width, 400) for name, width in WIDTHS.items()})
    rows.iloc[:2] = [[0] * 4, [width - 1 for width in WIDTHS.values()]]
    weights = random.normal(size=4) * [0.1, 0.1, 0.2, 0.3]
    labels = (rows.to_numpy() @ weights + random.normal(size=400) * 0.3 > np.median(rows.to_numpy() @ weights)).astype(
        int
    )
    return rows, labels, make().fit(rows, labels)


class EveryCell:
    """All rows that there are, and which of them a row may become."""

    def __init__(self, model, rows, moves, rules):
        self.axes = [np.arange(width) for width in WIDTHS.values()]
        grid = np.meshgrid(*self.axes, indexing="ij")
        points = pd.DataFrame({name: one.ravel() for name, one in zip(WIDTHS, grid, strict=True)})
        self.across = (model.predict_proba(points)[:, 1] < 0.5).reshape(grid[0].shape)
        self.rules = [rule(*grid) for rule in rules]
        self.moves = moves
        self.scales = rows.std(ddof=0).to_numpy()

    def permitted(self, name, old):
        values = np.arange(WIDTHS[name])
        good = values != old
        good &= (values > old) | (name not in self.moves.get("increase", ()))
        good &= (values < old) | (name not in self.moves.get("decrease", ()))
        low, high = self.moves.get("within", {}).get(name, ("-99", "+99"))
        return values[good & (values >= old + int(low)) & (values <= old + int(high))]

    def works(self, query):
        return np.logical_and.reduce([self.across, *(kept for kept in self.rules if kept[tuple(query)])])

    def smallest(self, query):
        works, names = self.works(query), list(WIDTHS)
        for size in range(1, 5):
            found = {}
            for some in combinations(range(4), size):
                axes = [self.permitted(names[at], query[at]) if at in some else [query[at]] for at in range(4)]
                if all(len(one) for one in axes) and (good := works[np.ix_(*axes)]).any():
                    costs = np.zeros(good.shape)
                    for at, one in enumerate(axes):
                        shape = [-1 if other == at else 1 for other in range(4)]
                        costs = costs + (np.abs(np.array(one) - query[at]) / self.scales[at]).reshape(shape)
                    found[tuple(names[at] for at in some)] = costs[good].min()
            if found:
                return found
        return {}


@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("family", MODELS)
def test_answers_are_those_of_all_cells(family, rules, moves):
    rows, labels, model = draw(list(RULES).index(rules), MODELS[family])
    explainer = sev.Explainer(
        model,
        rows,
        labels,
        actions=sev.Actions(**MOVES[moves], rules=list(RULES[rules])),
        allow_positive_reference=True,
    )
    cells = EveryCell(model, rows, MOVES[moves], RULES[rules].values())
    queries = rows[model.predict_proba(rows)[:, 1] >= 0.5].iloc[:24]
    for one, query in zip(explainer.explain(queries, values="any"), queries.to_numpy(), strict=True):
        wanted = cells.smallest(query)
        assert one.status == ("optimal" if wanted else "unexplainable")
        assert one.values_searched == "all"
        assert {tuple(sorted(chosen)) for chosen in one.sets} == set(wanted)
        assert one.sets_complete
        for number, chosen in enumerate(one.sets):
            changes = one.changes_of(number)
            cost = sum(
                abs(change.new - change.old) / cells.scales["abcd".index(name)] for name, change in changes.items()
            )
            assert cost == pytest.approx(wanted[tuple(sorted(chosen))])
            ranges = [
                [value for value in range(WIDTHS[name]) if value in changes[name].enough]
                if name in changes and changes[name].enough
                else [changes[name].new if name in changes else query[at]]
                for at, name in enumerate(WIDTHS)
            ]
            assert cells.works(query)[np.ix_(*[np.array(one, dtype=int) for one in ranges])].all()
