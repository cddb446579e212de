"""Where 0.1 had the classifier around a torch module: pickles of that version name it by this module."""

from typing import Any

from sev._registry import load


def __getattr__(name: str) -> Any:
    return load(f"sev.libraries.torch.classifier:{name}")
