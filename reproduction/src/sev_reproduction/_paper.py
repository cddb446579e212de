"""The figures that the paper prints."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def printed_figures() -> dict[str, Any]:
    """The content of ``paper.json``."""
    found: dict[str, Any] = json.loads(files("sev_reproduction").joinpath("paper.json").read_text(encoding="utf-8"))
    return found
