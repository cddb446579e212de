"""``sev reproduce``: the command of the package ``sev-reproduction``, or how to install it."""

from __future__ import annotations

from importlib import import_module

import click

from sev.exceptions import MissingDependencyError

_INSTALL = "sev reproduce needs the package sev-reproduction: pip install ./reproduction in a checkout of sev."


def find_command(package: str = "sev_reproduction") -> click.Command:
    """The package's own command; without the package, one that reports how to install it."""
    try:
        command: click.Command = import_module(f"{package}.command").reproduce
    except ModuleNotFoundError as error:
        if error.name != package:
            raise  # installed but broken: do not call it missing
        return _install
    return command


@click.command("reproduce", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def _install() -> None:
    """Compute the paper's tables and figures and write them beside the paper's own.

    \b
    This needs the package sev-reproduction, in a checkout of sev:
      pip install ./reproduction

    \b
    Example:
      sev reproduce --quick -o quick
    """
    raise MissingDependencyError(_INSTALL)


reproduce = find_command()
