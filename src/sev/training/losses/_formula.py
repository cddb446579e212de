"""The formula that all families minimise: which terms, with which weights, margins and guards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from sev.training.losses._functions import all_opt_minus, all_opt_plus, rate_guard, reference_term, weighted_mean


class LossParts(NamedTuple):
    """A loss and the terms, without their weights, that it is the sum of.

    Parameters
    ----------
    total : Tensor
        The weighted sum.
    fit, sev, reference, rate : Tensor
        Cross-entropy, SEV term, reference term and guard on the share of positive predictions.
    """

    total: Tensor
    fit: Tensor
    sev: Tensor
    reference: Tensor
    rate: Tensor

    @classmethod
    def of_fit(cls, fit: Tensor) -> LossParts:
        """Cross-entropy alone, as in a warm-up.

        Parameters
        ----------
        fit : Tensor
            The cross-entropy.

        Returns
        -------
        LossParts
            With every other term zero.
        """
        zero = fit.new_zeros(())
        return cls(fit, fit, zero, zero, zero)


class Batch(NamedTuple):
    """What the formula needs to know of the rows of a batch.

    Parameters
    ----------
    logits : Tensor of shape (n_rows,)
        Of the model that is trained.
    targets : Tensor of shape (n_rows,)
        Labels, or the probabilities of the model to start from.
    weights : Tensor of shape (n_rows,) or None
        Weight of each row; None: all the same.
    decisions : Tensor of shape (n_rows,) or None
        1 where the model to start from is positive, else 0; None: the rate guard compares with the overall rate.
    """

    logits: Tensor
    targets: Tensor
    weights: Tensor | None = None
    decisions: Tensor | None = None

    @classmethod
    def of(
        cls,
        logits: Tensor,
        rows: Tensor | None,
        targets: Tensor,
        weights: Tensor | None = None,
        decisions: Tensor | None = None,
    ) -> Batch:
        """Logits of some rows, with what is known of these from what is known of all; ``rows`` None is all of them.

        Parameters
        ----------
        logits : Tensor
            Of these rows.
        rows : Tensor or None
            Places of these among all rows; None is all.
        targets : Tensor
            Of all rows.
        weights : Tensor, default=None
            Of all rows.
        decisions : Tensor, default=None
            Of all rows.

        Returns
        -------
        Batch
            What is known of these rows.
        """
        if rows is None:
            return cls(logits, targets, weights, decisions)
        known = (None if every is None else every[rows] for every in (weights, decisions))
        return cls(logits, targets[rows], *known)


@dataclass(frozen=True, kw_only=True)
class LossFormula:
    """Cross-entropy plus the SEV term, the reference term and the rate guard, each with its weight.

    The families differ in how they come by logits of rows, of neighbours and of the reference; what is made of these
    is written here only.

    Parameters
    ----------
    sev_penalty, reference_penalty, rate_penalty : float
        Weights of the terms.
    rate : float or None
        Share of positive predictions to keep; None: no rate guard.
    threshold : float
        Probability from which a row is positive.
    margin, reference_margin : float
        How far past the threshold the best neighbour, and below it the reference, should be.
    """

    sev_penalty: float
    reference_penalty: float
    rate_penalty: float
    rate: float | None
    threshold: float = 0.5
    margin: float = 0.05
    reference_margin: float = 0.05

    def fit_term(self, batch: Batch) -> Tensor:
        """Cross-entropy: nats for each row.

        Parameters
        ----------
        batch : Batch
            Rows.

        Returns
        -------
        Tensor
            A scalar.
        """
        each = binary_cross_entropy_with_logits(batch.logits, batch.targets, reduction="none")
        return weighted_mean(each, batch.weights)

    def sev_term(self, neighbour_logits: Tensor, *, plus: bool, weights: Tensor | None = None) -> Tensor:
        """All-Opt+ or All-Opt- of the positive rows, from the logits of their neighbours, one row of them for each.

        Parameters
        ----------
        neighbour_logits : Tensor
            Of shape (n_rows, n_features).
        plus : bool
            Whether the neighbours are those of the reference.
        weights : Tensor, default=None
            Of the rows.

        Returns
        -------
        Tensor
            A scalar.
        """
        function = all_opt_plus if plus else all_opt_minus
        return function(neighbour_logits, weights=weights, threshold=self.threshold, margin=self.margin)

    def reference_term(self, reference_logit: Tensor, weights: Tensor | None = None) -> Tensor:
        """Probability of the reference, or of the references of each row, where not far enough below the threshold.

        Parameters
        ----------
        reference_logit : Tensor
            Of the reference, or of that of each row.
        weights : Tensor, default=None
            Of the rows.

        Returns
        -------
        Tensor
            A scalar.
        """
        # with one reference for all rows their weights say nothing
        mine = weights if reference_logit.ndim == 2 else None
        return reference_term(reference_logit, weights=mine, threshold=self.threshold, margin=self.reference_margin)

    def rate_term(self, batch: Batch) -> Tensor:
        """Squared change of the share of positive predictions; zero without a guard.

        Parameters
        ----------
        batch : Batch
            Rows.

        Returns
        -------
        Tensor
            A scalar.
        """
        if self.rate is None or not self.rate_penalty:
            return batch.logits.new_zeros(())
        kept: float | Tensor = self.rate
        if batch.decisions is not None:
            # the share among these very rows: that among all of them differs by chance from batch to batch
            kept = weighted_mean(batch.decisions, batch.weights)
        return rate_guard(batch.logits, kept, weights=batch.weights, overall_rate=self.rate, threshold=self.threshold)

    def combine(
        self, batch: Batch, sev: Tensor | Iterable[Tensor], reference_logit: Tensor, *, sev_penalty: float | None = None
    ) -> LossParts:
        """The whole loss of a batch.

        Parameters
        ----------
        batch : Batch
            Rows.
        sev : Tensor or iterable of Tensor
            The SEV term, or several that are added.
        reference_logit : Tensor
            Logit of the reference, or those of the references of each row, shape (n_rows, n_candidates).
        sev_penalty : float, default=None
            Weight of the SEV term now; None: the formula's.

        Returns
        -------
        LossParts
            The terms and their weighted sum.
        """
        fit = self.fit_term(batch)
        terms = [sev] if isinstance(sev, Tensor) else list(sev)
        total_sev = batch.logits.new_zeros(())
        for term in terms:
            total_sev = total_sev + term
        reference = self.reference_term(reference_logit, batch.weights)
        rate = self.rate_term(batch)
        weight = self.sev_penalty if sev_penalty is None else sev_penalty
        total = fit + weight * total_sev + self.reference_penalty * reference + self.rate_penalty * rate
        return LossParts(total, fit, total_sev, reference, rate)
