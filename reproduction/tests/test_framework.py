"""Plans, tasks and their files."""

import json

import pytest
from sev.exceptions import InputError

from sev_reproduction import Plan
from sev_reproduction._data import sampled_rows, split
from sev_reproduction._task import Done, Results, Store, Task
from sev_reproduction._times import Times, spoken

TASK = Task("models", "german", 3, "gbdt_plus")


def test_a_result_is_read_back(tmp_path):
    store = Store(tmp_path, Plan())
    assert not store.is_done(TASK)
    store.write(TASK, {"sev_minus": 1.25, "missing": float("nan")}, 2.0)
    assert Store(tmp_path, Plan()).read(TASK) == Done(TASK, {"sev_minus": 1.25, "missing": None}, 2.0)
    assert [one.task for one in store.all_done()] == [TASK]
    assert not [path.name for path in tmp_path.rglob(".*")]


def test_quick_and_full_results_do_not_mix(tmp_path):
    Store(tmp_path, Plan.of(quick=True)).write(TASK, {}, 1.0)
    with pytest.raises(InputError, match="other settings"):
        Store(tmp_path, Plan())


def test_a_result_of_other_settings_is_not_done(tmp_path):
    store = Store(tmp_path, Plan())
    store.write(TASK, {}, 1.0)
    path = TASK.path(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"settings": "other"}))
    assert not store.is_done(TASK)
    assert store.all_done() == []


def test_data_and_splits_do_not_change_settings():
    assert Plan(data=("german",), splits=(3,)).settings_hash() == Plan().settings_hash()
    assert Plan.of(quick=True).settings_hash() != Plan().settings_hash()


def test_wrong_names_are_refused():
    with pytest.raises(InputError, match="no data set"):
        Plan(data=("iris",))
    with pytest.raises(InputError, match="0 to 9"):
        Plan(splits=(10,))


def test_mimic_needs_a_file():
    assert "mimic" not in Plan().runnable
    assert "mimic" in Plan(mimic="oasis.csv").runnable


def test_splits_are_stratified_and_differ():
    plan = Plan()
    X_train, X_test, y_train, y_test = split("german", 0, plan)
    assert (len(X_train), len(X_test)) == (800, 200)
    assert y_train.mean() == y_test.mean() == 0.3
    assert not X_test.equals(split("german", 1, plan)[1])
    assert X_test.equals(split("german", 0, plan)[1])


def test_a_quick_plan_takes_a_sample_of_training_rows():
    assert len(split("german", 0, Plan.of(quick=True, max_train_rows=100))[0]) == 100


def test_the_sample_of_test_rows_is_fixed():
    assert sampled_rows(50, 0, 100).tolist() == list(range(50))
    first = sampled_rows(5000, 2, 100)
    assert len(set(first.tolist())) == 100
    assert (first == sampled_rows(5000, 2, 100)).all()


def test_means_leave_out_splits_without_a_figure():
    done = [Done(Task("models", "fico", n, "gbdt"), {"sev_plus": v}, 1.0) for n, v in enumerate((1.0, None, 2.0))]
    assert Results(done).mean("models", "fico", "gbdt", "sev_plus") == 1.5
    assert len(Results(done).values("models", "fico", "gbdt", "sev_plus")) == 2


def test_expected_times_come_from_the_most_similar_tasks():
    times = Times([Done(Task("models", "fico", n, "gbdt"), {}, s) for n, s in enumerate((10.0, 20.0, 90.0))])
    assert times.of(Task("models", "fico", 7, "gbdt")) == 20.0
    times.add(Task("models", "fico", 0, "l2"), 1.0)
    assert times.of(Task("models", "fico", 1, "l2")) == 1.0
    assert times.left([Task("models", "fico", 7, "gbdt"), Task("models", "fico", 1, "l2")]) == 21.0
    assert (spoken(30), spoken(600), spoken(9000)) == ("30 s", "10 min", "2.5 h")


def test_results_have_a_compact_form():
    done = [Done(Task("models", "fico", n, "l2"), {"a": 0.123456, "b": {"c": n}, "states": "11N"}, 1.0) for n in (0, 1)]
    (line,) = json.loads(Results(done).compact())
    assert (line["splits"], line["a"], line["b: c"]) == ([0, 1], [0.1235, 0.1235], [0, 1])
    assert "states" not in line


def test_recorded_results_are_read_back():
    done = [
        Done(Task("models", "fico", 0, "l2"), {"a": 0.123456, "b": {"c": 1, "d": {"e": 2}}, "none": None}, 1.04),
        Done(Task("models", "fico", 1, "l2"), {"a": 0.5, "b": {"c": 3}}, 2.0),
        Done(Task("causes", "german", 0, "l2_splits"), {"auc": [0.71234567, 0.8], "flips": [1, 2]}, 3.0),
    ]
    text = Results(done).compact()
    found = Results.from_compact(text)
    assert found.compact() == text
    first, second = found.of("models")
    assert (first.result, first.seconds) == ({"a": 0.1235, "b": {"c": 1, "d": {"e": 2}}}, 1.0)
    assert second.result == {"a": 0.5, "b": {"c": 3}}
    assert found.of("causes")[0].result == {"auc": [0.7123, 0.8]}
