"""The bar of long runs."""

from __future__ import annotations

import sys

from tqdm.auto import tqdm

#: Seconds after which a bar that nobody asked for appears.
DELAY = 3.0


def progress_bar(total: int, description: str, unit: str, show: bool | None) -> tqdm:
    """A bar on standard error.

    Parameters
    ----------
    total : int
        Number of updates.
    description, unit : str
        What is done, and what is counted.
    show : bool or None
        True: at once, wherever the output goes; False: never; None: on a terminal or in a notebook, and only once it
        has taken ``DELAY`` seconds.
    """
    hidden = not _is_watched() if show is None else not show
    return tqdm(total=total, desc=description, unit=unit, disable=hidden, delay=DELAY if show is None else 0.0)


def _is_watched() -> bool:
    """Whether somebody looks at the output while it is written: not a log file."""
    in_notebook = any(cls.__module__ == "tqdm.notebook" for cls in tqdm.__mro__)
    return in_notebook or (sys.stderr is not None and sys.stderr.isatty())
