"""Where 0.1 had what evaluates a torch module: pickles of that version name it by this module."""

from typing import Any

from sev._registry import load


def __getattr__(name: str) -> Any:
    return load(f"sev.libraries.torch.module:{name}")
