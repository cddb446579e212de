"""Training against several references: each row has its own, as its explanation will."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from training.tables import numbers, raw
from training.test_formula import LOSSES, N_ROWS, by_hand, given

torch = pytest.importorskip("torch", reason="training needs torch")

import sev  # noqa: E402
from sev import losses  # noqa: E402
from sev.exceptions import InputError, TrainingWarning  # noqa: E402
from sev.training import _growing  # noqa: E402
from sev.training._ensembles import ensemble_of  # noqa: E402
from sev.training._settings import SCHEDULES  # noqa: E402
from sev.training._task import TrainingTask  # noqa: E402

CLUSTERS = sev.references.Clusters(3)


def linear(weights, bias):
    return lambda rows: rows @ torch.as_tensor(weights, dtype=rows.dtype) + bias


def test_each_row_is_compared_with_its_own_reference():
    # f = x0 + 2 x1 - 2.5; (1, 1) has logit 0.5 and (4, 0) has 1.5
    scores = linear([1.0, 2.0], -2.5)
    rows = torch.tensor([[1.0, 1.0], [4.0, 0.0], [0.0, 0.0]], dtype=torch.float64)
    references = torch.tensor([[0.0, 0.0], [1.0, 0.7]], dtype=torch.float64)
    term = losses.AllOptMinus(references, margin=0.0)
    # (1, 1): x1 to 0.7 gives -0.1, clamped to 0.5; (4, 0): x0 to 0 gives -2.5, clamped
    assert term(scores, rows, assigned=torch.tensor([1, 0, 0])).item() == pytest.approx(0.5)
    # both against (1, 0.7): (1, 0.7) is -0.1 and negative; (4, 0): x0 to 1 gives -1.5
    plus = losses.AllOptPlus(references, margin=0.0)(scores, rows, assigned=torch.tensor([1, 1, 0]))
    # reference -0.1 with x1 of the first row is 0.5 and with x0 of the second is 2.9: both past the threshold
    assert plus.item() == pytest.approx(-0.5)
    other = losses.AllOptPlus(references, margin=0.0)(scores, rows, assigned=torch.tensor([0, 1, 0]))
    # the first now has (1, 0) and (0, 1), the better one at -0.5
    assert other.item() == pytest.approx(-(1.0 / (1.0 + math.exp(0.5)) + 0.5) / 2)


def test_with_several_candidates_the_best_over_all_counts():
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(40, 3, generator=generator, dtype=torch.float64)
    references = torch.randn(4, 3, generator=generator, dtype=torch.float64) - 0.5
    assigned = torch.randint(0, 4, (40, 2), generator=generator)
    scores = linear([1.0, -2.0, 0.5], 0.3)
    sigmoid = torch.sigmoid
    for kind, plus in ((losses.AllOptPlus, True), (losses.AllOptMinus, False)):
        expected = []
        for row, numbers_ in zip(rows, assigned, strict=True):
            if scores(row) < 0:
                continue
            found = []
            for number in numbers_:
                for feature in (0, 2):
                    changed = (references[number] if plus else row).clone()
                    changed[feature] = (row if plus else references[number])[feature]
                    found.append(scores(changed))
            best = sigmoid(torch.stack(found)).max() if plus else sigmoid(torch.stack(found)).min()
            expected.append(best.clamp(max=0.55) if plus else best.clamp(min=0.45))
        sign = -1 if plus else 1
        term = kind(references, restricted=[1])
        value = term(scores, rows, assigned=assigned)
        assert value.item() == pytest.approx(sign * torch.stack(expected).mean().item(), abs=1e-12)
        hint = torch.full((40,), -1)
        for _ in range(2):
            hinted = term(scores, rows, assigned=assigned, hint=hint)
            assert hinted.item() == pytest.approx(value.item(), abs=1e-12)


def test_the_reference_term_counts_references_by_their_use():
    term = losses.ReferenceTerm([[0.0], [1.0]], margin=0.05)
    scores = linear([2.0], -1.0)  # probabilities 0.27 and 0.73
    high = 1.0 / (1.0 + math.exp(-1.0))
    assert term(scores).item() == pytest.approx((0.45 + high) / 2)
    assert term(scores, torch.tensor([0, 0, 0, 1])).item() == pytest.approx((3 * 0.45 + high) / 4)


def test_one_reference_in_a_table_is_one_reference():
    rows = torch.randn(20, 3, generator=torch.Generator().manual_seed(1))
    model = torch.nn.Linear(3, 1)
    values = [
        losses.SEVLoss(reference, rate=0.4)(lambda some: model(some)[:, 0], rows, torch.rand(20) * 0 + 0.5).total
        for reference in ([0.0, 0.1, 0.2], [[0.0, 0.1, 0.2]])
    ]
    assert values[0].item() == values[1].item()


@pytest.mark.parametrize(
    ("reference", "assigned", "message"),
    [
        ([[0.0], [1.0]], None, "pass assigned="),
        ([[0.0], [1.0]], torch.tensor([0]), "same length"),
        ([[0.0], [1.0]], torch.tensor([0, 2]), "indices of the references, from 0 to 1"),
        ([0.0], torch.tensor([0, 0]), "leave it out"),
        ([[[0.0]]], None, "must be one row"),
    ],
)
def test_wrong_references_are_refused(reference, assigned, message):
    with pytest.raises(InputError, match=message):
        losses.AllOptMinus(reference)(linear([1.0], 0.0), torch.ones(2, 1), assigned=assigned)


def problem(weighted, n_candidates):
    """Four references, of which each row has one or two."""
    rng = np.random.default_rng(3)
    rows, labels = numbers(N_ROWS, 3)
    weights = rng.uniform(0.2, 2.0, N_ROWS) if weighted else None
    return TrainingTask(
        rows,
        labels.astype(float),
        np.arange(3),
        rows[labels == 0][:4] + 0.3,
        np.ones(3, dtype=bool),
        None if weights is None else weights / weights.mean(),
        assigned=rng.integers(0, 4, (N_ROWS, n_candidates)),
    )


@pytest.mark.parametrize("family", LOSSES)
@pytest.mark.parametrize("objective", ["plus", "minus", "both"])
@pytest.mark.parametrize(("weighted", "n_candidates"), [(False, 1), (True, 2)])
def test_every_family_has_the_loss_of_the_definition(family, objective, weighted, n_candidates):
    estimator, trainer, make_loss = LOSSES[family]
    task, settings = problem(weighted, n_candidates), given(family, objective)
    base = estimator.fit(task.rows, task.labels)

    def score(rows):
        probability = base.predict_proba(rows)[:, 1]
        return np.log(probability / (1 - probability))

    def best(plus):
        """The best over features and candidates, row by row as the definition has it."""
        found = []
        for row, mine in zip(task.rows, task.assigned, strict=True):
            changed = []
            for number in mine:
                for feature in range(3):
                    start, other = (task.reference[number], row) if plus else (row, task.reference[number])
                    one = start.copy()
                    one[feature] = other[feature]
                    changed.append(one)
            logits_ = score(np.array(changed))
            found.append(logits_.max() if plus else logits_.min())
        return np.array(found)[logits >= 0]

    logits = score(task.rows)
    weights = np.ones(N_ROWS) if task.weights is None else task.weights
    plus = best(True) if objective in ("plus", "both") else None
    minus = best(False) if objective in ("minus", "both") else None
    rate = np.average(logits >= 0, weights=weights)
    held = np.maximum(expit(score(task.reference)), 0.5 - settings.reference_margin)[task.assigned].mean(axis=1)
    mean_held = np.average(held, weights=weights)
    # by_hand clamps a logit: hand it the one whose probability is the mean
    expected = by_hand(logits, expit(logits), plus, minus, np.log(mean_held / (1 - mean_held)), rate, weights, settings)
    loss = make_loss(trainer(base, task), settings)
    assert loss.step(None, True).total.item() == pytest.approx(expected, abs=2e-5)
    some = torch.arange(0, N_ROWS, 3)
    assert np.isfinite(loss.step(some, True).total.item())


def test_new_trees_stay_away_from_every_reference():
    column = np.linspace(0.0, 1.0, 1001)[:, None]
    apart = _growing._Bins(column, np.array([[0.25], [0.75]]))._edges[0]
    assert len(apart) > 0
    assert (np.abs(apart[:, None] - [0.25, 0.75]) > 0.09).all()
    # real rows in their hundreds lie among the others: nothing to cut out
    assert len(_growing._Bins(column, column)._edges[0]) == _growing._N_BINS


def test_growing_takes_several_references():
    task = problem(False, 2)
    base = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(task.rows, task.labels)
    settings = replace(given("trees", "both"), grow=3)
    assert len(_growing.grow_trees(ensemble_of(base), task, settings)) == 3


@pytest.fixture
def _short_schedules(monkeypatch):
    short = {family: replace(one, epochs=max(10, one.epochs // 4)) for family, one in SCHEDULES["recipe"].items()}
    monkeypatch.setitem(SCHEDULES, "recipe", short)


@pytest.mark.usefixtures("_short_schedules")
@pytest.mark.parametrize(
    "reference",
    [CLUSTERS, sev.references.Nearest(), sev.references.Nearest(2), sev.references.By("home"), "best:clusters:2"],
    ids=str,
)
@pytest.mark.parametrize(
    "estimator", [sev.SEVLogisticRegression, sev.SEVMLPClassifier, sev.SEVGradientBoostingClassifier]
)
def test_estimators_take_every_kind_of_reference(estimator, reference):
    rows, labels = raw(300)
    rows = rows.assign(income=rows["income"].fillna(20.0))
    options = {}
    if estimator is sev.SEVGradientBoostingClassifier:
        options["base_estimator"] = GradientBoostingClassifier(n_estimators=10, random_state=0)
    model = estimator(reference=reference, random_state=0, max_rate_change=None, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        model.fit(rows, labels)
    assert len(model.reference_["age"]) > 1
    explained = sev.Explainer(model, rows, labels, reference=reference).explain(rows)
    assert (explained.statuses == "optimal").any()


def test_a_table_of_one_row_trains_exactly_as_that_row():
    rows, labels = numbers()
    make = sev.SEVLogisticRegression
    mean = make(random_state=0, max_iter=30).fit(rows, labels)
    row = np.array(list(mean.reference_.values()))
    for reference in (row, row[None]):
        other = make(reference=reference, random_state=0, max_iter=30).fit(rows, labels)
        np.testing.assert_array_equal(mean.coef_, other.coef_)
        assert other.reference_ == mean.reference_
    # the same row twice goes through the sums for several references: equal but for rounding
    twice = make(reference=np.stack([row, row]), random_state=0, max_iter=30).fit(rows, labels)
    np.testing.assert_allclose(mean.coef_, twice.coef_, rtol=1e-6)


def test_volume_takes_one_reference_only():
    rows, labels = numbers()
    with pytest.raises(InputError, match="defined for one row"):
        sev.SEVLogisticRegression("volume", reference=CLUSTERS).fit(rows, labels)


@pytest.fixture(scope="module")
def german():
    X, y = sev.datasets.load_german_credit(return_X_y=True)
    return train_test_split(X, np.asarray(y), stratify=y, random_state=5)


@pytest.mark.parametrize(
    ("estimator", "objective"),
    [(sev.SEVLogisticRegression, "plus"), (sev.SEVMLPClassifier, "plus"), (sev.SEVGradientBoostingClassifier, "plus")],
)
def test_training_for_clusters_shortens_explanations_against_clusters(german, estimator, objective):
    X_train, X_test, y_train, y_test = german
    options = {"objective": objective, "random_state": 0, "max_rate_change": None}
    if estimator is sev.SEVGradientBoostingClassifier:
        options["base_estimator"] = GradientBoostingClassifier(n_estimators=60, random_state=0)
    clusters = sev.references.Clusters(5)
    models = {
        "base": estimator(sev_penalty=0.0, **options),
        "mean": estimator(**options),
        "clusters": estimator(reference=clusters, **options),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = sev.compare(
            {name: model.fit(X_train, y_train) for name, model in models.items()},
            X_test,
            y_test,
            X_train=X_train,
            y_train=y_train,
            kinds=[objective],
            reference=clusters,
        )
    sizes = table[f"sev_{objective}"]
    assert sizes["clusters"] < sizes["base"] - 0.3
    assert sizes["clusters"] < sizes["mean"]


def test_optimize_reports_the_size_against_every_reference():
    rows, labels = numbers(2400, 5)
    model = LogisticRegression().fit(rows, labels)
    options = {"penalties": [3.0], "max_accuracy_loss": 0.5, "max_rate_change": 0.5, "max_rows": 200}
    better, record = sev.optimize(model, rows, labels, reference="clusters:3", **options)
    assert type(better) is type(model)
    assert record.against.index.tolist() == ["mean", "clusters", "nearest", "clusters:3"]
    own = record.against.loc["clusters:3"]
    assert own["before"] == pytest.approx(record.path.loc[0.0, "sev"])
    assert own["after"] == pytest.approx(record.path.loc[3.0, "sev"])
    assert own["after"] < own["before"] - 0.2
    assert (record.against["before"] >= 1.0).all()
    assert f"clusters:3 {own['before']:.2f} -> {own['after']:.2f}" in str(record)


def test_the_report_of_a_refused_model_has_the_sizes_of_the_model():
    rows, labels = numbers(400, 3)
    frame = pd.DataFrame(rows, columns=list("abc"))
    model = LogisticRegression().fit(frame, labels)
    with pytest.warns(TrainingWarning, match="returned unchanged"):
        _, record = sev.optimize(model, frame, labels, penalties=[30.0], max_accuracy_loss=0.0, max_rate_change=0.0)
    pd.testing.assert_series_equal(record.against["before"], record.against["after"], check_names=False)
    assert "->" not in str(record).partition("Mean SEV against")[2]
