"""Checks that are open to everyone: the brute-force definition, and contract tests for new backends."""

from sev.core import brute_force

__all__ = ["brute_force"]
