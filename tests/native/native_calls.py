"""Calls of every name that the extension binds, with arguments of ordinary use: what the fuzzer changes."""

from contextlib import contextmanager

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import sev
from sev import _native

#: Other functions of the extension make these.
NEVER_CALLED = {"MarkedForest", "JointSession"}
REQUEST = (np.array([0, 1]), np.array([3, 3]), np.array([10**6, 10**6]), np.inf, 3, 10**6)


def bound_names():
    """Return the names of all functions, classes, methods and properties of the extension."""
    names = set()
    for name, member in public_members(_native):
        names.add(name)
        if isinstance(member, type):
            names |= {f"{name}.{inner}" for inner, _ in public_members(member)}
    return names - NEVER_CALLED


def public_members(owner):
    return [(name, member) for name, member in list(vars(owner).items()) if not name.startswith("_")]


def record_calls():
    """Return what the native code was called with, as tuples: name, function, arguments, named arguments."""
    calls = []
    with replaced_by_recorders(calls):
        explain_models()
        call_each_kernel()
    return few_of_each(calls)


@contextmanager
def replaced_by_recorders(calls):
    """Note every call of the extension in a list, as long as this lasts."""
    before = []

    def put(owner, name, member, new):
        before.append((owner, name, member))
        setattr(owner, name, new)

    def recorder(name, function):
        def call(*arguments, **named):
            calls.append((name, function, arguments, named))
            return function(*arguments, **named)

        return call

    for name, member in public_members(_native):
        if isinstance(member, type):
            for inner, method in public_members(member):
                if callable(method):
                    put(member, inner, method, recorder(f"{name}.{inner}", method))
                else:
                    put(member, inner, method, property(recorder(f"{name}.{inner}", method.__get__)))
        put(_native, name, member, recorder(name, member))
        if isinstance(member, type):  # for calls of its static methods
            vars(getattr(_native, name)).update(public_members(member))
    try:
        yield
    finally:
        for owner, name, member in reversed(before):
            setattr(owner, name, member)


def few_of_each(calls, most=12):
    """Return at most so many calls of each function, spread over all of them."""
    chosen = []
    for name in dict.fromkeys(name for name, *_ in calls):
        same = [call for call in calls if call[0] == name]
        chosen += same[:: max(1, len(same) // most)][:most]
    return chosen


def explain_models():
    """Explain with models of every kind, at the values of a reference and with free values."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(400, 6)), 1)
    y = (X[:, 0] + X[:, 1] * X[:, 2] - X[:, 3] > 0.2).astype(int)
    codes = X.copy()
    codes[:, 5] = rng.integers(0, 70, 400)
    models = (
        LogisticRegression().fit(X, y),
        GradientBoostingClassifier(n_estimators=30, max_depth=3, random_state=0).fit(X, y),
        RandomForestClassifier(n_estimators=10, max_depth=6, random_state=0).fit(X, y),
        HistGradientBoostingClassifier(max_iter=10, categorical_features=[5], random_state=0).fit(codes, y),
    )
    for model in models:
        explainer = sev.Explainer(model, codes, y)
        for kind in "minus", "plus":
            explainer.explain(codes[:350], kind=kind)[0]
        explainer.explain(codes[:4], values="any")[0]


def call_each_kernel():
    """Call what the explanations above do not need: only hard rows, long lists or many rows do."""
    _native.set_poll(None)
    rng = np.random.default_rng(0)
    forest = make_forest(rng, n_columns=8, n_trees=12)
    assert forest.depth == 3
    assert forest.n_trees == 12
    features = np.arange(8)
    marked, parted = forest.mark(np.zeros(8)), forest.mark(np.zeros(8), partings=True)
    patterns = _native.Patterns(marked, features, np.ones(8, dtype=bool), True, 1.0)
    queries, active = rng.normal(size=(3, 8)), np.ones((3, 8), dtype=bool)
    for ground, some in ((marked, patterns), (marked, None), (parted, None)):
        rules = _native.Rules(minus=True, sign=1.0, sure=-0.1, limit=0.1, max_size=8)
        session = _native.Session(ground, some, queries, active, features, rules, 1e-12)
        session.facts(np.arange(3))
        session.query_margins()
        session.helpful(np.arange(3))
        session.least_size(1)
        session.count_terms(1, 3)
        session.pairs(*REQUEST, widest=256)
        for looks_up in (False, True) if some else (False,):
            session.cubic(*REQUEST, last=8, looks_up=looks_up, proof=_native.ProofEffort(5, 5_000, 2))
        session.terms(*REQUEST)
        session.branch(*REQUEST, widest_pairs=256)
        session.exists(*REQUEST)
        session.greedy(*REQUEST)
    start, gains, _ = _native.moves(queries, np.zeros(8), rng.normal(size=8), 0.5, features, 8, True, 1.0)
    limits = np.full(3, start.min() - 0.5)
    problem = (start, gains, active, limits, limits + 1e-9, np.full(3, 1e-12))
    _native.first_sets(*problem)
    _native.list_sets(*problem, np.array([1, 2, 3]), 5, 10**6)
    _native.hash_rows(queries)
    _native.mix_rows(queries, np.zeros((1, 8)), np.zeros(3, dtype=np.int64), np.arange(3), active, features)
    _native.any_by_feature(active, features, 8)
    call_cell_forest(forest, rng)
    second = _native.SecondSum(forest, np.zeros(8), queries, features, 8, -0.5)
    for every_feature, some in ((False, second), (True, second), (True, None)):
        limits = (some, active, np.full(3, -0.1), np.full(3, 0.1), np.full(3, 1e-12), 8, every_feature)
        for joint in (
            _native.JointSession.with_forest(*limits, forest, np.zeros(8), queries, features, 1.0),
            _native.JointSession.with_gains(*limits, start, gains),
        ):
            joint.search(*REQUEST)
            joint.greedy(*REQUEST)


def call_cell_forest(forest, rng, n_cells=5):
    n = 8
    sizes, first = np.full(n, n_cells), np.arange(n) * n_cells
    cells = _native.CellForest(forest, sizes, np.arange(n), first, np.sort(rng.normal(size=n * n_cells)), 1.0)
    assert cells.n_trees == 12
    at, cost = rng.integers(0, n_cells, (2, n)), rng.random((2, n * n_cells))
    for goal in range(4):
        cells.solve(at, cost, -0.5, 0.5, goal, 4, 10, 10**6, np.inf, decide)
    cells.grow(at, cost, rng.integers(0, n_cells, (2, n)), np.ones(n, dtype=bool), -0.5, 0.5, 10**6, 100, decide)


def decide(row, points):
    """Decide about points as a model would: by their cells alone."""
    return points.sum(axis=1) % 3 == 0


def make_forest(rng, n_columns, n_trees):
    """Return a forest of full trees of depth 3 with random thresholds."""
    splits = np.arange(7)
    tree = np.concatenate([(2 * splits + 1) << 32, np.zeros(8, dtype=np.int64)])
    nodes = np.concatenate([np.where(tree > 0, tree + (15 * at << 32), 0) for at in range(n_trees)])
    nodes[nodes > 0] |= rng.integers(0, n_columns, np.count_nonzero(nodes)) << 8
    none = np.zeros(0, dtype=np.uint64)
    values = rng.normal(size=nodes.size)
    return _native.Forest(nodes, values, 15 * np.arange(n_trees), np.zeros(1, dtype=np.int64), none, n_columns, 0.0)
