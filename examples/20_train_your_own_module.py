"""
Training your own torch module
==============================

How do I train my own torch module so that its decisions need one reason?

The losses of ``sev.losses`` need three things: a function from rows to logits, a reference row, and the feature that
each column belongs to. Here a small residual network is trained with a Lightning-style ``training_step``, first plainly
and then with the SEV terms, and explained before and after.
"""
# sphinx_gallery_thumbnail_path = "images/tradeoff.png"

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import nn

import sev
from sev import losses
from sev.datasets import load_german_credit
from sev.training import TableEncoder


class CreditNet(nn.Module):
    """Any module will do; this one is two layers with a residual."""

    def __init__(self, n_columns: int) -> None:
        super().__init__()
        self.first = nn.Linear(n_columns, 32)
        self.second = nn.Linear(32, 32)
        self.last = nn.Linear(32, 1)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Rows to logits."""
        hidden = torch.relu(self.first(rows))
        return self.last(hidden + torch.relu(self.second(hidden)))[:, 0]


class ShortReasons:
    """What a LightningModule would hold: the network, the loss, and one step."""

    def __init__(self, network: nn.Module, loss: losses.SEVLoss) -> None:
        self.network = network
        self.loss = loss

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """Loss of a batch."""
        rows, targets = batch
        return self.loss(self.network, rows, targets).total

    def fit(self, rows: torch.Tensor, targets: torch.Tensor, epochs: int, rate: float) -> None:
        """What a Trainer would do."""
        optimiser = torch.optim.Adam(self.network.parameters(), lr=rate, weight_decay=1e-3)
        for _ in range(epochs):
            for part in torch.randperm(len(rows)).split(128):
                optimiser.zero_grad()
                self.training_step((rows[part], targets[part])).backward()
                optimiser.step()


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    data = load_german_credit()
    X, X_test, y, _ = train_test_split(data.X, data.y, test_size=0.3, stratify=data.y, random_state=0)
    encoder = TableEncoder().fit(X)
    rows = torch.tensor(encoder.transform(X), dtype=torch.float32)
    labels = torch.tensor(y.to_numpy(), dtype=torch.float32)

    # the reference that explanations will use: what is typical of those who got the loan
    quantities = X[y == 0].select_dtypes("number").mean()
    typical = X[y == 0].mode().iloc[[0]].assign(**quantities)
    reference = encoder.transform(typical)[0].astype(np.float32)
    network = CreditNet(rows.shape[1])

    def score(frame):
        with torch.no_grad():
            return torch.sigmoid(network(torch.tensor(encoder.transform(frame), dtype=torch.float32))).numpy()

    def mean_sev(kind: str) -> float:
        explainer = sev.Explainer(score, X, y, threshold=0.5, reference=typical)
        return explainer.explain(X_test, kind=kind, max_size=3).mean_size()

    # plain training first: with no weight on the other terms the loss is cross-entropy
    plain = losses.SEVLoss(reference, encoder.column_source_, sev_penalty=0.0, reference_penalty=0.0)
    ShortReasons(network, plain).fit(rows, labels, epochs=15, rate=1e-2)
    before, share = mean_sev("plus"), score(X_test).round().mean()

    # then the terms, with the network's own probabilities as targets and its share of positives to keep
    with torch.no_grad():
        targets = torch.sigmoid(network(rows))
    rate = float((targets >= 0.5).float().mean())
    short = losses.SEVLoss(reference, encoder.column_source_, objective="plus", rate=rate)
    ShortReasons(network, short).fit(rows, targets, epochs=60, rate=1e-3)

    print(f"mean SEV+ {before:.2f} -> {mean_sev('plus'):.2f}")
    print(f"share refused {share:.3f} -> {score(X_test).round().mean():.3f}")


if __name__ == "__main__":
    main()
