"""What goes into the modules: score functions and reference rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor

from sev.exceptions import InputError

#: Rows in, one logit for each row out.
Scores: TypeAlias = Callable[[Tensor], Tensor]


def as_row(reference: Any) -> Tensor:
    """A reference as one row of floating point numbers."""
    row = torch.as_tensor(reference)
    if row.ndim != 1:
        raise InputError(f"reference must be one row, a tensor of shape (n_columns,); got {tuple(row.shape)}.")
    return row if row.is_floating_point() else row.to(torch.get_default_dtype())
