"""What compiled code is given is checked: a wrong array is a TypeError, wrong numbers in it a ValueError."""

import threading

import numpy as np
import pytest
from native.native_calls import bound_names, record_calls

from sev import _native

FOREST = {
    # One split on column 0 with two leaves, then a tree that is a single leaf.
    "nodes": np.array([1 << 32 | 0 << 8, 0, 0, 0], dtype=np.int64),
    "values": np.array([0.5, 1.0, -1.0, 0.25]),
    "roots": np.array([0, 3], dtype=np.int64),
    "category_first": np.array([0], dtype=np.int64),
    "category_words": np.zeros(0, dtype=np.uint64),
}


def make_forest(n_columns=2, base=0.0, **changed):
    return _native.Forest(**{**FOREST, **changed}, n_columns=n_columns, base=base)


def make_session(**changed):
    forest = changed.pop("forest", None) or make_forest().mark(np.array([1.0, 0.0]))
    arguments = {
        "patterns": None,
        "queries": np.array([[0.0, 0.0], [1.0, 0.0]]),
        "active": np.array([[True, False], [False, False]]),
        "column_feature": np.array([0, 1]),
        "rules": _native.Rules(minus=True, sign=1.0, sure=0.0, limit=0.0, max_size=9),
        "grid": 0.0,
    }
    return _native.Session(forest, **{**arguments, **changed})


def request(rows=(0, 1), from_size=None, work=None, seconds=np.inf, max_sets=3, listing=10**6):
    rows = np.array(rows, dtype=np.int64)
    sizes = np.ones(rows.size, dtype=np.int64) if from_size is None else from_size
    return rows, sizes, np.full(rows.size, 10**9) if work is None else work, seconds, max_sets, listing


def misaligned(array):
    padded = np.zeros(array.nbytes + 1, dtype=np.uint8)
    view = padded[1:].view(array.dtype).reshape(array.shape) if array.nbytes else array
    view[...] = array
    return view


def strided(array):
    return np.repeat(array, 2, axis=-1)[..., ::2]


WRONG_FORMS = {
    "another type": lambda array: array.astype(np.float32 if array.dtype.kind == "f" else np.int32),
    "another number of dimensions": lambda array: array[None],
    "not contiguous": strided,
    "not aligned": misaligned,
    "swapped bytes": lambda array: array.astype(array.dtype.newbyteorder()),
    "a list": lambda array: array.tolist(),
    "objects": lambda array: array.astype(object),
    "nothing": lambda array: None,
}


@pytest.mark.parametrize("wrong", WRONG_FORMS.values(), ids=WRONG_FORMS)
@pytest.mark.parametrize("name", ["nodes", "values", "roots"])
def test_wrong_arrays_of_a_forest_are_type_errors(name, wrong):
    with pytest.raises(TypeError):
        make_forest(**{name: wrong(FOREST[name])})


@pytest.mark.parametrize("wrong", WRONG_FORMS.values(), ids=WRONG_FORMS)
def test_wrong_arrays_of_rows_are_type_errors(wrong):
    rows = np.zeros((2, 2))
    with pytest.raises(TypeError):
        make_forest().margins(wrong(rows))
    with pytest.raises(TypeError):
        make_session(queries=wrong(rows))
    with pytest.raises(TypeError):
        make_session().pairs(wrong(np.array([0, 1])), *request()[1:], widest=9)


def test_read_only_and_empty_arrays_are_taken():
    frozen = {name: array.copy() for name, array in FOREST.items()}
    for array in frozen.values():
        array.flags.writeable = False
    forest = make_forest(**frozen)
    np.testing.assert_array_equal(forest.margins(np.array([[0.0, 0.0], [1.0, 0.0]])), [1.25, -0.75])
    assert forest.margins(np.zeros((0, 2))).shape == (0,)
    none = np.zeros(0, dtype=np.int64)
    empty = make_forest(nodes=none, values=np.zeros(0), roots=none, n_columns=0, base=2.0)
    np.testing.assert_array_equal(empty.margins(np.zeros((3, 0))), 2.0)
    answers = make_session().pairs(*request(rows=()), widest=9)
    assert [part.shape[0] for part in answers] == 7 * [0]


def node(left, column=0, flags=0):
    return left << 32 | column << 8 | flags


