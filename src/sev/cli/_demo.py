"""``sev demo``."""

from __future__ import annotations

import click


@click.command()
def demo() -> None:
    """Train a model on the bundled loan data and explain its refusals.

    \b
    Example:
      sev demo
    """
    from sev.demo import main

    main()
