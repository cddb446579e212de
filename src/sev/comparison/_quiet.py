"""Other packages, kept to themselves: what they print, warn and do to the global random state stays inside."""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def quietly(seed: int | None = None) -> Iterator[None]:
    """Run a block with its own seed, without output or warnings, and put the global random state back after it.

    Parameters
    ----------
    seed : int, default=None
        What the global generators of numpy and Python start from inside; None leaves them as they are.
    """
    numpy_state, python_state = np.random.get_state(), random.getstate()  # noqa: NPY002 - it is theirs that is kept
    try:
        if seed is not None:
            np.random.seed(seed)  # noqa: NPY002
            random.seed(seed)
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(numpy_state)  # noqa: NPY002
        random.setstate(python_state)
