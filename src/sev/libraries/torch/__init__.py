"""PyTorch: modules with one or two outputs, alone or as a scikit-learn classifier."""

from sev._registry import Library
from sev.libraries.torch.classifier import TorchClassifier, torch_pipeline

__all__ = ["LIBRARY", "TorchClassifier", "torch_pipeline"]

LIBRARY = Library(
    package="torch",
    extra="train",
    read={"torch.Module": ".read:read_module", "sev.TorchClassifier": ".read:read_classifier"},
    read_by_tracing=frozenset(("torch.Module",)),
    score={"torch.Module": ".classifier:torch_scorer"},
)
