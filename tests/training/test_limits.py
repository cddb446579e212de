"""What `sev.optimize` accepts and refuses: each limit by itself, on figures made for it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from training.tables import numbers

pytest.importorskip("torch", reason="training needs torch")

import sev
from sev.exceptions import TrainingError
from sev.training import _optimize, _path
from sev.training._building import TaskBuilder
from sev.training._floors import Limits, floors_of
from sev.training._path import Rows, path_line
from sev.training._tuning import Tuner, with_final


def limits_of(max_accuracy_loss=0.01, max_rate_change=0.1, **options):
    metric, amount = options.get("metric"), options.get("max_metric_loss", 0.005)
    return Limits(floors_of(LogisticRegression(), metric, amount, max_accuracy_loss), max_rate_change)


LIMITS = limits_of()
FINE = {
    "accuracy": 0.80,
    "auc": 0.9,
    "positive_rate": 0.30,
    "sev": 1.5,
    "reference_score": 0.3,
    "reference_positive": 0.0,
    "failed": False,
}


def path(*lines):
    """A path whose first line is a model as it was."""
    every = [{**FINE, "sev": 2.0}, *({**FINE, **line} for line in lines)]
    return pd.DataFrame(every, index=[0.0, 0.1, 0.3, 1.0][: len(every)])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"accuracy": 0.7901}, ""),
        ({"accuracy": 0.7899}, "accuracy 0.8000 -> 0.7899"),
        ({"accuracy": 0.85}, ""),
        ({"positive_rate": 0.329}, ""),
        ({"positive_rate": 0.331}, "share of positives 0.300 -> 0.331"),
        ({"positive_rate": 0.269}, "share of positives 0.300 -> 0.269"),
        ({"positive_rate": 0.0}, "no row is predicted positive"),
        ({"reference_positive": 0.2}, "the reference is predicted positive"),  # in one fold of five
        ({"failed": True, "accuracy": np.nan}, "training failed"),
    ],
)
def test_verdicts(line, why):
    judged = LIMITS.judge(path(line))
    assert judged.loc[0.1, "why"] == why
    assert judged.loc[0.1, "acceptable"] == (why == "")
    assert judged.loc[0.0, "acceptable"]


class Tuned:
    """Stands for a tuner: hands back a model that remembers its penalty, or fails."""

    def __init__(self, model, fails=()):
        self.model = model
        self.fails = fails

    def tune(self, settings):
        if settings in self.fails:
            raise TrainingError("no good")
        return SimpleNamespace(penalty=settings, predict_proba=self.model.predict_proba)


def chosen(lines, monkeypatch, *, base=None, troubled=(), fails=()):
    """The penalty that is applied, and the notes."""
    rows, labels = numbers()
    model = LogisticRegression().fit(rows, labels)
    table = path(*lines)
    for name, value in (base or {}).items():
        table.loc[0.0, name] = value
    monkeypatch.setattr(_optimize, "_find_degeneracy", lambda tuned, *_: "strange" if tuned.penalty in troubled else "")
    settings = {penalty: penalty for penalty in table.index}
    tuner = Tuned(model, fails)
    penalty, tuned, notes = _optimize._tune_on_all_rows(
        tuner, Rows(rows, labels), LIMITS.judge(table), settings, LIMITS
    )
    assert tuned is model if penalty is None else tuned.penalty == penalty
    return penalty, notes


def test_the_shortest_explanations_among_the_acceptable_win(monkeypatch):
    lines = [{"sev": 1.4}, {"sev": 1.2}, {"sev": 1.1, "accuracy": 0.7}]
    assert chosen(lines, monkeypatch) == (0.3, [])


def test_what_is_no_better_is_not_applied(monkeypatch):
    assert chosen([{"sev": 2.0}, {"sev": 2.1}], monkeypatch) == (None, [])


def test_beside_a_positive_reference_any_acceptable_model_is_better(monkeypatch):
    base = {"sev": np.nan, "reference_positive": 1.0}
    assert chosen([{"sev": 2.1}, {"sev": 2.0}], monkeypatch, base=base) == (0.3, [])


def test_the_next_best_follows_one_that_fails_on_all_rows(monkeypatch):
    lines = [{"sev": 1.4}, {"sev": 1.2}, {"sev": 1.1}]
    penalty, notes = chosen(lines, monkeypatch, troubled=[1.0], fails=[0.3])
    assert penalty == 0.1
    assert notes == ["penalty 1 on all rows: strange", "penalty 0.3 on all rows: no good"]


@pytest.mark.parametrize(
    ("shift", "slack", "trouble"),
    [
        (0.0, 0.1, ""),
        (0.4, 0.01, "share of positives"),
        (-0.4, 0.01, "share of positives"),
        (-100.0, 10.0, "no row is predicted positive"),
        (9.0, 10.0, "the reference is predicted positive"),
    ],
)
def test_degenerate_models_are_told(shift, slack, trouble):
    rows, labels = numbers()
    model = LogisticRegression().fit(rows, labels)
    tuner = Tuner.of(model, rows, labels, TaskBuilder())
    moved = with_final(model, LogisticRegression().fit(rows, labels))
    moved.intercept_ = moved.intercept_ + shift
    found = _optimize._find_degeneracy(moved, tuner, Rows(rows, labels), limits_of(max_rate_change=slack))
    assert found.startswith(trouble)
    assert bool(trouble) == bool(found)


def test_the_path_is_measured_on_rows_that_its_models_have_not_seen(monkeypatch):
    rows, labels = numbers(120)
    fitted, measured = [], []

    class Watched(LogisticRegression):
        def fit(self, X, y):
            fitted.append({tuple(row) for row in X.tolist()})
            return super().fit(X, y)

    original = _path.Measure.of
    monkeypatch.setattr(
        _path.Measure, "of", lambda self, model, X, y, w: (measured.append(X), original(self, model, X, y, w))[1]
    )
    tuned = []
    monkeypatch.setattr(Tuner, "tune", lambda self, settings: (tuned.append(settings), self.model)[1])
    model = Watched().fit(rows, labels)
    with pytest.warns(sev.exceptions.TrainingWarning, match="none lowers the mean SEV"):
        _, record = sev.optimize(model, rows, labels, penalties=[0.5], random_state=8)
    folds = fitted[1:]
    assert len(folds) == 5
    assert len(measured.pop(0)) == 120  # the model as it is, to see whether there is anything to gain
    path, against = measured[:10], measured[10:]
    assert len(against) == 10  # against clusters, then against nearest rows, fold by fold
    for seen, rest in zip([*folds, *folds, *folds], [*path[::2], *against], strict=True):
        assert len(seen) + len(rest) == 120
        assert not seen & {tuple(row) for row in rest.tolist()}
    assert {one.seed for one in tuned} == {8}
    mean = np.mean([(model.predict(rest) == 1).mean() for rest in path[::2]])
    assert record.path.loc[0.0, "positive_rate"] == pytest.approx(mean, abs=0.05)


def test_restricted_features_are_what_is_measured():
    found = {"accuracy": 0.8, "auc": 0.9, "positive_rate": 0.3, "reference_score": 0.4}
    for place, kind in enumerate(("plus", "minus", "restricted")):
        found |= {f"sev_{kind}": 1.0 + place, f"share_of_one_{kind}": 0.1 * place, f"unexplainable_{kind}": 0.2 * place}
    line = path_line(found, restricted=True)
    assert (line["sev"], line["share_of_one"], line["unexplainable"]) == pytest.approx((2.0, 0.1, 0.4))
    free = path_line(found, restricted=False)
    assert free["sev"] == pytest.approx(2.0)
    only = {key: value for key, value in found.items() if not key.endswith("plus")}
    assert path_line(only, restricted=True)["sev"] == 3.0


def test_the_task_is_that_of_the_models_own_classes():
    rows, labels = numbers()
    names = np.where(labels == 1, "refuse", "grant")
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, names)
    task = Tuner.of(model, rows, names, TaskBuilder(restricted=("x1",))).task
    np.testing.assert_array_equal(task.labels, labels)
    np.testing.assert_allclose(task.reference, model[:-1].transform(rows[labels == 0]).mean(axis=0))
    assert task.allowed.tolist() == [True, False, True, True]
    assert task.restricted.tolist() == [1]


def test_a_changed_copy_leaves_the_original():
    rows, labels = numbers()
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, labels)
    other = LogisticRegression().fit(-rows, labels)
    changed = with_final(model, other)
    assert changed[-1] is other
    assert model[-1] is not other
    assert changed[0] is model[0]
