"""One formula for all families: its value from logits alone, and derivatives against finite differences of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from training.tables import numbers

torch = pytest.importorskip("torch", reason="training needs torch")

from sev import losses  # noqa: E402
from sev.training import _growing, _linear, _network, _trees  # noqa: E402
from sev.training._ensembles import ensemble_of  # noqa: E402
from sev.training._settings import settings_for  # noqa: E402
from sev.training._task import TrainingTask  # noqa: E402

N_ROWS = 120


def by_hand(logits, targets, plus, minus, reference, rate, weights, settings):
    """The loss from numbers alone; ``plus`` and ``minus`` are logits of the best neighbours of the positive rows."""
    score = expit(logits)
    fit = -(targets * np.log(score) + (1 - targets) * np.log1p(-score))
    mine = weights[logits >= 0]
    sev = 0.0
    if plus is not None:
        sev -= np.average(np.minimum(expit(plus), 0.5 + settings.margin), weights=mine)
    if minus is not None:
        sev += np.average(np.maximum(expit(minus), 0.5 - settings.margin), weights=mine)
    share = np.average(expit(10 * logits), weights=weights)
    guard = (max(1.0, 0.3 / rate) * (share - rate)) ** 2
    held = max(expit(reference), 0.5 - settings.reference_margin)
    return (
        np.average(fit, weights=weights)
        + settings.sev_penalty * sev
        + settings.reference_penalty * held
        + settings.rate_penalty * guard
    )


def problem(weighted, seed=0):
    rows, labels = numbers(N_ROWS, 3, seed)
    weights = np.random.default_rng(1).uniform(0.2, 2.0, N_ROWS) if weighted else None
    reference = rows[labels == 0].mean(axis=0) + 0.4
    return TrainingTask(
        rows,
        labels.astype(float),
        np.arange(3),
        reference,
        np.ones(3, dtype=bool),
        None if weights is None else weights / weights.mean(),
    )


def given(family, objective, **options):
    every = {"sev_penalty": 0.7, "reference_penalty": 2.0, "rate_penalty": 3.0, "margin": 0.2, **options}
    return settings_for(family, {"objective": objective, "schedule": "recipe", **every}, 0)


def best_neighbours(score, task, logits, plus):
    found = np.stack([score(task.neighbours(task.rows, j, plus=plus)) for j in task.present.tolist()])
    best = found.max(axis=0) if plus else found.min(axis=0)
    return best[logits >= 0]


LOSSES = {
    "linear": (LogisticRegression(), _linear.LinearTrainer, lambda t, s: _linear._LinearLoss(t, s)),
    "network": (
        MLPClassifier((6,), max_iter=300, learning_rate_init=0.02, tol=1e-3, random_state=1),
        _network.NetworkTrainer,
        lambda t, s: _network._NetworkLoss(t, _network.as_module(t._base), s),
    ),
    "trees": (
        GradientBoostingClassifier(n_estimators=8, random_state=0),
        _trees.TreeTrainer,
        lambda t, s: _trees._WeightLoss(t._make_shared_tables(s), s),
    ),
}


@pytest.mark.parametrize("family", LOSSES)
@pytest.mark.parametrize("objective", ["plus", "minus", "both"])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_family_has_the_same_loss(family, objective, weighted):
    estimator, trainer, make_loss = LOSSES[family]
    task, settings = problem(weighted), given(family, objective)
    base = estimator.fit(task.rows, task.labels)

    def score(rows):
        probability = base.predict_proba(rows)[:, 1]
        return np.log(probability / (1 - probability))

    logits = score(task.rows)
    weights = np.ones(N_ROWS) if task.weights is None else task.weights
    plus, minus = (
        best_neighbours(score, task, logits, side) if objective in (name, "both") else None
        for name, side in (("plus", True), ("minus", False))
    )
    rate = np.average(logits >= 0, weights=weights)
    reference = score(task.reference[None])[0]
    expected = by_hand(logits, expit(logits), plus, minus, reference, rate, weights, settings)
    found = make_loss(trainer(base, task), settings).step(None, True).total.item()
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_of_linear_training_are_those_of_the_formula(weighted):
    task, settings = problem(weighted), given("linear", "both")
    base = LogisticRegression().fit(task.rows, task.labels)
    loss = _linear._LinearLoss(_linear.LinearTrainer(base, task), settings)
    loss.step(None, True).total.backward()
    for place in range(3):
        values = []
        for step in (1e-6, -1e-6):
            with torch.no_grad():
                loss.weights[place] += step
            values.append(loss.step(None, True).total.item())
            with torch.no_grad():
                loss.weights[place] -= step
        assert loss.weights.grad[place].item() == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("objective", ["plus", "minus", "both"])
@pytest.mark.parametrize("weighted", [False, True])
def test_new_trees_follow_the_derivatives_of_the_formula(objective, weighted):
    task, settings = problem(weighted), given("trees", objective)
    base = GradientBoostingClassifier(n_estimators=8, random_state=0).fit(task.rows, task.labels)
    ensemble = ensemble_of(base)
    bins = _growing._Bins(task.rows, task.reference)
    rows = _growing._Scored(bins, ensemble, task.rows)
    reference = _growing._Scored(bins, ensemble, task.reference[None])
    chosen = np.arange(N_ROWS)
    sides = [_growing._Side(bins, ensemble, task, chosen, plus=p) for p in _growing.neighbour_kinds(objective)]
    weights = np.ones(N_ROWS) if task.weights is None else task.weights
    rate = float(np.average(rows.logits >= 0, weights=weights))
    targets = expit(rows.logits + 0.3)
    target = _growing._Target(targets, task.weights, (rows.logits >= 0).astype(float))
    pulls = _growing._pulls_of(settings.formula(rate), target, rows, reference, sides)
    best = {side.plus: side.neighbours.logits[side.best_neighbours(rows.logits)[0]] for side in sides}

    def value(logits=rows.logits, at=reference.logits[0], **moved):
        every = {"plus": best.get(True), "minus": best.get(False), **moved}
        return by_hand(logits, targets, every["plus"], every["minus"], at, rate, weights, settings)

    def slope(make):
        return N_ROWS * (value(**make(1e-6)) - value(**make(-1e-6))) / 2e-6

    for place in (0, 7, 30):
        step = np.eye(N_ROWS)[place]
        expected = slope(lambda h, step=step: {"logits": rows.logits + h * step})
        assert pulls[0].first[place] == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert pulls[1].first[0] == pytest.approx(slope(lambda h: {"at": reference.logits[0] + h}), rel=1e-4)
    for side, pull in zip(sides, pulls[2:], strict=True):
        name = "plus" if side.plus else "minus"
        for place in range(5):
            step = np.eye(len(pull.first))[place]
            expected = slope(lambda h, step=step, name=name, side=side: {name: best[side.plus] + h * step})
            assert pull.first[place] == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_a_tenth_of_a_small_share_costs_as_much_as_of_a_large_one():
    def cost(rate, share):
        logits = torch.full((1000,), -9.0)
        logits[: round(1000 * share)] = 9.0
        return losses.rate_guard(logits, rate).item()

    assert cost(0.05, 0.06) == pytest.approx(cost(0.3, 0.36), rel=1e-3)
    assert cost(0.5, 0.6) == pytest.approx(0.01, rel=1e-3)  # large shares count as they are


def test_rows_without_weight_leave_no_gradient():
    logits = torch.zeros(3, requires_grad=True)
    losses.all_opt_minus(logits[:, None], weights=torch.zeros(3)).backward()
    assert torch.equal(logits.grad, torch.zeros(3))
