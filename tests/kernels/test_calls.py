"""Machine code trusts its arguments, so a call checks them; what it allocates, it frees."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import sev
from sev.kernels import load_kernels


@pytest.fixture(scope="module")
def kernels():
    return load_kernels("sev.backends.linear._kernels")


def arguments(room=10, most=5):
    """Two rows of three features, of which any one crosses."""
    start, gains = np.ones(2), np.full((2, 3), -2.0)
    active, bounds = np.ones((2, 3), dtype=bool), np.zeros(2)
    counts, complete, masks = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=bool), np.zeros((room, 1), dtype=np.uint64)
    sizes = np.ones(2, dtype=np.int64)
    return [0, start, gains, active, bounds, bounds, sizes, most, counts, complete, masks]


def test_a_call_reads_and_writes_arrays(kernels):
    given = arguments()
    assert kernels.list_sets(*given) == 2
    assert given[8].tolist() == [3, 3]
    assert given[9].all()
    assert given[10][:, 0].tolist() == [1, 2, 4, 1, 2, 4, 0, 0, 0, 0]


def test_a_call_stops_where_the_room_ends(kernels):
    given = arguments(room=5)
    assert kernels.list_sets(*given) == 1
    assert given[8].tolist() == [3, 0]


def test_arrays_may_be_read_only_or_empty(kernels):
    given = arguments()
    for array in given[1:7]:
        array.setflags(write=False)
    assert kernels.list_sets(*given) == 2
    none = [part[:0] if isinstance(part, np.ndarray) and len(part) == 2 else part for part in arguments()]
    assert kernels.list_sets(*none) == 0


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (1, np.ones(2, dtype=np.float32)),
        (1, np.ones(2, dtype=">f8")),
        (1, np.ones((2, 1))),
        (1, np.ones(4)[::2]),
        (2, np.full((3, 2), -2.0).T),
        (3, np.ones((2, 3), dtype=np.int8)),
        (6, np.ones(2, dtype=np.uint64)),
    ],
)
def test_other_arrays_are_refused(kernels, place, wrong):
    given = arguments()
    given[place] = wrong
    with pytest.raises(TypeError, match=r"list_sets takes (float64|int64|bool) of [12] dimensions in C order"):
        kernels.list_sets(*given)


def test_another_number_of_arguments_is_refused(kernels):
    with pytest.raises(TypeError, match="list_sets takes 11 numbers and arrays, got 10"):
        kernels.list_sets(*arguments()[1:])
    with pytest.raises(TypeError, match="got 12"):
        kernels.list_sets(*arguments(), 1)


@pytest.mark.parametrize("most", [1 << 56, 1 << 62])
def test_want_of_memory_is_an_error(kernels, most):
    with pytest.raises(MemoryError, match="list_sets"):
        kernels.list_sets(*arguments(most=most))


def test_memory_is_given_back(kernels):
    given = arguments(most=100_000)
    kernels.list_sets(*given)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(20):
            given[10][:] = 0
            kernels.list_sets(*given)
        now, most = tracemalloc.get_traced_memory()
        assert most - before > 2_000_000  # what one call takes is seen
        assert now - before < 100_000
    finally:
        tracemalloc.stop()


def test_threads_do_not_meet(kernels):
    def run(_):
        given = arguments()
        kernels.list_sets(*given)
        return given[10][:, 0].tolist()

    with ThreadPoolExecutor(4) as pool:
        assert set(map(tuple, pool.map(run, range(2_000)))) == {(1, 2, 4, 1, 2, 4, 0, 0, 0, 0)}


def test_callers_do_not_leave_the_length_of_whole_numbers_to_the_platform(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(40, 4))
    labels = (rows.sum(axis=1) > 0).astype(int)
    arange = np.arange

    def short(*given, dtype=np.int32):  # numpy 1 on Windows
        return arange(*given, dtype=dtype)

    for model in (LogisticRegression(), RandomForestClassifier(5, random_state=0)):
        explainer = sev.Explainer(model.fit(rows, labels), rows, labels)
        found = explainer.explain(rows).to_frame()
        with monkeypatch.context() as patch:
            patch.setattr(np, "arange", short)
            again = explainer.explain(rows)
        assert again.to_frame().equals(found)
