"""Neural networks: dense layers with an incremental first layer, and modules that are evaluated in batches."""

from typing import Any

from sev._registry import load
from sev.backends.networks import _activations as activations
from sev.backends.networks._activations import Activation
from sev.backends.networks._backend import DenseBackend, ModuleBackend, as_numbers, in_pieces
from sev.backends.networks._boxes import bounds_of_margin
from sev.backends.networks._layers import DenseLayers, LayerBuilder

__all__ = [
    "Activation",
    "DenseBackend",
    "DenseLayers",
    "LayerBuilder",
    "ModuleBackend",
    "activations",
    "as_numbers",
    "bounds_of_margin",
    "in_pieces",
]

#: Public names of 0.1 that are at home in the folders of their libraries now.
_MOVED = {
    "TorchClassifier": "sev.libraries.torch.classifier:TorchClassifier",
    "torch_pipeline": "sev.libraries.torch.classifier:torch_pipeline",
    "torch_scorer": "sev.libraries.torch.classifier:torch_scorer",
    "from_torch": "sev.libraries.torch.read:read_module",
    "from_torch_classifier": "sev.libraries.torch.read:read_classifier",
    "from_skorch": "sev.libraries.skorch.read:read_classifier",
    "from_sklearn": "sev.libraries.sklearn.read_networks:read_mlp",
}


def __getattr__(name: str) -> Any:
    if name not in _MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(_MOVED[name])