DAMAGED = {
    "a child before its parent": {"nodes": [node(1), 0, node(1), 0]},
    "a cycle": {"nodes": [node(1), node(1), 0, 0]},
    "a child in another tree": {"nodes": [node(2), 0, 0, 0]},
    "a child far away": {"nodes": [node(10**6), 0, 0, 0]},
    "a child below zero": {"nodes": [node(-5), 0, 0, 0]},
    "a shared child": {"nodes": [node(1), node(3), node(3), 0, 0], "values": np.zeros(5), "roots": [0]},
    "a node without a parent": {"nodes": [0, 0, 0, 0]},
    "a column out of range": {"nodes": [node(1, column=7), 0, 0, 0]},
    "a category set out of range": {"nodes": [node(1, flags=2 | 16), 0, 0, 0], "values": np.array([3.0, 0, 0, 0])},
    "a category set below zero": {"nodes": [node(1, flags=2 | 16), 0, 0, 0], "values": np.array([-1.0, 0, 0, 0])},
    "half a category set": {"nodes": [node(1, flags=2 | 16), 0, 0, 0], "values": np.array([0.5, 0, 0, 0])},
    "contradicting flags": {"nodes": [node(1, flags=16), 0, 0, 0]},
    "the mark of a reference": {"nodes": [node(1, flags=128), 0, 0, 0]},
    "a threshold that is no number": {"values": np.array([np.nan, 0, 0, 0])},
    "values of another length": {"values": np.zeros(3)},
    "a root out of range": {"roots": [0, 9]},
    "a root below zero": {"roots": [-1, 3]},
    "roots out of order": {"roots": [3, 0]},
    "words without a set": {"category_words": np.ones(4, dtype=np.uint64)},
    "sets that fall": {"category_first": [0, 3, 1], "category_words": np.ones(1, dtype=np.uint64)},
    "no list of sets": {"category_first": []},
}


@pytest.mark.parametrize("changed", DAMAGED.values(), ids=DAMAGED)
def test_damaged_forests_are_value_errors(changed):
    ints = {name: np.array(some, dtype=np.int64) for name, some in changed.items() if isinstance(some, list)}
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        make_forest(**{**changed, **ints})


@pytest.mark.parametrize(("changed", "message"), [
    ({"queries": np.zeros((2, 3))}, "queries"),
    ({"active": np.zeros((3, 2), dtype=bool)}, "number of rows"),
    ({"column_feature": np.array([0])}, "column_feature"),
    ({"column_feature": np.array([0, 2])}, "column_feature"),
    ({"column_feature": np.array([0, -1])}, "column_feature"),
])  # fmt: skip
def test_arrays_that_do_not_fit_each_other_are_value_errors(changed, message):
    with pytest.raises(ValueError, match=message):
        make_session(**changed)


@pytest.mark.parametrize(("changed", "message"), [
    ({"rows": [2]}, "row is out of range"),
    ({"rows": [-1]}, "row is out of range"),
    ({"from_size": np.array([1])}, "same length"),
    ({"work": np.array([1])}, "same length"),
    ({"from_size": np.array([0, 1])}, "at least 1"),
    ({"max_sets": 0}, "max_sets"),
    ({"seconds": np.nan}, "seconds"),
])  # fmt: skip
@pytest.mark.parametrize("kernel", ["pairs", "terms", "branch", "exists", "greedy"])
def test_wrong_requests_are_value_errors(kernel, changed, message):
    options = {"pairs": {"widest": 9}, "branch": {"widest_pairs": 9}}.get(kernel, {})
    with pytest.raises(ValueError, match=message):
        getattr(make_session(), kernel)(*request(**changed), **options)


def test_patterns_of_another_forest_are_refused():
    wide = _native.Forest(**{**FOREST, "nodes": np.array([node(1, column=4), 0, 0, 0])}, n_columns=5, base=0.0)
    patterns = _native.Patterns(wide.mark(np.zeros(5)), np.array([0, 1, 0, 1, 0]), np.ones(2, dtype=bool), True, 1.0)
    with pytest.raises(ValueError, match="another forest"):
        make_session(patterns=patterns)


@pytest.mark.parametrize("changed", [{"minus": False}, {"sign": -1.0}])
def test_patterns_of_other_rules_are_refused(changed):
    """Patterns for "minus" have no leaves of the query: "plus" would read what is not there."""
    marked = make_forest().mark(np.array([1.0, 0.0]))
    patterns = _native.Patterns(marked, np.array([0, 1]), np.ones(2, dtype=bool), True, 1.0)
    rules = {"minus": True, "sign": 1.0, "sure": 0.0, "limit": 0.0, "max_size": 9}
    make_session(forest=marked, patterns=patterns, rules=_native.Rules(**rules))
    with pytest.raises(ValueError, match="another kind or sign"):
        make_session(forest=marked, patterns=patterns, rules=_native.Rules(**rules | changed))


