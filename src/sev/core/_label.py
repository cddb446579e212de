"""How a kind of explanation is called."""

from __future__ import annotations

from sev.typing import Kind

_LABELS: dict[Kind, str] = {"minus": "SEV-", "plus": "SEV+"}


def kind_label(kind: Kind) -> str:
    """The name of a kind in results, pictures, reports and files.

    Parameters
    ----------
    kind : {"minus", "plus"}
        Whether the query is changed towards the reference, or the reference towards the query.

    Returns
    -------
    str
        ``"SEV-"`` or ``"SEV+"``, with a hyphen that can be typed and searched for.

    Examples
    --------
    >>> from sev.core import kind_label
    >>> kind_label("minus"), kind_label("plus")
    ('SEV-', 'SEV+')
    """
    return _LABELS[kind]
