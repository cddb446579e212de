"""What is read from torch modules, what is asked in batches instead, and what is left untouched."""

# ruff: noqa: E402  torch is asked for first, so that the whole file is skipped without it

import pickle
import threading
import time

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from backends.networks.cases import make_data, network
from oracle import assert_equals_oracle
from torch import nn
from torch.nn import functional

import sev
from sev.backends import CannotReadError
from sev.backends.networks import DenseBackend, ModuleBackend
from sev.exceptions import ModelError
from sev.libraries.skorch.read import read_classifier as from_skorch
from sev.libraries.torch import TorchClassifier
from sev.libraries.torch.module import ModuleOutputs, TorchScorer
from sev.libraries.torch.read import read_module as from_torch

ROWS = make_data()[0].astype(np.float32)

ACTIVATIONS = [
    nn.ReLU(),
    nn.ReLU6(),
    nn.Hardtanh(-0.5, 0.7),
    nn.LeakyReLU(0.3),
    nn.PReLU(),
    nn.ELU(0.7),
    nn.SELU(),
    nn.GELU(),
    nn.GELU("tanh"),
    nn.SiLU(),
    nn.Softplus(2.0, 5.0),
    nn.Tanh(),
    nn.Sigmoid(),
]


def meets_the_module(module, backend, rows=ROWS):
    own = TorchScorer(module)(rows)
    read = backend.scores(backend.margins(backend.encode(rows)))
    np.testing.assert_allclose(read, own, rtol=0, atol=2e-5)


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=repr)
def test_known_activations_are_read(activation):
    module = network(nn.Linear(7, 9), activation, nn.Linear(9, 8), activation, nn.Linear(8, 1))
    backend = from_torch(module, "call")
    assert isinstance(backend, DenseBackend)
    meets_the_module(module, backend, 3 * ROWS)


class Functional(nn.Module):
    """Functions and a scaler written into the forward."""

    def __init__(self, end):
        super().__init__()
        self.first = network(nn.Linear(7, 9))
        self.second = network(nn.Linear(9, 1), seed=1)
        self.register_buffer("centre", torch.linspace(-1, 1, 7))
        self.end = end

    def forward(self, rows):
        hidden = functional.relu(self.first((rows - self.centre) / 2.0))
        hidden = functional.dropout(hidden, 0.5, training=self.training) * 1.5 + 0.25
        return self.end(self.second(functional.leaky_relu(hidden, 0.1)))


@pytest.mark.parametrize(
    "end",
    [
        lambda x: x,
        lambda x: x.squeeze(-1),
        lambda x: x[:, 0],
        lambda x: torch.sigmoid(x).flatten(),
        lambda x: torch.sigmoid(x.view(-1)),
    ],
)
def test_a_chain_written_as_a_forward_is_read(end):
    module = Functional(end).train()
    backend = from_torch(module, "call")
    assert isinstance(backend, DenseBackend)
    meets_the_module(module, backend)


def test_nested_modules_are_read():
    inner = nn.Sequential(nn.Linear(9, 9), nn.Tanh())
    module = network(nn.Linear(7, 9), nn.Identity(), nn.Sequential(inner, nn.Dropout(), inner), nn.Linear(9, 2))
    backend = from_torch(module, "call")
    assert isinstance(backend, DenseBackend)
    meets_the_module(module, backend)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.last = network(nn.Linear(7, 7)), network(nn.Linear(7, 1))

    def forward(self, rows):
        return self.last(rows + torch.relu(self.layer(rows)))


class Twisted(nn.Linear):
    def forward(self, rows):
        return super().forward(rows.abs())


def hooked():
    module = network(nn.Linear(7, 5), nn.ReLU(), nn.Linear(5, 1))
    module[0].register_forward_hook(lambda layer, inputs, output: output * 2)
    return module


