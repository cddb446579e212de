"""What a feature is changed to: the rows that queries are compared with.

A new kind of reference is one class with a ``fit(background)`` method that returns a :class:`FittedReference`.
"""

import warnings

from sev.references._assign import assignment_from_plain, assignment_to_plain
from sev.references._auto import Auto
from sev.references._by import By
from sev.references._clusters import Clusters, spread_evenly
from sev.references._combined import Best, Partial
from sev.references._distance import Distance, NearestRows, NumberColumn, as_numbers, joint_values
from sev.references._fixed import FixedRow
from sev.references._names import reference_by_name
from sev.references._near_mean import NearestToMean
from sev.references._nearest import Nearest, Rows
from sev.references._points import Points
from sev.references._protocol import Assignment, Background, FittedReference, Reference, ReferenceLike
from sev.references._typical import Typical, has_two_values, holds_integers

__all__ = [
    "Assignment",
    "Auto",
    "Background",
    "Best",
    "By",
    "Clusters",
    "Distance",
    "FittedReference",
    "FixedRow",
    "Nearest",
    "NearestRows",
    "NearestToMean",
    "NumberColumn",
    "Partial",
    "Points",
    "Reference",
    "ReferenceLike",
    "Rows",
    "Typical",
    "as_numbers",
    "as_reference",
    "assignment_from_plain",
    "assignment_to_plain",
    "has_two_values",
    "holds_integers",
    "joint_values",
    "spread_evenly",
]


def as_reference(given: ReferenceLike) -> Reference:
    """Turn what a user passes as ``reference=`` into a reference object.

    Parameters
    ----------
    given : str, row, table or object of this module
        A name is one of "auto", "mean", "median", "clusters", "clusters:5", "nearest", "nearest:3", "by:COLUMN", or one
        of these after "best:".

    Returns
    -------
    Reference
        An object with a method ``fit``.

    Raises
    ------
    InputError
        If a name is not known.

    Examples
    --------
    >>> import sev
    >>> sev.references.as_reference("clusters:5")
    Clusters(n=5, centre='typical')
    """
    if isinstance(given, str):
        return reference_by_name(given)
    if isinstance(given, Reference) and not isinstance(given, type):
        return given
    return FixedRow(given)


def __getattr__(name: str) -> type[NearestToMean]:
    if name == "NearestRow":
        warnings.warn(
            "sev.references.NearestRow is now called NearestToMean; Nearest() is the row nearest to the query.",
            DeprecationWarning,
            stacklevel=2,
        )
        return NearestToMean
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
