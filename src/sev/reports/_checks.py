"""What reports and reasons refuse before any work starts."""

from __future__ import annotations

from sev.exceptions import InputError
from sev.explanations import Explanations


def check_many(explanations: object, function: str) -> None:
    """Refuse what is not explanations of many rows, such as the explanation of one."""
    if not isinstance(explanations, Explanations):
        raise InputError(
            f"{function} takes explanations of many rows, got {type(explanations).__name__}: pass what "
            "explainer.explain(X) returned."
        )
