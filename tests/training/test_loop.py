"""The loop that all families share, on a loss of one number; and what the schedules say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch")

from sev.training._linear import scaling_of  # noqa: E402
from sev.training._loop import minimise  # noqa: E402
from sev.training._settings import SCHEDULES, settings_for  # noqa: E402
from sev.training.losses import LossParts  # noqa: E402


def settings(family="linear", **options):
    return settings_for(family, {"objective": "minus", "schedule": "recipe", **options}, 0)


@pytest.mark.parametrize("schedule", ["recipe", "paper"])
def test_the_steps_are_those_of_adam(schedule):
    found = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    given = settings(schedule=schedule, max_iter=30)
    minimise([found], lambda *_: LossParts.of_fit((found - 1.0) ** 2), 10, given)
    expected = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    adam = torch.optim.Adam([expected], lr=0.1)
    for number in range(30):
        # the recipe's rate falls to zero along a cosine, the paper's does not
        adam.param_groups[0]["lr"] = 0.05 * (1.0 + np.cos(np.pi * number / 30)) if schedule == "recipe" else 0.1
        adam.zero_grad()
        ((expected - 1.0) ** 2).backward()
        adam.step()
    assert found.item() == pytest.approx(expected.item(), abs=1e-9)


def passes(losses, given):
    """How many passes are made over rows whose loss takes these values."""
    weight = torch.zeros((), requires_grad=True)
    values = iter(losses)
    return len(minimise([weight], lambda *_: LossParts.of_fit(0.0 * weight + next(values)), 10, given))


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        ([5.0, 4.0, 3.0, 3.0, 3.0, 1.0, 0.0], 5),  # two passes that did not fall
        ([5.0, 4.0, 3.95, 3.0, 2.95, 2.0, 1.0], 7),  # falls, if not in every pass
        ([5.0, 4.0, 6.0, 5.0, 1.0, 0.0, 0.0], 4),  # lower than the one before is not lower than the best
    ],
)
def test_early_stopping_counts_passes_since_the_best(losses, expected):
    given = settings(max_iter=7, early_stopping=True, n_iter_no_change=2, tol=0.1)
    assert passes(losses, given) == expected


def test_early_stopping_waits_for_the_warm_up_to_end():
    given = settings(schedule="paper", max_iter=20, early_stopping=True, n_iter_no_change=2, tol=0.1)
    assert given.schedule.warmup == 14
    assert passes([1.0] * 20, given) == 17


def test_sev_terms_begin_with_the_pass_after_the_warm_up():
    weight = torch.zeros((), requires_grad=True)
    seen = []
    minimise([weight], lambda _, sev: (seen.append(sev), LossParts.of_fit(weight))[1], 10, settings(schedule="paper"))
    assert seen == [False] * 70 + [True] * 30


def test_small_data_are_gone_through_more_often():
    schedule = SCHEDULES["recipe"]["network"]
    assert schedule.passes(100_000) == schedule.epochs == 8
    assert schedule.passes(700) == 17  # fifty steps of three a pass
    assert replace(schedule, min_steps=0).passes(700) == 8


@pytest.mark.parametrize("family", ["linear", "network", "trees"])
def test_the_papers_schedule_is_the_papers(family):
    found = settings(family, schedule="paper")
    schedule = found.schedule
    assert (schedule.epochs, schedule.warmup, schedule.batch_size, schedule.learning_rate) == (100, 70, 128, 0.1)
    assert not schedule.decay
    assert not schedule.distil
    assert schedule.from_base == (family == "trees")  # there is nothing random to start trees from
    assert (found.margin, found.rate_penalty, found.reference_penalty) == (0.0, 0.0, 10.0)


def test_the_guard_is_weaker_with_restricted_features():
    assert settings().rate_penalty == 10.0
    assert settings(restricted=["age"]).rate_penalty == 3.0
    assert settings(restricted=["age"], schedule="paper").rate_penalty == 0.0


def test_vol_opt_takes_smaller_and_more_steps():
    found = settings(objective="volume")
    assert (found.schedule.learning_rate, found.schedule.epochs, found.reference_margin) == (0.03, 600, 0.07)
    assert settings(objective="volume", schedule="paper").schedule == SCHEDULES["paper"]["linear"]


def test_columns_are_scaled_save_indicators_and_constants():
    rows = np.column_stack([np.linspace(5.0, 9.0, 200), np.arange(200) == 7, np.full(200, 3.0)])
    centre, spread = scaling_of(rows)
    assert (centre[0], spread[0]) == (pytest.approx(7.0), pytest.approx(rows[:, 0].std()))
    assert (centre[1], spread[1]) == (0.0, 1.0)  # by its own variance it would be scaled by fourteen
    assert np.isinf(spread[2])