@pytest.mark.parametrize("changed", [
    {"weights": np.zeros(3)}, {"reference": np.zeros(1)}, {"column_feature": np.array([0, 5])},
    {"column_feature": np.array([0, -1])}, {"n_features": -1},
])  # fmt: skip
def test_wrong_sums_are_value_errors(changed):
    arguments = {
        "queries": np.zeros((4, 2)), "reference": np.zeros(2), "weights": np.ones(2), "intercept": 0.0,
        "column_feature": np.array([0, 1]), "n_features": 2, "minus": True, "sign": 1.0,
    }  # fmt: skip
    _native.moves(**arguments)
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        _native.moves(**{**arguments, **changed})


def make_chain(depth):
    """A tree in which every split has a leaf on its left."""
    splits = np.arange(0, 2 * depth, 2)
    nodes, values = np.zeros(2 * depth + 1, dtype=np.int64), np.ones(2 * depth + 1)
    nodes[splits], values[splits] = (splits + 1) << 32, np.arange(depth) / depth
    return make_forest(n_columns=1, nodes=nodes, values=values, roots=np.array([0]))


def make_cells(forest, n_cells):
    one = np.zeros(1, dtype=np.int64)
    return _native.CellForest(forest, np.array([n_cells]), one, one, np.arange(n_cells) / n_cells, 1.0)


def test_deep_trees_are_searched_or_refused():
    """No thread's stack is deep enough for a call at each of a million levels."""
    deep = make_chain(1_000_000)
    session = make_session(
        forest=deep.mark(np.array([0.2])), queries=np.array([[0.9], [0.5]]), active=np.ones((2, 1), dtype=bool),
        column_feature=np.array([0]),
    )  # fmt: skip
    for kernel in ("branch", "exists", "greedy", "pairs"):
        options = {"pairs": {"widest": 9}, "branch": {"widest_pairs": 9}}.get(kernel, {})
        assert getattr(session, kernel)(*request(), **options)[0].size == 2
    with pytest.raises(ValueError, match="more than 1,000 levels"):
        make_cells(deep, 50)
    cells = make_cells(make_chain(1000), 1000)
    found = cells.solve(
        np.array([[999]]), np.ones((1, 1000)), 1.5, 1.5, 0, 9, 10, 10**9, np.inf, lambda row, points: points[:, 0] > 0
    )
    assert found[0].tolist() == [0]


@pytest.mark.parametrize(("answer", "error"), [
    (lambda points: None, TypeError), (lambda points: [True] * len(points), TypeError),
    (lambda points: np.ones(len(points)), TypeError), (lambda points: np.ones((len(points), 1), dtype=bool), TypeError),
    (lambda points: np.ones(len(points) + 1, dtype=bool), ValueError),
])  # fmt: skip
@pytest.mark.parametrize("kernel", ["solve", "grow"])
def test_wrong_decisions_about_points_are_refused(kernel, answer, error):
    cells, rows = make_cells(make_chain(4), 8), (np.array([[7]]), np.ones((1, 8)))
    rest = {"solve": (0, 9, 10, 10**9, np.inf), "grow": (10**9, 100)}[kernel]
    points = (np.array([[2]]), np.ones(1, dtype=bool)) if kernel == "grow" else ()
    with pytest.raises(error, match="the function must"):
        getattr(cells, kernel)(*rows, *points, -9.0, 9.0, *rest, lambda row, some: answer(some))


def test_a_negative_number_of_walks_is_refused():
    rows = (np.array([[7]]), np.ones((1, 8)), np.array([[2]]), np.ones(1, dtype=bool))
    with pytest.raises(ValueError, match="most_walks"):
        make_cells(make_chain(4), 8).grow(*rows, -9.0, 9.0, 10**9, -(2**63), lambda row, points: points[:, 0] > 0)


def test_any_byte_but_zero_is_true():
    """A bool array made from bytes may hold others than 0 and 1."""
    active = np.array([[2, 0], [0, 0]], dtype=np.uint8).view(bool)
    outcome = make_session(active=active).pairs(*request(), widest=9)[0]
    assert outcome.tolist() == [0, 1]


def test_one_session_can_be_used_from_many_threads():
    session = make_session()
    expected = [part.tolist() for part in session.pairs(*request(), widest=9)]
    wrong = []

    def search():
        for _ in range(200):
            if [part.tolist() for part in session.pairs(*request(), widest=9)] != expected:
                wrong.append(1)

    threads = [threading.Thread(target=search) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_fuzzer_calls_every_bound_name():
    recorded = {name for name, *_ in record_calls()}
    assert recorded == bound_names()
    assert not any(name.startswith("_") for name in bound_names())


def test_only_a_function_is_called_while_searching():
    with pytest.raises(TypeError, match="function or None"):
        _native.set_poll(3)
