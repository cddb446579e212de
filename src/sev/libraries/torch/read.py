"""Torch modules as backends.

A module is traced symbolically. When all that happens to its input is a chain of affine maps and known activations, it
is read as dense layers; anything else is evaluated in batches.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Literal

from sev.backends import Backend, CannotReadError
from sev.backends.networks import DenseBackend, DenseLayers, ModuleBackend
from sev.exceptions import ModelError
from sev.libraries.torch.graph import read_graph
from sev.libraries.torch.module import ModuleOutputs, OutputKind, kind_by_probing, margins_of, torch
from sev.typing import FloatArray, Response

if TYPE_CHECKING:
    from torch import nn

    from sev.libraries.torch.classifier import TorchClassifier


_log = logging.getLogger("sev")


def read_module(module: nn.Module, response: Response, output: OutputKind | Literal["auto"] = "auto") -> Backend:
    """Read a module with one or two outputs."""
    outputs = ModuleOutputs(module)
    dtype = outputs.dtype
    if dtype is None:
        raise CannotReadError(f"the module computes in {outputs.tensor_type}; exact search needs float32 or float64")
    layers, kind = _read_layers(module)
    if layers is not None and output in ("auto", kind):
        return DenseBackend(layers, dtype, cast_inputs=True)
    n_columns = _n_columns(module, outputs)
    try:
        settled = output if output != "auto" else (kind or kind_by_probing(outputs, n_columns))
    except ModelError as error:
        raise CannotReadError(str(error)) from error
    link = "logistic" if settled == "logit" else "identity"
    return ModuleBackend(partial(_compute_margins, outputs=outputs, kind=settled), n_columns, dtype, link)


def _compute_margins(rows: FloatArray, outputs: ModuleOutputs, kind: OutputKind) -> FloatArray:
    return margins_of(outputs(rows), kind)


def read_classifier(classifier: TorchClassifier, response: Response) -> Backend:
    """Read the module inside a :class:`TorchClassifier`."""
    return read_module(classifier.module, response, classifier.output)


def kind_by_reading(module: nn.Module) -> OutputKind | None:
    """What a module's outputs are, when its last operation tells."""
    return _read_layers(module)[1]


def _read_layers(module: nn.Module) -> tuple[DenseLayers | None, OutputKind | None]:
    try:
        return read_graph(module)
    except CannotReadError as reason:
        _log.debug("the module is evaluated in batches: %s", reason)
        return None, None


def _n_columns(module: nn.Module, outputs: ModuleOutputs) -> int:
    """Number of inputs: what the first layer that says so takes, if the module takes as many."""
    for part in module.modules():
        n_columns = getattr(part, "in_features", getattr(part, "num_features", None))
        if isinstance(n_columns, int):
            break
    else:
        raise CannotReadError("the number of inputs of the module is not known")
    try:
        outputs(torch().zeros((2, n_columns)).numpy())
    except Exception as error:  # whatever a user's forward may raise
        raise CannotReadError(f"the module raised {type(error).__name__} on {n_columns} inputs: {error}") from error
    return n_columns
