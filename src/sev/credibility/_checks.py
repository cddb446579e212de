"""Checks of the parameters of measures."""

from __future__ import annotations

from sev.exceptions import InputError


def check_integers(measure: object, **least: int) -> None:
    """Refuse parameters of a measure that are not integers of at least so much."""
    for name, bound in least.items():
        value = getattr(measure, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < bound:
            raise InputError(
                f"{type(measure).__name__}({name}={value!r}): {name} must be an integer of at least {bound}."
            )
