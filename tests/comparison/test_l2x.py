"""L2X finds the features that a model looks at."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sev.exceptions import InputError

torch = pytest.importorskip("torch", reason="needs torch: pip install 'sev[train]'")

from sev.comparison import L2X  # noqa: E402


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(3000, 8)).astype(np.float64)


def test_it_keeps_the_features_that_the_output_depends_on(rows):
    output = 1 / (1 + np.exp(-4 * (rows[:, 1] - rows[:, 6])))
    explainer = L2X(2, epochs=15).fit(rows, output)
    assert explainer.selected(rows)[:, [1, 6]].mean() > 0.95
    predicted = explainer.predict_proba(rows)
    assert ((predicted[:, 1] > 0.5) == (output > 0.5)).mean() > 0.95
    assert np.allclose(predicted.sum(axis=1), 1.0)


def test_the_choice_is_each_rows_own(rows):
    output = 1 / (1 + np.exp(-5 * np.where(rows[:, 0] > 0, rows[:, 2], rows[:, 3])))
    chosen = L2X(1, epochs=20, batch_size=100).fit(rows, output).selected(rows)
    above, below = rows[:, 0] > 0.5, rows[:, 0] < -0.5
    assert chosen[above, 2].mean() > chosen[below, 2].mean() + 0.3
    assert chosen[below, 3].mean() > chosen[above, 3].mean() + 0.3


def test_a_block_is_one_feature():
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 4, 2000)
    frame = pd.DataFrame({"noise": rng.normal(size=2000), "other": rng.normal(size=2000)})
    frame = pd.concat([frame, pd.get_dummies(pd.Series(kind), prefix="kind", dtype=float)], axis=1)
    explainer = L2X(1, epochs=15).fit(frame, np.isin(kind, [1, 3]).astype(float))
    assert explainer.feature_names_ == ("noise", "other", "kind")
    assert explainer.selected(frame)[:, 2].mean() > 0.95
    assert (explainer.predict_proba(frame)[:, 1] > 0.5).mean() == pytest.approx(np.isin(kind, [1, 3]).mean(), abs=0.02)
    named = L2X(1, groups={"pair": ["noise", "other"]}, epochs=1).fit(frame, np.full(2000, 0.5))
    assert named.feature_names_ == ("pair", "kind")


def test_the_same_seed_gives_the_same_and_leaves_torch_alone(rows):
    output = (rows[:, 0] > 0).astype(float)
    state = torch.random.get_rng_state()
    first = L2X(1, epochs=1).fit(rows, output).predict_proba(rows)
    assert (torch.random.get_rng_state() == state).all()
    torch.rand(5)
    assert (L2X(1, epochs=1).fit(rows, output).predict_proba(rows) == first).all()
    assert (L2X(1, epochs=1, random_state=1).fit(rows, output).predict_proba(rows) != first).any()


def test_only_the_kept_features_are_looked_at(rows):
    output = (rows[:, 0] > 0).astype(float)
    explainer = L2X(1, epochs=2).fit(rows, output)
    chosen = explainer.selected(rows)
    other = np.where(chosen, rows, rows + 1e-9)  # too little to change the choice
    assert (explainer.selected(other) == chosen).all()
    seen = []
    explainer._predictor.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].numpy()))
    explainer.predict_proba(rows)
    assert ((seen[0] != 0) == chosen).mean() > 0.999


@pytest.mark.parametrize(
    ("k", "columns", "output", "message"),
    [
        (0, [0, 1], np.zeros(3000), "k=0 must be"),
        (3, [0, 1], np.zeros(3000), "from 1 to 2"),
        (1, [0, 1], np.zeros(5), "one probability for each row"),
        (1, [0, 1], np.full(3000, 2.0), "between 0 and 1"),
    ],
)
def test_wrong_use_is_told(rows, k, columns, output, message):
    with pytest.raises(InputError, match=message):
        L2X(k).fit(rows[:, columns], output)


def test_what_it_cannot_take_is_told(rows):
    with pytest.raises(InputError, match="not fitted"):
        L2X(1).selected(rows)
    with pytest.raises(InputError, match=r"missing or infinite values \(\['x0', 'x1'"):
        L2X(1).fit(np.where(rows > 3, np.nan, rows), np.zeros(3000))
    with pytest.raises(InputError, match=r"\['town'\] are not: encode"):
        L2X(1).fit(pd.DataFrame({"town": ["a", "b"], "age": [1.0, 2.0]}), [0.0, 1.0])
