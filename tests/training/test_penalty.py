"""The weight of the SEV term: strong near the base model, weak far from it, and fixed when a number is given."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch")

from training.tables import numbers  # noqa: E402

import sev  # noqa: E402
from sev.training._penalty import SEVPenalty  # noqa: E402
from sev.training._settings import settings_for  # noqa: E402


def settings(family="linear", **options):
    return settings_for(family, {"objective": "minus", "schedule": "recipe", **options}, 0)


def batch(drift, n_rows):
    """Targets of one half, and a cross-entropy that is ``drift`` above their entropy."""
    targets = torch.full((n_rows,), 0.5, dtype=torch.float64)
    return torch.tensor(np.log(2.0) + drift, dtype=torch.float64), targets


def test_the_weight_falls_in_proportion_to_the_drift():
    penalty = SEVPenalty(settings(), n_rows=100)
    seen = [penalty.weight]
    for drift in (0.0075, 0.015, 0.1, 0.0):
        penalty.see(*batch(drift, 100))
        seen.append(penalty.weight)
    assert seen == pytest.approx([3.0, 2.15, 1.3, 1.3, 3.0])


def test_the_drift_of_small_batches_is_averaged():
    penalty = SEVPenalty(settings(), n_rows=1000)
    penalty.see(*batch(0.015, 50))  # half of a tenth of the rows
    assert penalty.weight == pytest.approx(1.3 + 1.7 / 2)


@pytest.mark.parametrize(
    ("family", "options", "expected"),
    [
        ("linear", {}, (1.3, 3.0, 0.015)),
        ("linear", {"objective": "plus"}, (1.0, 2.0, 0.008)),
        ("linear", {"objective": "volume"}, (0.03, 0.03, 0.0)),
        ("linear", {"restricted": ["age"]}, (1.3, 3.0, 0.015)),
        ("trees", {}, (1.2, 2.0, 0.015)),
        ("network", {"objective": "both"}, (1.2, 2.0, 0.015)),
        ("network", {"objective": "plus"}, (1.0, 2.0, 0.008)),
        ("network", {"sev_penalty": 0.5}, (0.5, 0.5, 0.0)),
    ],
)
def test_the_weights_where_none_is_given(family, options, expected):
    found = settings(family, **options)
    assert (found.sev_penalty, found.max_sev_penalty, found.drift) == expected


@pytest.mark.parametrize("family", ["linear", "network", "trees"])
def test_the_papers_schedule_has_one_fixed_weight(family):
    found = settings(family, schedule="paper")
    assert (found.sev_penalty, found.max_sev_penalty) == (1.0, 1.0)
    assert settings(family, schedule="paper", sev_penalty=0.0).max_sev_penalty == 0.0


def test_a_given_weight_is_the_same_in_every_pass():
    rows, labels = numbers(300)
    model = sev.SEVLogisticRegression(sev_penalty=0.7, max_iter=20, random_state=0).fit(rows, labels)
    last = model.history_[-1]
    rest = last["fit"] + 10.0 * (last["reference"] + last["rate"])
    assert (last["total"] - rest) / last["sev"] == pytest.approx(0.7)


@pytest.mark.parametrize(
    "estimator",
    [sev.SEVLogisticRegression, sev.SEVMLPClassifier, sev.SEVGradientBoostingClassifier],
)
def test_every_family_starts_with_the_strongest_weight_and_lets_it_fall(estimator):
    rows, labels = numbers(300)
    model = estimator(max_iter=5, random_state=0).fit(rows, labels)
    weights = []
    for terms in model.history_:
        rest = terms["fit"] + 10.0 * (terms["reference"] + terms["rate"])
        weights.append((terms["total"] - rest) / terms["sev"])
    strongest = settings({sev.SEVLogisticRegression: "linear"}.get(estimator, "trees")).max_sev_penalty
    assert 0.8 * strongest < weights[0] <= strongest * 1.0001
    assert min(weights) < 0.99 * strongest