class Branching(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = network(nn.Linear(7, 1))

    def forward(self, rows):
        out = self.layer(rows)
        return -out if rows.shape[0] < 0 or bool((rows[:, 0] > 1e9).any()) else out


@pytest.mark.parametrize(
    "make",
    [
        Residual,
        hooked,
        Branching,
        lambda: network(Twisted(7, 5), nn.ReLU(), nn.Linear(5, 1)),
        lambda: network(nn.Linear(7, 5), nn.LayerNorm(5), nn.Linear(5, 1)),
        lambda: network(nn.Linear(7, 5), nn.PReLU(5), nn.Linear(5, 1)),
        lambda: network(nn.Tanh(), nn.Linear(7, 1)),
        lambda: network(nn.Linear(7, 2), nn.Softmax(dim=1), nn.Linear(2, 1)),
    ],
)
def test_anything_else_is_asked_in_batches(make):
    module = make()
    backend = from_torch(module, "call")
    assert isinstance(backend, ModuleBackend)
    meets_the_module(module, backend)


def test_modes_are_restored_part_by_part():
    module = network(nn.Linear(7, 5), nn.BatchNorm1d(5), nn.Dropout(), nn.Linear(5, 1))
    module[1].eval()
    before = [part.training for part in module.modules()]
    first = TorchScorer(module)(ROWS)
    np.testing.assert_array_equal(TorchScorer(module)(ROWS), first)
    from_torch(module, "call")
    assert [part.training for part in module.modules()] == before
    assert True in before
    assert False in before
    assert all(parameter.grad is None and parameter.requires_grad for parameter in module.parameters())


def test_modes_are_restored_when_the_module_raises():
    module = network(nn.Linear(7, 5), nn.Dropout(), nn.Linear(5, 1))
    with pytest.raises(RuntimeError):
        ModuleOutputs(module)(ROWS[:, :3])
    assert module.training


def test_threads_do_not_meet_a_module_in_training():
    met = []

    class Slow(nn.Module):
        def forward(self, rows):
            time.sleep(0.003)
            met.append(self.training)
            return rows[:, :1]

    outputs = ModuleOutputs(Slow().train())
    threads = [threading.Thread(target=lambda: [outputs(ROWS[:2]) for _ in range(5)]) for _ in range(4)]
    for number, thread in enumerate(threads):
        time.sleep(0.001 * number)
        thread.start()
    for thread in threads:
        thread.join()
    assert met == [False] * 20
    assert outputs.module.training


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        (lambda out: out, "logit"),
        (torch.sigmoid, "probability"),
        (lambda out: torch.cat([-out, out], dim=1), "logit"),
        (lambda out: torch.softmax(torch.cat([-out, out], dim=1), dim=1), "probability"),
        (lambda out: torch.log_softmax(torch.cat([-out, out], dim=1), dim=1), "logit"),
    ],
)
def test_logits_and_probabilities_are_told_apart_by_trying(end, kind):
    class Unreadable(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = network(nn.Linear(7, 1), scale=0.01)

        def forward(self, rows):
            return end(self.layer(torch.sin(rows) + rows))

    module = Unreadable()
    assert TorchScorer(module).kind(7) == kind
    logits = module.layer(torch.sin(torch.tensor(ROWS)) + torch.tensor(ROWS)).detach().double().numpy()[:, 0]
    two_outputs = 1 + (end(torch.zeros(1, 1)).shape[1] == 2)
    np.testing.assert_allclose(TorchScorer(module)(ROWS), 1 / (1 + np.exp(-two_outputs * logits)), atol=1e-6)
    meets_the_module(module, from_torch(module, "call"))


def test_a_module_that_works_in_place_does_not_change_the_rows():
    class InPlace(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(7, 1).double()

        def forward(self, rows):
            return self.layer(rows.mul_(2.0))

    rows = make_data()[0]
    before = rows.copy()
    module = InPlace()
    first = TorchScorer(module, "logit")(rows)
    np.testing.assert_array_equal(rows, before)
    rows.flags.writeable = False
    np.testing.assert_array_equal(TorchScorer(module, "logit")(rows), first)


class Ended(nn.Module):
    """A network with arithmetic after its last activation."""

    def __init__(self, end, n_outputs=1):
        super().__init__()
        self.layers = network(nn.Linear(7, 6), nn.Tanh(), nn.Linear(6, n_outputs))
        self.end = end

    def forward(self, rows):
        return self.end(self.layers(rows))


@pytest.mark.parametrize(
    ("end", "n_outputs"),
    [
        (lambda x: 1 - torch.sigmoid(x), 1),
        (lambda x: 0.9 * torch.sigmoid(x) + 0.05, 1),
        (lambda x: torch.sigmoid(x) * 0.5, 1),
        (lambda x: torch.sigmoid(x) / 2 + 0.25, 1),
        (lambda x: torch.sigmoid(x).clamp(0.01, 0.99), 1),
        (lambda x: torch.sigmoid(x) ** 2, 1),
        (lambda x: (torch.tanh(x) + 1) / 2, 1),
        (lambda x: (torch.tanh(x) * 0.5 + 0.5).squeeze(-1), 1),
        (lambda x: functional.relu6(x) / 6, 1),
        (lambda x: 0.9 * torch.softmax(x, dim=1) + 0.05, 2),
        (lambda x: torch.softmax(x, dim=1)[:, 1], 2),
        (lambda x: 1 - torch.softmax(x, dim=1)[:, 0], 2),
        (lambda x: torch.exp(functional.log_softmax(x, dim=1)), 2),
    ],
)
def test_probabilities_with_arithmetic_after_the_activation_are_scored_as_they_are(end, n_outputs):
    module = Ended(end, n_outputs).double()
    rows = make_data()[0]
    own = module(torch.tensor(rows)).detach().numpy()
    own = own[:, -1] if own.ndim == 2 else own
    np.testing.assert_array_equal(TorchScorer(module)(rows), own)
    backend = from_torch(module, "call")
    np.testing.assert_allclose(backend.scores(backend.margins(backend.encode(rows))), own, rtol=0, atol=1e-12)
    explainer = sev.Explainer(module, rows, reference="median", allow_positive_reference=True)
    assert explainer.backend == "networks"
    many = explainer.explain(rows[:60])
    assert ((many.statuses != "not_target") == (own[:60] >= 0.5)).all()
    many.verify()
    names = {name: (name,) for name in explainer.feature_names}

    def score(frame):
        values = module(torch.tensor(frame.to_numpy(float))).detach().numpy()
        return values[:, -1] if values.ndim == 2 else values

    for row in np.flatnonzero(many.statuses != "not_target")[:6]:
        assert_equals_oracle(many[int(row)], score, names)


@pytest.mark.parametrize("end", [torch.tanh, lambda x: 3 * torch.tanh(x) - 0.1, functional.softsign])
def test_bounded_outputs_beyond_zero_and_one_are_logits(end):
    module = Ended(end)
    logits = end(module.layers(torch.tensor(ROWS))).detach().double().numpy()[:, 0]
    np.testing.assert_allclose(TorchScorer(module)(ROWS), 1 / (1 + np.exp(-logits)), atol=1e-7)
    meets_the_module(module, from_torch(module, "call"))


@pytest.mark.parametrize(
    "end", [functional.logsigmoid, lambda x: torch.log(torch.sigmoid(x)), lambda x: -torch.relu(x)]
)
def test_outputs_that_are_never_positive_are_not_guessed(end):
    with pytest.raises(ModelError, match="logarithms of probabilities"):
        TorchScorer(Ended(end))(ROWS)


def test_what_the_outputs_are_can_be_said():
    module = network(nn.Linear(7, 5), nn.ReLU(), nn.Linear(5, 1), nn.Sigmoid())
    probability = module(torch.tensor(ROWS)).detach().double().numpy()[:, 0]
    said = TorchClassifier(module, output="logit")
    np.testing.assert_allclose(said.predict_proba(ROWS)[:, 1], 1 / (1 + np.exp(-probability)), atol=1e-6)
    backend = from_torch(module, "call", "logit")
    np.testing.assert_allclose(backend.scores(backend.margins(ROWS)), said.predict_proba(ROWS)[:, 1], atol=1e-6)


def test_a_module_that_cannot_be_tried_says_what_to_do():
    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(5, 1)

        def forward(self, rows):
            return self.table(rows[:, 0].long())

    with pytest.raises(ModelError, match="TorchClassifier"):
        TorchScorer(Table())(ROWS)
    with pytest.raises(CannotReadError, match="number of inputs"):
        from_torch(Table(), "call")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: network(nn.Linear(7, 3)), "one or two outputs"),
        (lambda: network(nn.Linear(7, 5), nn.Sigmoid(), nn.Linear(5, 2), nn.Sigmoid()), "do not sum to one"),
        (lambda: Tupled(), "tuple"),
    ],
)
def test_other_outputs_are_refused(make, message):
    with pytest.raises(ModelError, match=message):
        TorchScorer(make())(ROWS)


