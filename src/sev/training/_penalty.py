"""The weight of the SEV term while training: strong as long as the model stays close to the one it started from."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy

from sev.training._settings import Settings
from sev.training.losses import weighted_mean

#: The drift is averaged over about this part of the rows: that of one batch is noise.
_MEMORY = 0.1


class SEVPenalty:
    """A weight between ``sev_penalty`` and ``max_sev_penalty``, by how far the model has drifted.

    The drift is the Kullback-Leibler divergence of the model's probabilities from the targets, nats a row. Short
    explanations are nearly free on some data and costly on other: one fixed weight is too weak for the first or too
    strong for the second.
    """

    def __init__(self, settings: Settings, n_rows: int) -> None:
        self._least = settings.sev_penalty
        self._most = settings.max_sev_penalty or settings.sev_penalty
        self._bound = settings.drift
        self._n_rows = n_rows
        self._drift = 0.0

    @property
    def weight(self) -> float:
        """The weight now: it falls in proportion to the drift, and from the bound on it is the least."""
        if self._most <= self._least:
            return self._least
        return self._least + (self._most - self._least) * max(0.0, 1.0 - self._drift / self._bound)

    def see(self, fit: Tensor, targets: Tensor, weights: Tensor | None = None) -> None:
        """Update the drift from the cross-entropy of a batch."""
        if self._most <= self._least:
            return
        with torch.no_grad():
            entropy = weighted_mean(binary_cross_entropy(targets, targets, reduction="none"), weights)
            drift = max(0.0, float(fit.detach() - entropy))
        share = min(1.0, len(targets) / (_MEMORY * self._n_rows))
        self._drift += share * (drift - self._drift)
