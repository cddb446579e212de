"""What goes into the modules: score functions and reference rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from sev.exceptions import InputError

#: Rows in, one logit for each row out.
Scores: TypeAlias = Callable[[Tensor], Tensor]


#: One row of numbers, or several, as tensors are made from.
Rows: TypeAlias = "Tensor | np.ndarray | Sequence[float] | Sequence[Sequence[float]]"
#: Numbers of features or columns.
Numbers: TypeAlias = "Tensor | np.ndarray | Sequence[int]"


def as_row(reference: Rows) -> Tensor:
    """A reference as one row of floating point numbers."""
    row = as_references(reference)
    if row.ndim != 1:
        raise InputError(f"reference must be one row, a tensor of shape (n_columns,); got {tuple(row.shape)}.")
    return row


def as_references(reference: Rows) -> Tensor:
    """One reference, shape (n_columns,), or several, shape (n_references, n_columns), as floating point numbers."""
    rows = torch.as_tensor(reference)
    if rows.ndim not in (1, 2) or not rows.numel():
        raise InputError(
            "reference must be one row, a tensor of shape (n_columns,), or several, of shape (n_references, "
            f"n_columns); got {tuple(rows.shape)}."
        )
    if rows.ndim == 2 and len(rows) == 1:
        rows = rows[0]
    return rows if rows.is_floating_point() else rows.to(torch.get_default_dtype())


def check_assigned(reference: Tensor, assigned: Tensor | None, n_rows: int) -> Tensor | None:
    """Numbers of the references of each row, shape (n_rows, n_candidates); None where there is one for all rows."""
    if reference.ndim == 1:
        if assigned is not None:
            raise InputError("assigned was passed, but there is only one reference: leave it out.")
        return None
    if assigned is None:
        raise InputError(f"There are {len(reference)} references: pass assigned=, the index of each row's reference.")
    if assigned.ndim not in (1, 2) or len(assigned) != n_rows:
        raise InputError(
            f"assigned has shape {tuple(assigned.shape)} but there are {n_rows} rows: they must have the same length."
        )
    if assigned.numel() and not 0 <= int(assigned.min()) <= int(assigned.max()) < len(reference):
        raise InputError(f"assigned must hold indices of the references, from 0 to {len(reference) - 1}.")
    return assigned[:, None] if assigned.ndim == 1 else assigned
