"""Warnings that point at the line of the user's code which caused them."""

from __future__ import annotations

import inspect
import os
import warnings
from pathlib import Path

_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn, as from the first caller outside this package.

    A fixed ``stacklevel`` is right for one way through the package only, and wrong again when code moves.

    Parameters
    ----------
    message : str
        What is wrong, and what to do.
    category : type
        A class of :mod:`sev.exceptions`.
    """
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)  # level 1 is this function
