"""``sev demo``."""

from __future__ import annotations

import click

from sev.cli._errors import debug


@click.command()
@debug
def demo() -> None:
    """Train a model on the bundled loan data and explain its refusals.

    \b
    Example:
      sev demo
    """
    from sev.demo import main

    main()
