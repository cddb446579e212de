"""Reader of skorch's binary classifiers: the torch module inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sev.backends import Backend, CannotReadError, DecisionRule
from sev.libraries._checks import check_binary
from sev.libraries.torch.module import torch
from sev.libraries.torch.read import read_module
from sev.typing import Response

if TYPE_CHECKING:
    from skorch import NeuralNetBinaryClassifier, NeuralNetClassifier


def read_classifier(net: NeuralNetClassifier, response: Response) -> Backend:
    """Read the module inside a fitted binary skorch classifier."""
    check_binary(net, response)
    if net.predict_nonlinearity != "auto":
        raise CannotReadError("this classifier was given its own predict_nonlinearity")
    losses = torch().nn
    takes_logits = isinstance(net.criterion_, losses.CrossEntropyLoss | losses.BCEWithLogitsLoss)
    return read_module(net.module_, response, "logit" if takes_logits else "probability")


def decision_rule(net: NeuralNetBinaryClassifier) -> DecisionRule:
    """The threshold that a binary classifier predicts by."""
    return DecisionRule("predict_proba", float(net.threshold))