class Tupled(nn.Module):
    def forward(self, rows):
        return rows[:, 0], rows[:, 1]


def test_coarse_precision_is_left_to_the_black_box():
    with pytest.raises(CannotReadError, match="bfloat16"):
        from_torch(network(nn.Linear(7, 1)).bfloat16(), "call")


def test_skorch_with_its_own_nonlinearity_is_left_to_the_black_box():
    skorch = pytest.importorskip("skorch", reason="skorch is not installed")
    net = skorch.NeuralNetClassifier(
        nn.Sequential(nn.Linear(7, 2)), predict_nonlinearity=torch.sigmoid, max_epochs=1, verbose=0, train_split=None
    )
    net.fit(ROWS, make_data()[1])
    with pytest.raises(CannotReadError, match="predict_nonlinearity"):
        from_skorch(net, "predict_proba")
    with pytest.raises(CannotReadError, match="predict_proba"):
        from_skorch(net, "call")


@pytest.mark.parametrize("make", [lambda: network(nn.Linear(7, 5), nn.GELU(), nn.Linear(5, 1)), Residual])
def test_backends_can_be_pickled(make):
    backend = from_torch(make(), "call")
    again = pickle.loads(pickle.dumps(backend))
    np.testing.assert_array_equal(again.margins(again.encode(ROWS)), backend.margins(backend.encode(ROWS)))
