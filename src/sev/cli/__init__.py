"""The command line: each command parses, calls the interface of this package and writes."""

from sev.cli._main import main

__all__ = ["main"]
