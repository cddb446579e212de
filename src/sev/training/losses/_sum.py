"""The weighted sum of the terms, over a score function."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor, nn

from sev.exceptions import InputError
from sev.training.losses._formula import Batch, LossFormula, LossParts
from sev.training.losses._one_step import AllOptMinus, AllOptPlus, OneStep
from sev.training.losses._other_losses import RateGuard, ReferenceTerm
from sev.training.losses._rows import Numbers, Rows, Scores


class SEVLoss(nn.Module):
    """Cross-entropy plus the SEV term, the reference term and the rate guard, each with its weight.

    Parameters
    ----------
    reference : array-like of shape (n_columns,) or (n_references, n_columns)
        The reference row, or several, of which ``forward`` is told those of each row.
    column_feature : array-like of int, shape (n_columns,), default=None
        The feature of each column; None: each column is one.
    objective : {"plus", "minus", "both"}, default="minus"
        Which explanations should be short.
    restricted : iterable of int, default=()
        Features that no explanation may use; with "minus" it is All-Opt(R).
    rate : float, default=None
        Share of positive predictions to keep; None: no rate guard.
    sev_penalty, reference_penalty, rate_penalty : float
        Weights of the terms.
    threshold : float, default=0.5
        Probability from which a row is positive.
    margin, reference_margin : float, default=0.05
        How far past the threshold the best neighbour, and below it the reference, should be.

    Examples
    --------
    >>> import torch
    >>> from sev import losses
    >>> model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1), torch.nn.Flatten(0))
    >>> loss = losses.SEVLoss(reference=[0.0, 0.0, 0.0], column_feature=[0, 1, 1], rate=0.3)
    >>> parts = loss(model, torch.rand(16, 3), torch.rand(16))
    >>> parts.total.backward()
    """

    def __init__(
        self,
        reference: Rows,
        column_feature: Numbers | None = None,
        *,
        objective: str = "minus",
        restricted: Iterable[int] = (),
        rate: float | None = None,
        sev_penalty: float = 1.0,
        reference_penalty: float = 10.0,
        rate_penalty: float = 10.0,
        threshold: float = 0.5,
        margin: float = 0.05,
        reference_margin: float = 0.05,
    ) -> None:
        super().__init__()
        kinds: dict[str, list[type[OneStep]]] = {
            "plus": [AllOptPlus],
            "minus": [AllOptMinus],
            "both": [AllOptPlus, AllOptMinus],
        }
        if objective not in kinds:
            raise InputError(f"objective={objective!r} is not known: use one of {sorted(kinds)}.")
        never = tuple(restricted)
        self.sev_terms = nn.ModuleList(
            kind(reference, column_feature, restricted=never, threshold=threshold, margin=margin)
            for kind in kinds[objective]
        )
        self.reference_term = ReferenceTerm(reference, threshold=threshold, margin=reference_margin)
        self.rate_guard = None if rate is None else RateGuard(rate, threshold=threshold)
        self.sev_penalty = sev_penalty
        self.reference_penalty = reference_penalty
        self.rate_penalty = rate_penalty
        self.threshold = threshold
        self.margin = margin

    @property
    def formula(self) -> LossFormula:
        """The sum with the weights that are set now."""
        return LossFormula(
            sev_penalty=self.sev_penalty,
            reference_penalty=self.reference_penalty,
            rate_penalty=self.rate_penalty,
            rate=None if self.rate_guard is None else self.rate_guard.rate,
            threshold=self.threshold,
            margin=self.margin,
            reference_margin=self.reference_term.margin,
        )

    def forward(
        self,
        scores: Scores,
        rows: Tensor,
        targets: Tensor,
        *,
        weights: Tensor | None = None,
        decisions: Tensor | None = None,
        assigned: Tensor | None = None,
        hints: tuple[Tensor, ...] | None = None,
        sweep: bool = True,
    ) -> LossParts:
        """Loss of a batch.

        Parameters
        ----------
        scores : callable
            Rows to logits.
        rows : Tensor of shape (n_rows, n_columns)
            A batch.
        targets : Tensor of shape (n_rows,)
            Labels, or better the probabilities of the model to start from.
        weights : Tensor of shape (n_rows,), default=None
            Weight of each row; None: all the same.
        decisions : Tensor of shape (n_rows,), default=None
            1 where the model to start from is positive, else 0: the rate guard then keeps the share among these very
            rows, which is less noisy in small batches. None: it keeps ``rate``.
        assigned : Tensor of int, shape (n_rows,) or (n_rows, n_candidates), default=None
            With several references, the numbers of those of each row.
        hints : tuple of int tensors, default=None
            One for each SEV term; see ``AllOptMinus.forward``.
        sweep : bool, default=True
            See ``AllOptMinus.forward``.

        Returns
        -------
        LossParts
            The terms and their weighted sum.
        """
        logits = scores(rows)
        options = {"logits": logits.detach(), "weights": weights, "assigned": assigned, "sweep": sweep}
        sev = [
            term(scores, rows, hint=None if hints is None else hints[number], **options)
            for number, term in enumerate(self.sev_terms)
        ]
        reference_logit = self.reference_term.logits(scores, assigned)
        return self.formula.combine(Batch(logits, targets, weights, decisions), sev, reference_logit)
