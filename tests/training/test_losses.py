"""Values worked out by hand, gradients by finite differences, and the corrections to the paper's formulas."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch", reason="the losses need torch")

from sev import losses  # noqa: E402
from sev.exceptions import InputError  # noqa: E402


def logit(values):
    return torch.logit(torch.tensor(values, dtype=torch.float64))


def linear(weights, bias):
    """Scores of a linear model."""
    return lambda rows: rows @ torch.as_tensor(weights, dtype=rows.dtype) + bias


@pytest.mark.parametrize(("margin", "expected"), [(0.0, -(0.4 + 0.5) / 2), (0.05, -(0.4 + 0.55) / 2)])
def test_all_opt_plus_is_the_clamped_best_neighbour(margin, expected):
    value = losses.all_opt_plus(logit([[0.3, 0.4], [0.2, 0.9]]), margin=margin)
    assert value.item() == pytest.approx(expected)


@pytest.mark.parametrize(("margin", "expected"), [(0.0, (0.6 + 0.5) / 2), (0.05, (0.6 + 0.45) / 2)])
def test_all_opt_minus_is_the_clamped_best_neighbour(margin, expected):
    value = losses.all_opt_minus(logit([[0.6, 0.8], [0.2, 0.9]]), margin=margin)
    assert value.item() == pytest.approx(expected)


def test_thresholds_other_than_one_half():
    assert losses.all_opt_plus(logit([[0.25, 0.9]]), threshold=0.3).item() == pytest.approx(-0.3)
    assert losses.all_opt_minus(logit([[0.25, 0.9]]), threshold=0.3).item() == pytest.approx(0.3)
    assert losses.rate_guard(logit([0.29, 0.31]), 0.5, threshold=0.3, sharpness=1e6).item() == pytest.approx(0.0)


def test_vol_opt_is_the_mean_log_side():
    value = losses.vol_opt(torch.tensor([2.0, -0.5], dtype=torch.float64), torch.tensor(-3.0, dtype=torch.float64))
    assert value.item() == pytest.approx((math.log(1.5) + math.log(6.0)) / 2)


def test_vol_opt_clamps_from_below():
    # with the printed minimum, sides longer than epsilon would all count as epsilon
    weights = torch.tensor([1.0, 1.0], dtype=torch.float64)
    tiny = losses.vol_opt(weights, torch.tensor(0.0, dtype=torch.float64), epsilon=1e-3)
    assert tiny.item() == pytest.approx(math.log(1e-3))
    long = losses.vol_opt(weights, torch.tensor(-50.0, dtype=torch.float64), epsilon=1e-3)
    assert long.item() == pytest.approx(math.log(50.0))


def test_vol_opt_of_a_zero_coefficient_is_finite():
    value = losses.vol_opt(torch.tensor([0.0, 1.0]), torch.tensor(-1.0))
    assert torch.isfinite(value)


@pytest.mark.parametrize(("probability", "expected"), [(0.2, 0.45), (0.45, 0.45), (0.6, 0.6)])
def test_reference_term(probability, expected):
    assert losses.reference_term(logit(probability)).item() == pytest.approx(expected)


def test_rate_guard_is_the_squared_distance_of_shares():
    assert losses.rate_guard(torch.tensor([-9.0, -9.0, -9.0, 9.0]), 0.5).item() == pytest.approx(0.0625)


def test_modules_find_the_one_step_neighbours():
    # f = x0 + 2 x1 - 2.5 over the reference (0, 0); positive rows: (1, 1) with logit 0.5 and (4, 0) with 1.5
    scores = linear([1.0, 2.0], -2.5)
    rows = torch.tensor([[1.0, 1.0], [4.0, 0.0], [0.0, 0.0]], dtype=torch.float64)
    reference = torch.zeros(2, dtype=torch.float64)
    sigmoid = lambda value: 1.0 / (1.0 + math.exp(-value))  # noqa: E731
    plus = losses.AllOptPlus(reference, margin=0.0)(scores, rows)
    # of (1, 0) and (0, 1) the better is -0.5; (4, 0) is positive by itself
    assert plus.item() == pytest.approx(-(sigmoid(-0.5) + 0.5) / 2)
    minus = losses.AllOptMinus(reference, margin=0.0)(scores, rows)
    # (1, 0) has -1.5 and (0, 0) has -2.5, both negative
    assert minus.item() == pytest.approx(0.5)


def test_columns_of_one_feature_move_together():
    scores = linear([1.0, 1.0, 1.0], -1.5)
    rows = torch.tensor([[1.0, 1.0, 0.0]], dtype=torch.float64)
    apart = losses.AllOptPlus(torch.zeros(3, dtype=torch.float64), margin=0.0)(scores, rows)
    together = losses.AllOptPlus(torch.zeros(3, dtype=torch.float64), [0, 0, 1], margin=0.0)(scores, rows)
    assert together.item() == pytest.approx(-0.5)
    assert apart.item() > -0.5


def test_restricted_features_are_left_out_of_the_minimum():
    scores = linear([5.0, 1.0], -2.0)
    rows = torch.tensor([[1.0, 1.0]], dtype=torch.float64)
    reference = torch.zeros(2, dtype=torch.float64)
    free = losses.AllOptMinus(reference, margin=0.0)(scores, rows)
    assert free.item() == pytest.approx(0.5)  # without feature 0 the logit is -1
    # only feature 1 may be changed: the logit stays at 3
    bound = losses.AllOptMinus(reference, restricted=[0], margin=0.0)(scores, rows)
    assert bound.item() == pytest.approx(1.0 / (1.0 + math.exp(-3.0)))


@pytest.mark.parametrize("kind", [losses.AllOptPlus, losses.AllOptMinus])
def test_no_positive_row_means_zero_with_a_gradient(kind):
    model = torch.nn.Linear(2, 1)
    torch.nn.init.constant_(model.bias, -100.0)
    value = kind([0.0, 0.0])(lambda rows: model(rows)[:, 0], torch.zeros(3, 2))
    assert value.item() == 0.0
    total = value + model.bias.sum()
    total.backward()


def network(seed=0):
    generator = torch.Generator().manual_seed(seed)
    first = torch.randn(3, 6, generator=generator, dtype=torch.float64)
    second = torch.randn(6, generator=generator, dtype=torch.float64)
    return first, second


@pytest.mark.parametrize("objective", ["plus", "minus", "both"])
def test_gradients_equal_finite_differences(objective):
    rows = torch.randn(12, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    targets = torch.rand(12, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    reference = torch.tensor([0.1, -0.2, 0.3], dtype=torch.float64)
    loss = losses.SEVLoss(reference, [0, 1, 1], objective=objective, rate=0.3)
    assert (torch.tanh(rows @ network()[0]) @ network()[1] >= 0).any()

    def total(first, second):
        return loss(lambda x: torch.tanh(x @ first) @ second, rows, targets).total

    first, second = network()
    assert torch.autograd.gradcheck(total, (first.requires_grad_(), second.requires_grad_()))


def test_gradient_of_vol_opt_equals_finite_differences():
    weights = torch.tensor([1.5, -0.7, 0.2], dtype=torch.float64, requires_grad=True)
    bias = torch.tensor(-2.0, dtype=torch.float64, requires_grad=True)
    term = losses.VolOpt(torch.tensor([0.3, 0.1, -0.2], dtype=torch.float64))
    assert torch.autograd.gradcheck(term, (weights, bias))


@pytest.mark.parametrize("kind", [losses.AllOptPlus, losses.AllOptMinus])
def test_hints_change_neither_value_nor_gradient(kind):
    rows = torch.randn(200, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    weights = torch.randn(5, generator=torch.Generator().manual_seed(1), dtype=torch.float64, requires_grad=True)
    term = kind(torch.zeros(5, dtype=torch.float64))
    plain = term(linear_of(weights), rows)
    hint = torch.full((200,), -1)
    for _ in range(2):  # the second time with hints from the first
        hinted = term(linear_of(weights), rows, hint=hint)
        assert hinted.item() == pytest.approx(plain.item(), abs=1e-12)
        a = torch.autograd.grad(plain, weights, retain_graph=True)[0]
        b = torch.autograd.grad(hinted, weights)[0]
        assert torch.allclose(a, b, atol=1e-12)
    assert (hint >= 0).any()


def linear_of(weights):
    return lambda rows: rows @ weights - 0.3


def test_without_a_sweep_the_loss_is_bounded_from_above():
    rows = torch.randn(100, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    weights = torch.ones(4, dtype=torch.float64)
    term = losses.AllOptMinus(torch.zeros(4, dtype=torch.float64))
    stale = torch.zeros(100, dtype=torch.int64)
    bound = term(linear_of(weights), rows, hint=stale, sweep=False)
    assert bound > term(linear_of(weights), rows)
    # feature 0 is kept to, whatever the others would do
    positive = rows[linear_of(weights)(rows) >= 0.0]
    kept = linear_of(weights)(positive) - positive[:, 0]
    assert bound.item() == pytest.approx(torch.sigmoid(kept).clamp(min=0.45).mean().item())


@pytest.mark.parametrize("kind", [losses.AllOptPlus, losses.AllOptMinus])
def test_rows_are_scored_in_parts_when_they_are_many(kind, monkeypatch):
    rows = torch.randn(60, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    weights = torch.tensor([1.0, -0.5, 0.3, 0.8], dtype=torch.float64)
    term = kind(torch.zeros(4, dtype=torch.float64))
    at_once = term(linear_of(weights), rows)
    monkeypatch.setattr("sev.training.losses._one_step._ELEMENTS_AT_ONCE", 50)  # three rows
    assert term(linear_of(weights), rows).item() == at_once.item()


def test_both_is_the_sum_of_the_two():
    rows = torch.randn(40, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    targets = torch.full((40,), 0.5, dtype=torch.float64)
    scores = linear([1.0, 0.7, 0.4], -0.3)
    options = {"column_feature": [0, 1, 1], "threshold": 0.4, "margin": 0.2, "rate": 0.3}
    plus, minus, both = (
        losses.SEVLoss(torch.zeros(3, dtype=torch.float64), objective=name, **options)(scores, rows, targets)
        for name in ("plus", "minus", "both")
    )
    assert both.sev.item() == pytest.approx(plus.sev.item() + minus.sev.item())
    assert plus.sev.item() < 0.0 < minus.sev.item()
    # every term knows the threshold
    alone = losses.AllOptMinus(torch.zeros(3, dtype=torch.float64), [0, 1, 1], threshold=0.4, margin=0.2)
    assert minus.sev.item() == pytest.approx(alone(scores, rows).item())
    assert minus.rate.item() == pytest.approx(losses.rate_guard(scores(rows), 0.3, threshold=0.4).item())
    assert minus.reference.item() == pytest.approx(1.0 / (1.0 + math.exp(0.3)))


def test_the_sum_is_the_weighted_sum_of_its_parts():
    rows = torch.randn(20, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    targets = (rows.sum(dim=1) > 0).double()
    loss = losses.SEVLoss(
        torch.zeros(3, dtype=torch.float64), rate=0.2, sev_penalty=2.0, reference_penalty=3.0, rate_penalty=5.0
    )
    parts = loss(linear([1.0, 1.0, 1.0], 0.0), rows, targets)
    expected = parts.fit + 2.0 * parts.sev + 3.0 * parts.reference + 5.0 * parts.rate
    assert parts.total.item() == pytest.approx(expected.item())


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[[0.0]]],), {}, "must be one row"),
        (([0.0, 0.0], [0]), {}, "one feature number for each column"),
        (([0.0, 0.0],), {"restricted": [5]}, "column_feature has the features"),
        (([0.0, 0.0],), {"restricted": [0, 1]}, "Every feature is restricted"),
    ],
)
def test_wrong_use_is_refused(arguments, options, message):
    with pytest.raises(InputError, match=message):
        losses.AllOptMinus(*arguments, **options)


def test_an_unknown_objective_is_refused():
    with pytest.raises(InputError, match="objective="):
        losses.SEVLoss([0.0], objective="volume")


def test_hints_hold_the_number_of_the_best_feature():
    # of x0 (not allowed), x1 and x2, changing x2 lowers the score of the first row most, x1 that of the second
    scores = linear([5.0, 1.0, 1.0], -0.5)
    rows = torch.tensor([[1.0, 1.0, 3.0], [1.0, 2.0, 1.0], [-9.0, 0.0, 0.0]], dtype=torch.float64)
    hint = torch.full((3,), -1)
    losses.AllOptMinus(torch.zeros(3, dtype=torch.float64), restricted=[0])(scores, rows, hint=hint)
    assert hint.tolist() == [2, 1, -1]


@pytest.mark.parametrize("kind", [losses.AllOptPlus, losses.AllOptMinus])
def test_which_rows_are_positive_follows_the_threshold(kind):
    # at 0.3 a row with a score of 0.4 is positive; of it alone the reference, at 0.1, has to be left or reached
    rows = torch.tensor([[1.0], [0.0]], dtype=torch.float64)
    scores = lambda rows: torch.where(rows[:, 0] > 0.5, logit(0.4), logit(0.1))  # noqa: E731
    term = kind(torch.zeros(1, dtype=torch.float64), threshold=0.3, margin=0.0)
    expected = -0.3 if kind is losses.AllOptPlus else 0.3
    assert term(scores, rows).item() == pytest.approx(expected)


def test_the_reference_has_a_margin_of_its_own():
    loss = losses.SEVLoss(torch.zeros(2, dtype=torch.float64), margin=0.01, reference_margin=0.2)
    rows = torch.ones(3, 2, dtype=torch.float64)
    parts = loss(linear([1.0, 1.0], -0.2), rows, torch.ones(3, dtype=torch.float64))
    assert parts.reference.item() == pytest.approx(torch.sigmoid(torch.tensor(-0.2)).item())  # 0.45, above 0.3


def test_vol_opt_of_some_columns():
    term = losses.VolOpt(torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64), columns=[0, 2])
    value = term(torch.tensor([2.0, 9.0, -4.0], dtype=torch.float64), torch.tensor([-3.0], dtype=torch.float64))
    assert value.item() == pytest.approx((math.log(1 / 2) + math.log(1 / 4)) / 2)  # the reference has 2 - 3
