"""Every family's loss at the base model, against the definition written out row by row and feature by feature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

torch = pytest.importorskip("torch", reason="training needs torch")

from sev.training import _linear, _network, _trees  # noqa: E402
from sev.training._families import train  # noqa: E402
from sev.training._growing import candidates  # noqa: E402
from sev.training._settings import settings_for  # noqa: E402
from sev.training._task import TrainingTask  # noqa: E402

BASES = {
    "linear": LogisticRegression(),
    "network": MLPClassifier((8,), max_iter=300, learning_rate_init=0.02, tol=1e-3, random_state=1),
    "trees": GradientBoostingClassifier(n_estimators=8, random_state=0),
}
MODULES = {"linear": _linear, "network": _network, "trees": _trees}
#: None of them a default; so small a rate changes no weight.
OPTIONS = {
    "schedule": "recipe",
    "sev_penalty": 0.7,
    "reference_penalty": 2.0,
    "rate_penalty": 3.0,
    "margin": 0.3,
    "max_iter": 1,
    "learning_rate": 1e-30,
}
N_ROWS = 200


@pytest.fixture(params=BASES)
def family(request):
    return request.param


def problem(family, allowed=(True, True, True, True)):
    """A base model on numbers off their zero, two columns of one feature and an indicator; its rows and reference."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(N_ROWS, 5)) + 2.0
    rows[:, 4] = rng.random(N_ROWS) < 0.3
    labels = (rows @ [1.0, -0.6, 0.8, 0.7, 1.0] + 1.5 * rng.normal(size=N_ROWS) > 4.8).astype(np.float64)
    reference = rows[labels == 0].mean(axis=0)
    reference[4] = 0.0
    base = BASES[family].fit(rows, labels)
    while base.predict_proba(reference[None])[0, 1] < 0.46:  # near the threshold, where the reference term counts
        reference[[0, 3]] += 0.02
    return base, TrainingTask(rows, labels, np.array([0, 1, 1, 2, 3]), reference, np.array(allowed))


def by_hand(base, task, objective, *, margin=0.3, rows=slice(None)):
    """The terms of some rows of the recipe's loss, from the base model's probabilities."""

    def probability(some):
        return base.predict_proba(np.atleast_2d(some))[:, 1]

    every = probability(task.rows)
    found = every[rows]
    plus, minus = [], []
    for row in task.rows[rows][found >= 0.5]:
        reached, left = [], []
        for feature in np.flatnonzero(task.allowed):
            mine = task.column_feature == feature
            reached.append(probability(np.where(mine, row, task.reference))[0])
            left.append(probability(np.where(mine, task.reference, row))[0])
        plus.append(-min(max(reached), 0.5 + margin))
        minus.append(max(min(left), 0.5 - margin))
    wanted = {"plus": [plus], "minus": [minus], "both": [plus, minus]}[objective]
    return {
        "fit": -np.mean(found * np.log(found) + (1.0 - found) * np.log1p(-found)),
        "sev": sum(np.mean(one) for one in wanted),
        "reference": max(probability(task.reference)[0], 0.45),
        "rate": (expit(10.0 * logit(found)).mean() - (found >= 0.5).mean()) ** 2,
    }


def test_the_problem_tells_the_parts_apart(family):
    base, task = problem(family)
    terms = {name: by_hand(base, task, name) for name in ("plus", "minus")}
    limited = by_hand(base, problem(family, (False, True, True, True))[1], "minus")
    assert terms["plus"]["sev"] > -0.799
    assert 0.201 < terms["minus"]["sev"] < limited["sev"] - 0.003
    assert terms["plus"]["reference"] > 0.45
    assert terms["plus"]["rate"] > 1e-5


@pytest.mark.parametrize("objective", ["plus", "minus", "both"])
@pytest.mark.parametrize("allowed", [(True, True, True, True), (False, True, True, True)])
def test_the_first_loss_is_the_definition(family, objective, allowed):
    base, task = problem(family, allowed)
    trained = train(base, task, settings_for(family, {**OPTIONS, "objective": objective}, 0))
    expected = by_hand(base, task, objective)
    expected["total"] = expected["fit"] + 0.7 * expected["sev"] + 2.0 * expected["reference"] + 3.0 * expected["rate"]
    assert trained.history == [pytest.approx(expected, rel=2e-4, abs=2e-6)]


def test_batches_are_all_rows_in_the_order_of_the_seed(family):
    base, task = problem(family)
    options = {**OPTIONS, "objective": "minus", "batch_size": 120}
    trained = train(base, task, settings_for(family, options, 11))
    order = torch.randperm(N_ROWS, generator=torch.Generator().manual_seed(11)).numpy()
    parts = [by_hand(base, task, "minus", rows=some) for some in (order[:120], order[120:])]
    expected = {name: 0.6 * parts[0][name] + 0.4 * parts[1][name] for name in parts[0]}
    found = {name: trained.history[0][name] for name in expected}
    assert found == pytest.approx(expected, rel=2e-4, abs=2e-6)


def test_a_model_that_is_not_changed_comes_back_as_it_was(family):
    base, task = problem(family)
    tuned = train(base, task, settings_for(family, {**OPTIONS, "objective": "minus"}, 0)).estimator
    assert tuned is not base
    np.testing.assert_allclose(tuned.predict_proba(task.rows), base.predict_proba(task.rows), atol=1e-6)


