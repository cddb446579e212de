"""What training promises: the share of decisions is kept, bad luck is overcome, and hopeless cases are told at once."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from training.mortgages import mortgages
from training.tables import numbers

pytest.importorskip("torch", reason="training needs torch")

import sev
from sev.exceptions import TrainingError, TrainingWarning
from sev.training import _building, _estimators, _progress, _tuning
from sev.training._held_out import HeldOut
from sev.training._rate import shift_for_rate


@pytest.mark.parametrize("seed", [0, 3])
def test_rare_decisions_are_not_made_rarer(seed):
    rows, refused = mortgages(3000, seed)
    model = sev.SEVLogisticRegression(random_state=0).fit(rows, refused)
    fresh, _ = mortgages(20_000, seed=99)
    encoded = model.encoder_.transform(fresh)
    before, after = (one.predict(encoded).mean() for one in (model.base_estimator_, model.final_estimator_))
    assert before < 0.08
    assert abs(after - before) < 0.1 * before
    assert abs(model.rate_change_) < 0.1


def held(after):
    before = np.where(np.arange(100) < 20, 1.0, -1.0)
    return HeldOut(before, after, np.ones(100))


def test_a_share_that_is_not_kept_is_told_with_its_size(monkeypatch):
    rows, labels = numbers(150)
    monkeypatch.setattr(_estimators, "hold_out", lambda *_: held(np.where(np.arange(100) < 15, 1.0, -1.0)))
    # decisions that rest on restricted features may have to go, so the share is not held then, but told
    with pytest.warns(TrainingWarning, match=r"15\.0% of 100 held-out rows.* 20\.0%: .* change of -25%.*10%"):
        model = sev.SEVLogisticRegression(restricted=["x0"], max_iter=5, random_state=0).fit(rows, labels)
    assert model.rate_change_ == pytest.approx(-0.25)
    silent = sev.SEVLogisticRegression(restricted=["x0"], max_iter=5, random_state=0, max_rate_change=0.3)
    assert silent.fit(rows, labels).rate_change_ == pytest.approx(-0.25)


def test_the_shift_found_on_rows_held_out_reaches_the_model(monkeypatch):
    rows, labels = numbers(150)
    options = {"max_iter": 5, "random_state": 0}
    plain = sev.SEVLogisticRegression(max_rate_change=None, **options).fit(rows, labels)
    assert np.isnan(plain.rate_change_)
    after = np.linspace(0.5, -1.5, 100)  # 25 are positive
    monkeypatch.setattr(_estimators, "hold_out", lambda *_: held(after))
    moved = sev.SEVLogisticRegression(**options).fit(rows, labels)
    shift = shift_for_rate(after, 0.2, 0.05)
    assert shift < 0.0
    assert (after + shift >= 0.0).sum() == 21
    np.testing.assert_array_equal(moved.coef_, plain.coef_)
    np.testing.assert_allclose(moved.intercept_ - plain.intercept_, shift)


def test_equal_rows_are_decided_alike():
    logits = np.repeat([1.0, -1.0, -2.0], [2, 5, 3])
    weights = np.repeat([1.0, 1.0, 2.0], [2, 5, 3])
    assert shift_for_rate(logits, 0.7, 0.1) == pytest.approx(1.5)
    assert shift_for_rate(logits, 0.2, 0.1) == 0.0
    assert shift_for_rate(np.zeros(4), 0.5, 0.1) == 0.0
    assert (logits + shift_for_rate(logits, 7 / 13, 0.1, weights) >= 0).sum() == 7


class Unlucky(MLPClassifier):
    """A perceptron that predicts nobody positive with its first seeds."""

    fits = 0
    lucky_from = 2

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y)
        type(self).fits += 1
        if type(self).fits < type(self).lucky_from:
            self.intercepts_[-1] = self.intercepts_[-1] - 1000.0
        return self


@pytest.mark.parametrize("lucky_from", [1, 2, 5])
def test_a_perceptron_that_predicts_nobody_positive_is_fitted_again(lucky_from, monkeypatch):
    monkeypatch.setattr(Unlucky, "fits", 0)
    monkeypatch.setattr(Unlucky, "lucky_from", lucky_from)
    rows, labels = numbers(150)
    base = Unlucky((8,), max_iter=40, learning_rate_init=0.02, early_stopping=True, tol=1.0)
    model = sev.SEVMLPClassifier(base_estimator=base, max_iter=2, random_state=0, max_rate_change=None)
    model.fit(rows, labels)
    assert model.n_base_fits_ == lucky_from
    assert model.predict(rows).any()
    assert model.base_estimator_.early_stopping == (lucky_from < 5)  # the last attempt is without


def test_where_no_seed_helps_the_remedy_is_told(monkeypatch):
    monkeypatch.setattr(Unlucky, "lucky_from", 100)
    rows, labels = numbers(150)
    base = Unlucky((8,), max_iter=40, learning_rate_init=0.02, tol=1.0)
    with pytest.raises(TrainingError, match=r'predicts no row .* class_weight="balanced"'):
        sev.SEVMLPClassifier(base_estimator=base, max_iter=2, random_state=0).fit(rows, labels)


def test_penalties_share_one_task_in_each_split(monkeypatch):
    counts = {"tasks": 0, "proofs": 0, "trainers": 0}

    def counted(name, original):
        def call(*given, **named):
            counts[name] += 1
            return original(*given, **named)

        return call

    monkeypatch.setattr(_building.TaskBuilder, "build", counted("tasks", _building.TaskBuilder.build))
    monkeypatch.setattr(_building, "ColumnwiseEncoding", counted("proofs", _building.ColumnwiseEncoding))
    monkeypatch.setattr(_tuning, "trainer_for", counted("trainers", _tuning.trainer_for))
    rows, labels = numbers(200)
    model = LogisticRegression().fit(rows, labels)
    _, record = sev.optimize(model, rows, labels, penalties=[0.1, 1.0], max_accuracy_loss=1.0, max_rows=20)
    assert record.validation == "5-fold cross-validation"
    assert counts == {"tasks": 6, "proofs": 6, "trainers": 6}  # five splits, and the model itself


class Counted(LogisticRegression):
    """Counts its fits."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight=sample_weight)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda model: model.coef_.__imul__([[1.0, 0.0, 0.0, 0.0]]), r"its mean SEV is already 1\.000"),
        (lambda model: model.intercept_.__isub__(100.0), "predicts no row positive"),
    ],
)
def test_what_cannot_be_gained_is_told_before_anything_is_trained(change, reason, monkeypatch):
    rows, labels = numbers(200)
    model = Counted().fit(rows, labels)
    change(model)
    monkeypatch.setattr(Counted, "fits", 0)
    monkeypatch.setattr(_tuning, "trainer_for", None)
    with pytest.warns(TrainingWarning, match=reason):
        same, record = sev.optimize(model, rows, labels)
    assert same is model
    assert Counted.fits == 0
    assert record.chosen is None
    assert record.path.index.tolist() == [0.0]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("output", "show", "delay", "is_shown"),
    [
        (Terminal, None, 0.0, True),
        (Terminal, None, 3600.0, False),  # not before its time
        (io.StringIO, None, 0.0, False),  # not in a log
        (io.StringIO, True, 3600.0, True),
        (Terminal, False, 0.0, False),
    ],
)
def test_the_bar_comes_by_itself_where_it_is_seen_and_takes_long(output, show, delay, is_shown, monkeypatch):
    monkeypatch.setattr(sys, "stderr", output())
    monkeypatch.setattr(_progress, "DELAY", delay)
    rows, labels = numbers(150)
    options = {"max_iter": 3, "random_state": 0, "max_rate_change": None}
    sev.SEVLogisticRegression(verbose=show, **options).fit(rows, labels)
    assert ("training" in sys.stderr.getvalue()) == is_shown
