"""The loop that all families share: batches, Adam, warm-up, decay, the bar, early stopping, and trouble."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import torch
from torch import Tensor

from sev._optional import one_torch_thread
from sev.exceptions import TrainingError
from sev.training._progress import progress_bar
from sev.training._settings import Settings
from sev.training.losses import LossParts

#: A batch (row numbers, None for all rows) and whether the SEV terms take part, to the loss.
Step = Callable[[Tensor | None, bool], LossParts]


def minimise(parameters: Iterable[Tensor], step: Step, n_rows: int, settings: Settings) -> list[dict[str, float]]:
    """Minimise the loss that ``step`` returns.

    Parameters
    ----------
    parameters : iterable of Tensor
        What to change, in place.
    step : callable
        The loss of a batch.
    n_rows : int
        Rows to go through.
    settings : Settings
        Schedule, seed, bar and stopping rule.

    Returns
    -------
    list of dict
        Mean terms of each pass.
    """
    schedule = settings.schedule
    generator = torch.Generator().manual_seed(settings.seed)
    size = min(schedule.batch_size or n_rows, n_rows)
    optimiser = torch.optim.Adam(list(parameters), lr=schedule.learning_rate, fused=True)
    epochs = schedule.passes(n_rows)
    n_steps = epochs * -(-n_rows // size)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, n_steps) if schedule.decay else None
    watch = _Watch(settings.tol, settings.n_iter_no_change)
    history: list[dict[str, float]] = []
    bar = progress_bar(epochs, "training", "epoch", settings.progress)
    with one_torch_thread(torch), bar:
        for epoch in range(epochs):
            with_sev = epoch >= schedule.warmup
            seen: list[tuple[int, list[float]]] = []
            for batch in _make_batches(n_rows, size, generator):
                optimiser.zero_grad()
                parts = step(batch, with_sev)
                torch.autograd.backward([parts.total])
                optimiser.step()
                if decay is not None:
                    decay.step()
                values = torch.stack([part.detach() for part in parts]).tolist()
                seen.append((n_rows if batch is None else len(batch), values))
            history.append(_compute_means(seen))
            _refuse_nonsense(history[-1], epoch, schedule.learning_rate)
            if not bar.disable:
                # a refresh here would show the bar before its time
                bar.set_postfix({name: f"{value:.3f}" for name, value in history[-1].items()}, refresh=False)
            bar.update()
            if settings.early_stopping and with_sev and watch.is_over(history[-1]["total"]):
                break
    return history


class _Watch:
    """Counts passes in which the loss did not fall."""

    def __init__(self, tol: float, patience: int) -> None:
        self._tol = tol
        self._patience = patience
        self._best = np.inf
        self._idle = 0

    def is_over(self, loss: float) -> bool:
        self._idle = 0 if loss < self._best - self._tol else self._idle + 1
        self._best = min(self._best, loss)
        return self._idle >= self._patience


def _make_batches(n_rows: int, size: int, generator: torch.Generator) -> Iterable[Tensor | None]:
    if size >= n_rows:
        return [None]
    order = torch.randperm(n_rows, generator=generator)
    return [order[first : first + size] for first in range(0, n_rows, size)]


def _compute_means(seen: list[tuple[int, list[float]]]) -> dict[str, float]:
    weights = [n for n, _ in seen]
    means = np.average(np.array([values for _, values in seen]), axis=0, weights=weights)
    return dict(zip(LossParts._fields, means.tolist(), strict=True))


def _refuse_nonsense(terms: dict[str, float], epoch: int, learning_rate: float) -> None:
    strange = [name for name, value in terms.items() if not np.isfinite(value)]
    if strange:
        raise TrainingError(
            f"The loss is not a number after pass {epoch + 1} (terms: {', '.join(strange)}): lower learning_rate (now "
            f"{learning_rate:g}), or look for extreme values in the data."
        )