def test_the_bias_reaches_the_model(family, monkeypatch):
    def minimise(parameters, *_):
        with torch.no_grad():
            list(parameters)[-1].add_(0.3)
        return []

    monkeypatch.setattr(MODULES[family], "minimise", minimise)
    base, task = problem(family)
    options = {**OPTIONS, "objective": "minus", "rate_penalty": 0.0}
    tuned = train(base, task, settings_for(family, options, 0)).estimator
    before, after = (logit(one.predict_proba(task.rows)[:, 1]) for one in (base, tuned))
    np.testing.assert_allclose(after - before, 0.3, atol=1e-4)


@pytest.mark.parametrize("moved", [1.5, -1.5])
def test_the_share_of_decisions_is_that_of_the_base_whatever_the_training_did(family, moved, monkeypatch):
    def minimise(parameters, *_):
        with torch.no_grad():
            list(parameters)[-1].add_(moved)
        return []

    monkeypatch.setattr(MODULES[family], "minimise", minimise)
    base, task = problem(family)
    task.reference[:] = task.rows[base.predict_proba(task.rows)[:, 1].argmin()]  # far from the threshold
    options = {**OPTIONS, "objective": "minus", "max_rate_change": 0.04}
    held, free = (
        train(base, task, settings_for(family, {**options, "rate_penalty": penalty}, 0)).estimator
        for penalty in (3.0, 0.0)
    )
    rate, kept, moved_rate = ((one.predict_proba(task.rows)[:, 1] >= 0.5).mean() for one in (base, held, free))
    assert abs(moved_rate - rate) > 0.03
    assert kept == pytest.approx(rate, abs=0.02 * rate)


def test_labels_rather_than_the_base_model_in_the_papers_schedule():
    base, task = problem("trees")
    trained = train(base, task, settings_for("trees", {**OPTIONS, "schedule": "paper", "objective": "minus"}, 0))
    score = base.predict_proba(task.rows)[:, 1]
    cross_entropy = -np.log(np.where(task.labels == 1.0, score, 1.0 - score)).mean()
    assert trained.history[0]["fit"] == pytest.approx(cross_entropy, rel=1e-4)


@pytest.mark.parametrize("family", ["linear", "network"])
def test_random_weights_of_the_seed_in_the_papers_schedule(family):
    base, task = problem(family)
    options = {**OPTIONS, "schedule": "paper", "objective": "minus"}
    scores = [
        train(base, task, settings_for(family, options, seed)).estimator.predict_proba(task.rows)[:, 1]
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.allclose(scores[0], scores[2], atol=1e-2)
    assert not np.allclose(scores[0], base.predict_proba(task.rows)[:, 1], atol=1e-2)


def test_vol_opt_begins_with_the_reference_near_the_threshold():
    base, task = problem("linear")
    trained = train(base, task, settings_for("linear", {**OPTIONS, "objective": "volume"}, 0))
    score = trained.estimator.predict_proba(task.reference[None])[0, 1]
    assert score == pytest.approx(0.43)
    # the sides are measured in standard deviations, save that of the indicator
    sides = abs(logit(0.43)) / np.abs(base.coef_[0] * [*task.rows[:, :4].std(axis=0), 1.0])
    assert trained.history[0]["sev"] == pytest.approx(np.log(sides).mean())
    assert trained.history[0]["reference"] == pytest.approx(0.43)


def test_vol_opt_counts_the_sides_of_columns_that_vary():
    base, task = problem("linear")
    task.rows[:, 1] = task.reference[1] = 2.0
    trained = train(base, task, settings_for("linear", {**OPTIONS, "objective": "volume"}, 0))
    sides = abs(logit(0.43)) / np.abs(base.coef_[0] * [*task.rows[:, :4].std(axis=0), 1.0])[[0, 2, 3, 4]]
    assert trained.history[0]["sev"] == pytest.approx(np.log(sides).mean())


def test_too_many_rows_for_the_trees_are_sampled(monkeypatch):
    base, task = problem("trees")
    monkeypatch.setattr(_trees, "_MAX_OUTPUTS", 40 * 4 * 8 + 1)  # 40 rows, 4 features, 8 trees
    trained = train(base, task, settings_for("trees", {**OPTIONS, "objective": "minus"}, 5))
    margins = base.decision_function(task.rows)
    sample = candidates(margins, 40, 5)
    assert len(set(sample.tolist())) == 40
    assert (margins[sample] >= -0.5).all()
    expected = by_hand(base, task, "minus", rows=sample)["sev"]
    assert trained.history[0]["sev"] == pytest.approx(expected, rel=1e-4)


def test_perceptrons_look_at_all_neighbours_in_every_second_pass(monkeypatch):
    base, task = problem("network")
    scored = []

    class Counting(torch.nn.Module):
        def forward(self, rows):
            scored[-1] += len(rows)
            return rows

    as_module = _network.as_module
    monkeypatch.setattr(_network, "as_module", lambda *given: torch.nn.Sequential(Counting(), *as_module(*given)))
    scored.append(0)
    original = _network.SEVPenalty.see
    monkeypatch.setattr(_network.SEVPenalty, "see", lambda *given: (original(*given), scored.append(0)))
    train(base, task, settings_for("network", {**OPTIONS, "objective": "minus", "max_iter": 4}, 0))
    first, second, third, fourth, _ = scored
    positives = int((base.predict_proba(task.rows)[:, 1] >= 0.5).sum())
    # in the first pass also the base model's targets; without a sweep one neighbour of each positive row, twice
    assert second == fourth <= N_ROWS + 1 + 2 * positives
    assert third > second
    assert first >= third + N_ROWS
