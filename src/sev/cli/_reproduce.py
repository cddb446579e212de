"""``sev reproduce``."""

from __future__ import annotations

import click

from sev.exceptions import MissingDependencyError


@click.command()
def reproduce() -> None:
    """Compute the paper's tables from the data sets in SEV_DATA_HOME.

    \b
    Example:
      SEV_DATA_HOME=data sev reproduce
    """
    raise MissingDependencyError(
        "This version of sev does not have the paper's experiments yet: `sev compare` gives the same figures for your "
        "own models and data."
    )
