"""Losses that are small when decisions need few reasons, as parts for a training loop of your own.

Each comes twice: as a function of scores that are known already, and as a small module over a function
``scores(rows)`` that returns the logit of each row, a reference row and a grouping of columns into features. A module
works out the one-step neighbours of the rows by itself:

- for SEV+ the reference with one feature of the row, of which the best should be positive (:class:`AllOptPlus`);
- for SEV- the row with one feature of the reference, of which the best should be negative (:class:`AllOptMinus`; with
  ``restricted`` features it is the paper's All-Opt(R)).

:class:`VolOpt` is for linear models, :class:`ReferenceTerm` keeps the reference negative, :class:`RateGuard` keeps the
share of positive predictions, and :class:`SEVLoss` is the weighted sum. The sum itself, as a formula of logits that a
model may come by in any way, is :class:`LossFormula`.

The formulas follow section 4 of "Sparse and Faithful Explanations Without Sparse Models" with two corrections: the
clamp in the logarithm of Vol-Opt is a maximum, and the minimum of All-Opt(R) runs over the features *outside* the
restricted set.
"""

from __future__ import annotations

from sev._optional import name_missing

with name_missing("torch", extra="train", feature="sev.losses"):
    from sev.training.losses._formula import Batch, LossFormula, LossParts
    from sev.training.losses._functions import (
        all_opt_minus,
        all_opt_plus,
        rate_guard,
        reference_term,
        vol_opt,
        weighted_mean,
    )
    from sev.training.losses._one_step import AllOptMinus, AllOptPlus, neighbours
    from sev.training.losses._other_losses import RateGuard, ReferenceTerm, VolOpt
    from sev.training.losses._sum import SEVLoss

__all__ = [
    "AllOptMinus",
    "AllOptPlus",
    "Batch",
    "LossFormula",
    "LossParts",
    "RateGuard",
    "ReferenceTerm",
    "SEVLoss",
    "VolOpt",
    "all_opt_minus",
    "all_opt_plus",
    "neighbours",
    "rate_guard",
    "reference_term",
    "vol_opt",
    "weighted_mean",
]
