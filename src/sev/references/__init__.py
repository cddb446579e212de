"""What a feature is changed to: the rows that queries are compared with.

A new kind of reference is one class with a ``fit(background)`` method that gives a :class:`FittedReference`.
"""

from typing import Any

from sev.exceptions import InputError
from sev.references._auto import Auto
from sev.references._fixed import FixedRow
from sev.references._nearest import NearestRow
from sev.references._protocol import Background, FittedReference, Reference
from sev.references._typical import Typical

__all__ = ["Auto", "Background", "FittedReference", "FixedRow", "NearestRow", "Reference", "Typical", "as_reference"]

_BY_NAME: dict[str, Reference] = {"auto": Auto(), "mean": Typical("mean"), "median": Typical("median")}


def as_reference(given: Any) -> Reference:
    """Turn what a user passes as ``reference=`` into a reference object."""
    if isinstance(given, str):
        if given not in _BY_NAME:
            raise InputError(
                f"reference={given!r} is not known: use one of {sorted(_BY_NAME)}, a row, or an "
                "object of sev.references."
            )
        return _BY_NAME[given]
    if isinstance(given, Reference) and not isinstance(given, type):
        return given
    return FixedRow(given)
