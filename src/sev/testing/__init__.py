"""Checks that are open to everyone: the brute-force definition, and the contracts of backends and references.

Whoever writes a backend or a reference outside this package calls :func:`check_backend` or :func:`check_reference` in
a test of their own; both raise :class:`~sev.exceptions.VerificationError` with what is wrong.
"""

from sev.core import brute_force
from sev.testing._backend import check_backend
from sev.testing._reference import check_reference

__all__ = ["brute_force", "check_backend", "check_reference"]
