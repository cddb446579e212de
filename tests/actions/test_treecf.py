"""Where treecf, an independent exact search, proves an answer, ours is the same."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier

import sev

treecf = pytest.importorskip("treecf", reason="treecf is not installed: nothing to compare the search over cells with")

NAMES = [*"abcdef"]
#: treecf minimises the distance plus this for each changed feature.
FEWEST, LEAST_COST = 1000.0, 0.0


def integer_rows(seed):
    generator = np.random.default_rng(seed)
    rows = pd.DataFrame(generator.integers(0, 12, (400, 6)).astype(float), columns=NAMES)
    score = rows.a * rows.b / 10 + rows.c - 0.7 * rows.d + 0.2 * rows.e * (rows.f > 5)
    return rows, (score > score.quantile(0.6)).astype(int).to_numpy()


def xgboost(seed):
    package = pytest.importorskip("xgboost")
    return package.XGBClassifier(n_estimators=25, max_depth=3, random_state=seed, n_jobs=1)


def boosting(seed):
    return GradientBoostingClassifier(n_estimators=25, max_depth=3, random_state=seed)


#: Each feature's entry in the actions, and what treecf calls it; x is the row.
CONSTRAINTS = [
    ({}, lambda x: []),
    (
        {"increase": ["a"], "decrease": ["c"]},
        lambda x: [treecf.Monotone("a", "increase"), treecf.Monotone("c", "decrease")],
    ),
    (
        {"frozen": ["b"], "within": {"d": ("-3", "+3"), "e": sev.between(2, 9)}},
        lambda x: [
            treecf.Freeze("b"),
            treecf.Range("d", max(0.0, x["d"] - 3), min(11.0, x["d"] + 3)),
            treecf.Range("e", 2.0, 9.0),
        ],
    ),
]


def prove(explainer, model, query, constraints, weight):
    """treecf's size and distance, or None where nothing is possible; skips what it does not prove."""
    named = {constraint.feature for constraint in constraints if not isinstance(constraint, treecf.Monotone)}
    bounds = [treecf.Range(name, 0.0, 11.0) for name in NAMES if name not in named]
    scales = {name: explainer[name][1] for name in NAMES}
    peer = treecf.Explainer(
        model,
        normalizers=scales,
        constraints=[*bounds, *constraints],
        value_policy=dict.fromkeys(NAMES, "integer"),
    )
    found = peer.explain(
        query.to_numpy(),
        treecf.Target.probability(op="<=", value=np.nextafter(0.5, 0.0)),
        backend="exact",
        search="refine",
        sparsity_weight=weight,
        seed=0,
        time_budget_s=20.0,
        node_budget=10**9,
    )
    if isinstance(found, treecf.Infeasible):
        return (None, None) if found.proof == "certified" else None
    return (found.n_changed, found.distance) if found.proof.startswith("optimal") else None


@pytest.mark.filterwarnings("ignore::treecf.TreecfWarning")
@pytest.mark.parametrize("make", [xgboost, boosting])
def test_sizes_and_costs_are_those_that_treecf_proves(make):
    n_proven, sizes = 0, set()
    for seed, (entries, constraints) in enumerate(CONSTRAINTS):
        rows, labels = integer_rows(seed)
        model = make(seed).fit(rows, labels)
        explainer = sev.Explainer(model, rows, labels, actions=sev.Actions(**entries), allow_positive_reference=True)
        queries = rows[model.predict_proba(rows)[:, 1] > 0.6].iloc[:6]
        fewest = explainer.explain(queries, values="any")
        cheapest = explainer.explain(queries, values="any", minimise="cost")
        for place, (_, query) in enumerate(queries.iterrows()):
            one = fewest[place]
            if "e" in entries.get("within", {}) and not 2 <= query["e"] <= 9:
                continue  # treecf takes no row outside a range
            for mine, weight in ((one, FEWEST), (cheapest[place], LEAST_COST)):
                proof = prove(mine.efforts, model, query, constraints(query), weight)
                if proof is None:
                    continue
                n_proven += 1
                size, distance = proof
                sizes.add(size)
                assert mine.status == ("unexplainable" if size is None else "optimal")
                if size is not None:
                    assert mine.cost == pytest.approx(distance, rel=1e-9)
                    assert weight == LEAST_COST or mine.size == size
    assert n_proven > 20
    assert {1, 2} <= sizes
